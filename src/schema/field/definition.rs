//! The types that describe fields and tables of fields.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use serde_json::Value;

use crate::syntax::text_format::TextFormat;

/// The type of a value, with its bounds.
#[derive(Clone, Copy, Debug)]
pub enum FieldType {
    /// Yes or no.
    Bool,
    /// A whole number within bounds, both included.
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A whole number out of a list.
    IntEnum(&'static [i64]),
    /// A number with or without a fraction, within bounds, both included.
    Float {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A text; lengths count Unicode scalar values (fields.md 1).
    Text {
        /// Fewest characters.
        min: usize,
        /// Most characters.
        max: usize,
        /// The form that it has to have.
        format: TextFormat,
    },
    /// A text out of a list.
    TextEnum(&'static [&'static str]),
    /// A list.
    List {
        /// What each entry is.
        items: &'static FieldType,
        /// Fewest entries.
        min: usize,
        /// Most entries.
        max: usize,
    },
    /// A map with fields of its own.
    Object(&'static FieldTable),
    /// Any JSON: of answers only, such as the fields of an audit entry.
    Any,
}

/// Who may set a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever may edit.
    ReadWrite,
    /// Nobody: Vigie sets it. Ignored in bodies (behaviour.md 1), a fault in files.
    ReadOnly,
    /// Nobody, but it may stand there so that what was read can be sent back; ignored everywhere.
    Ignored,
    /// Read-only in version 3; the legacy API, files, command line and web pages set it (fields.md 3).
    ReadOnlyInV3,
}

/// The value of a field that is not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// None.
    None,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(&'static str),
    /// The empty list.
    EmptyList,
    /// A map of the defaults of its fields.
    Object,
}

/// How the legacy API writes a field (behaviour.md 2). Flags are `y` and `n`, everything is a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyEncoding {
    /// The same name and words.
    Same,
    /// The same words under another name.
    Renamed(&'static str),
    /// Each word has a code: (code, version 3 word). What has none keeps its word.
    Coded(&'static [(&'static str, &'static str)]),
    /// As `Same` on output; on input these further words are taken too: (further word, version 3 word).
    Alias(&'static [(&'static str, &'static str)]),
    /// A flag written `EnabledDisabled` or `Disabled`.
    EnabledDisabled,
    /// Beside the object itself: its field `field` as a number under `name`, an index into its choices.
    Indexed {
        /// The name at the top.
        name: &'static str,
        /// The field inside of the object.
        choice_field: &'static str,
    },
    /// Not written: another field stands for it.
    Hidden,
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in version 3 and in files.
    pub name: &'static str,
    /// One line for people, without a full stop.
    pub description: &'static str,
    /// Type and bounds.
    pub field_type: FieldType,
    /// The value when it is not set.
    pub default: DefaultValue,
    /// Whether it has to be there on create.
    pub required: bool,
    /// Who may set it.
    pub access: Access,
    /// Whether it is sealed at rest and shown masked.
    pub secret: bool,
    /// Whether it goes beyond interface.md: the (x) of fields.md.
    pub extension: bool,
    /// How the legacy API writes it.
    pub legacy: LegacyEncoding,
}

/// The fields of one object: of a monitor type, a sub-object, an input of the APIs, the settings.
pub struct FieldTable {
    /// What it describes, as messages and the schema name it.
    pub name: &'static str,
    /// One line for people, without a full stop.
    pub description: &'static str,
    pub(super) groups: &'static [&'static [Field]],
    pub(super) index: OnceLock<FieldIndex>,
}

/// What is looked up often, made once.
pub(super) struct FieldIndex {
    pub(super) fields: Vec<&'static Field>,
    /// Positions in `fields`, by name.
    pub(super) positions: HashMap<&'static str, u16, FixedState>,
    pub(super) defaults: Vec<Option<Value>>,
    /// Every value of a field of few values, so that documents can share them.
    pub(super) shared_values: Vec<Vec<Value>>,
    /// Where the fields of typed settings stand in `fields`, by the list of their names.
    pub(super) structs: [OnceLock<StructFields>; MAX_STRUCTS],
}

/// More types of settings are read out of no table.
pub(super) const MAX_STRUCTS: usize = 16;

/// Where the fields of one type of settings stand.
pub(super) struct StructFields {
    pub(super) names: &'static [&'static str],
    pub(super) positions: Box<[u16]>,
}
