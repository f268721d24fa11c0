//! The types that describe fields and tables of fields.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use serde_json::Value;

use crate::syntax::text_format::TextFormat;

/// The type of a value, with its bounds.
#[derive(Clone, Copy, Debug)]
pub enum FieldType {
    /// A boolean.
    Bool,
    /// An integer within inclusive bounds.
    Int {
        /// Smallest value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// An integer from a fixed list.
    IntEnum(&'static [i64]),
    /// A number with or without a fraction, within inclusive bounds.
    Float {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// A text; lengths count Unicode scalar values (fields.md 1).
    Text {
        /// Minimum number of characters.
        min: usize,
        /// Maximum number of characters.
        max: usize,
        /// Required format.
        format: TextFormat,
    },
    /// A text from a fixed list.
    TextEnum(&'static [&'static str]),
    /// A list.
    List {
        /// Type of the entries.
        item_type: &'static FieldType,
        /// Minimum number of entries.
        min: usize,
        /// Maximum number of entries.
        max: usize,
    },
    /// An object with fields of its own.
    Object(&'static FieldTable),
    /// Any JSON value: only in responses, such as the fields of an audit entry.
    Any,
}

/// Who may set a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every user who may edit.
    ReadWrite,
    /// Only Vigie. Ignored in request bodies (behaviour.md 1), an error in files.
    ReadOnly,
    /// No one. The field is accepted and ignored everywhere, so that a response can be sent back as a request.
    Ignored,
    /// Read-only in version 3; the legacy API, files, command line and web pages set it (fields.md 3).
    ReadOnlyInV3,
}

/// The value of a field that is not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// No default.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A text.
    Text(&'static str),
    /// The empty list.
    EmptyList,
    /// An object with the defaults of its fields.
    ObjectOfDefaults,
}

/// How the legacy API encodes a field (behaviour.md 2). Flags are `y` and `n`; every value is a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyEncoding {
    /// Same name and same values.
    Same,
    /// Same values under another name.
    Renamed(&'static str),
    /// Each value has a code: (code, version 3 value). A value without a code stays as it is.
    Coded(&'static [(&'static str, &'static str)]),
    /// Like `Same` on output; on input also accepts aliases: (alias, version 3 value).
    InputAliases(&'static [(&'static str, &'static str)]),
    /// A flag written as `Enabled` or `Disabled`.
    EnabledDisabled,
    /// The object itself, and next to it in `index_field` the index of its `choice_field` among the choices.
    Indexed {
        /// Name of the top-level field with the index.
        index_field: &'static str,
        /// Name of the choice field inside the object.
        choice_field: &'static str,
    },
    /// Left out: another field of the legacy API represents it.
    Omitted,
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in version 3 and in files.
    pub name: &'static str,
    /// One-line description for people, without a full stop.
    pub description: &'static str,
    /// Type and bounds.
    pub field_type: FieldType,
    /// Default value.
    pub default: DefaultValue,
    /// Whether it is required on create.
    pub required: bool,
    /// Whether version 3 requires it on create, though it has a default elsewhere.
    pub required_in_v3: bool,
    /// Who may set it.
    pub access: Access,
    /// Whether it is sealed at rest and shown masked.
    pub secret: bool,
    /// Whether it goes beyond interface.md: marked (x) in fields.md.
    pub extension: bool,
    /// Encoding in the legacy API.
    pub legacy: LegacyEncoding,
}

/// The fields of one object: a monitor type, a sub-object, a record, a request or response of the APIs.
pub struct FieldTable {
    /// Name of the table in messages and in the schema.
    pub name: &'static str,
    /// One-line description for people, without a full stop.
    pub description: &'static str,
    /// The fields as declared; a later field replaces an earlier one of the same name at its position.
    pub(super) groups: &'static [&'static [Field]],
    pub(super) index: OnceLock<FieldIndex>,
}

/// Data that is looked up often, computed once per table.
pub(super) struct FieldIndex {
    /// The fields of all groups, in order, each name once.
    pub(super) fields: Vec<&'static Field>,
    /// Positions in `fields`, by name.
    pub(super) position_by_name: HashMap<&'static str, u16, FixedState>,
    /// Default of each field, in the order of `fields`.
    pub(super) defaults: Vec<Option<Value>>,
    /// All values of each field that has only a few, so that documents can share them.
    pub(super) interned_values: Vec<Vec<Value>>,
    /// Positions in `fields` of the fields of each typed struct, found by the list of its field names.
    pub(super) field_position_cache: [OnceLock<CachedFieldPositions>; MAX_CACHED_POSITION_LISTS],
}

/// Maximum number of typed structs per table whose positions are cached.
pub(super) const MAX_CACHED_POSITION_LISTS: usize = 16;

/// Positions of the fields of one typed struct.
pub(super) struct CachedFieldPositions {
    /// Compared by address: each struct has one static list.
    pub(super) field_names: &'static [&'static str],
    pub(super) positions: Box<[u16]>,
}
