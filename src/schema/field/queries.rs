//! What follows from the description of a field: its default, who sets it, what of it is secret.

use serde_json::{Map, Value};

use super::definition::{Access, Field, Kind, Legacy, Preset};
use crate::syntax::format::TextFormat;

impl Field {
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
        self.secret || self.is_script() && value.as_str().is_some_and(crate::script::has_secrets)
    }

    /// Whether it holds a browser script.
    #[must_use]
    pub fn is_script(&self) -> bool {
        matches!(self.kind, Kind::Text { format: TextFormat::Script, .. })
    }

    /// Whether it holds a URL, in which a login may stand.
    #[must_use]
    pub fn is_url(&self) -> bool {
        matches!(self.kind, Kind::Text { format: TextFormat::HttpUrl | TextFormat::HttpUrlTemplate, .. })
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
