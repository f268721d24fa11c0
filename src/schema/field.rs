//! What one field is: its name, kind and bounds, default, and how each form writes it. Knows nothing of
//! monitors; the settings file is described with the same words.

use serde_json::{Map, Value};

use super::table::Table;
use crate::syntax::format::Format;

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
        format: Format,
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

impl Field {
    /// A field of `kind` without a default, open to editors.
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            about,
            kind,
            default: Preset::None,
            required: false,
            access: Access::Open,
            secret: false,
            extension: false,
            legacy: Legacy::Same,
        }
    }

    /// A yes or no with its default.
    #[must_use]
    pub const fn flag(name: &'static str, default: bool, about: &'static str) -> Self {
        Self::new(name, Kind::Flag, about).or(Preset::Flag(default))
    }

    /// A whole number in `min..=max`.
    #[must_use]
    pub const fn int(name: &'static str, min: i64, max: i64, about: &'static str) -> Self {
        Self::new(name, Kind::Int { min, max }, about)
    }

    /// A free text of up to `max` characters.
    #[must_use]
    pub const fn text(name: &'static str, max: usize, about: &'static str) -> Self {
        Self::new(name, Kind::Text { min: 0, max, format: Format::Any }, about)
    }

    /// A text of up to `max` characters in `format`.
    #[must_use]
    pub const fn formatted(name: &'static str, max: usize, format: Format, about: &'static str) -> Self {
        Self::new(name, Kind::Text { min: 0, max, format }, about)
    }

    /// A text out of `choices`, the first of which is the default.
    #[must_use]
    pub const fn choice(name: &'static str, choices: &'static [&'static str], about: &'static str) -> Self {
        Self::new(name, Kind::TextOf(choices), about).or(Preset::Text(choices[0]))
    }

    /// A list of up to `max` entries, empty by default.
    #[must_use]
    pub const fn list(name: &'static str, of: &'static Kind, max: usize, about: &'static str) -> Self {
        Self::new(name, Kind::List { of, min: 0, max }, about).or(Preset::EmptyList)
    }

    /// A map with the fields of `table`.
    #[must_use]
    pub const fn object(name: &'static str, table: &'static Table, about: &'static str) -> Self {
        Self::new(name, Kind::Object(table), about)
    }

    /// With this default.
    #[must_use]
    pub const fn or(mut self, default: Preset) -> Self {
        self.default = default;
        self
    }

    /// Has to be there on create; a text must not be empty then.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        if let Kind::Text { min: 0, max, format } = self.kind {
            self.kind = Kind::Text { min: 1, max, format };
        }
        self
    }

    /// Set by Vigie alone.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.access = Access::ReadOnly;
        self
    }

    /// With this access.
    #[must_use]
    pub const fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Shown masked.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// Beyond interface.md.
    #[must_use]
    pub const fn extension(mut self) -> Self {
        self.extension = true;
        self
    }

    /// With this form in the legacy API.
    #[must_use]
    pub const fn legacy(mut self, legacy: Legacy) -> Self {
        self.legacy = legacy;
        self
    }

    /// The default as a value.
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        match self.default {
            Preset::None => None,
            Preset::Flag(flag) => Some(Value::Bool(flag)),
            Preset::Int(number) => Some(Value::from(number)),
            Preset::Text(text) => Some(Value::from(text)),
            Preset::EmptyList => Some(Value::Array(Vec::new())),
            Preset::Object => match self.kind {
                Kind::Object(table) => Some(Value::Object(table.defaults())),
                _ => Some(Value::Object(Map::new())),
            },
        }
    }

    /// Whether a value may be set in files, on the command line and in the web pages.
    #[must_use]
    pub fn is_settable(&self) -> bool {
        matches!(self.access, Access::Open | Access::ReadOnlyInV3)
    }

    /// Whether `value` is sealed at rest and shown masked: that of a secret field, and a script whose protected
    /// variables are secrets (fields.md 3, `transaction_password`).
    #[must_use]
    pub fn hides(&self, value: &Value) -> bool {
        self.secret || self.is_script() && value.as_str().is_some_and(crate::script::hides)
    }

    /// Whether it holds a browser script.
    #[must_use]
    pub fn is_script(&self) -> bool {
        matches!(self.kind, Kind::Text { format: Format::Script, .. })
    }

    /// Whether it holds a URL, in which a login may stand.
    #[must_use]
    pub fn is_url(&self) -> bool {
        matches!(self.kind, Kind::Text { format: Format::HttpUrl | Format::HttpUrlTemplate, .. })
    }

    /// The name in the legacy API.
    #[must_use]
    pub fn legacy_name(&self) -> &'static str {
        match self.legacy {
            Legacy::Named(name) => name,
            _ => self.name,
        }
    }
}

impl Kind {
    /// What is wanted, as messages say it after `must be`.
    #[must_use]
    pub fn wanted(&self) -> String {
        match self {
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Int { min, max } if *min == i64::MIN && *max == i64::MAX => "a whole number".to_owned(),
            Self::Int { min, max: i64::MAX } => format!("a whole number of at least {min}"),
            Self::Int { min, max } => format!("a whole number from {min} to {max}"),
            Self::IntOf(choices) => format!("one of {}", listed(choices)),
            Self::Number { min, max } if min.is_infinite() || max.is_infinite() => "a number".to_owned(),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Text { format: Format::Any, .. } => "a text".to_owned(),
            Self::Text { format, .. } => format.wanted().to_owned(),
            Self::TextOf([""]) => "empty".to_owned(),
            Self::TextOf(choices) => format!("one of {}", quoted(choices)),
            Self::List { .. } => "a list".to_owned(),
            Self::Object(_) => "a map of fields".to_owned(),
            Self::Any => "any value".to_owned(),
        }
    }
}

fn listed(choices: &[i64]) -> String {
    choices.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

fn quoted(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ")
}
