//! The types that describe fields and tables of fields.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::FixedState;
use serde_json::Value;

use crate::syntax::format::TextFormat;

/// The type of a value, with its bounds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Yes or no.
    Flag,
    /// A whole number within bounds, both included.
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// A whole number out of a list.
    IntOf(&'static [i64]),
    /// A number with or without a fraction, within bounds, both included.
    Number {
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
    TextOf(&'static [&'static str]),
    /// A list.
    List {
        /// What each entry is.
        of: &'static Kind,
        /// Fewest entries.
        min: usize,
        /// Most entries.
        max: usize,
    },
    /// A map with fields of its own.
    Object(&'static Table),
    /// Any JSON: of answers only, such as the fields of an audit entry.
    Any,
}

/// Who may set a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever may edit.
    Open,
    /// Nobody: Vigie sets it. Ignored in bodies (behaviour.md 1), a fault in files.
    ReadOnly,
    /// Nobody, but it may stand there so that what was read can be sent back; ignored everywhere.
    Echo,
    /// Read-only in version 3; the legacy API, files, command line and web pages set it (fields.md 3).
    ReadOnlyInV3,
}

/// The value of a field that is not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Preset {
    /// None.
    None,
    /// Yes or no.
    Flag(bool),
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
pub enum Legacy {
    /// The same name and words.
    Same,
    /// The same words under another name.
    Named(&'static str),
    /// Each word has a code: (code, version 3 word). What has none keeps its word.
    Coded(&'static [(&'static str, &'static str)]),
    /// As `Same` on output; on input these further words are taken too: (further word, version 3 word).
    Alias(&'static [(&'static str, &'static str)]),
    /// A flag written `Enabled` or `Disabled`.
    Enabled,
    /// Beside the object itself: its field `field` as a number under `name`, an index into its choices.
    Indexed {
        /// The name at the top.
        name: &'static str,
        /// The field inside of the object.
        field: &'static str,
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
    pub about: &'static str,
    /// Type and bounds.
    pub kind: Kind,
    /// The value when it is not set.
    pub default: Preset,
    /// Whether it has to be there on create.
    pub required: bool,
    /// Who may set it.
    pub access: Access,
    /// Whether it is sealed at rest and shown masked.
    pub secret: bool,
    /// Whether it goes beyond interface.md: the (x) of fields.md.
    pub extension: bool,
    /// How the legacy API writes it.
    pub legacy: Legacy,
}

/// The fields of one object: of a monitor type, a sub-object, an input of the APIs, the settings.
pub struct Table {
    /// What it describes, as messages and the schema name it.
    pub name: &'static str,
    /// One line for people, without a full stop.
    pub about: &'static str,
    pub(super) groups: &'static [&'static [Field]],
    pub(super) index: OnceLock<Index>,
}

/// What is looked up often, made once.
pub(super) struct Index {
    pub(super) fields: Vec<&'static Field>,
    /// Positions in `fields`, by name.
    pub(super) positions: HashMap<&'static str, u16, FixedState>,
    pub(super) defaults: Vec<Option<Value>>,
    /// Every value of a field of few values, so that documents can share them.
    pub(super) known: Vec<Vec<Value>>,
}
