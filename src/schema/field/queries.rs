//! Properties derived from the description of a field: its default, who sets it, whether a value is secret.

use serde_json::{Map, Value};

use super::definition::{Access, DefaultValue, Field, FieldType, LegacyEncoding};
use super::embedded_secrets::EmbeddedSecrets;
use crate::syntax::text_format::TextFormat;

impl Field {
    /// Returns the default as a JSON value.
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        match self.default {
            DefaultValue::None => None,
            DefaultValue::Bool(flag) => Some(Value::Bool(flag)),
            DefaultValue::Int(number) => Some(Value::from(number)),
            DefaultValue::Text(text) => Some(Value::from(text)),
            DefaultValue::EmptyList => Some(Value::Array(Vec::new())),
            DefaultValue::ObjectOfDefaults => match self.field_type {
                FieldType::Object(table) => Some(Value::Object(table.defaults())),
                _ => Some(Value::Object(Map::new())),
            },
        }
    }

    /// Whether a value may be set in files, on the command line and in the web pages.
    #[must_use]
    pub fn is_settable(&self) -> bool {
        matches!(self.access, Access::ReadWrite | Access::ReadOnlyInV3)
    }

    /// Whether version 3 requires it on create.
    #[must_use]
    pub fn is_required_in_v3(&self) -> bool {
        self.required || self.required_in_v3
    }

    /// Whether `value` is sealed at rest and shown masked: any value of a secret field, and a script whose protected
    /// variables are secrets (fields.md 3, `transaction_password`).
    #[must_use]
    pub fn is_secret_value(&self, value: &Value) -> bool {
        self.secret
            || self
                .embedded_secrets()
                .is_some_and(|embedded| value.as_str().is_some_and(|text| embedded.occur_in(text)))
    }

    /// Whether it holds a text of which parts may be secrets, and of which kind.
    #[must_use]
    pub fn embedded_secrets(&self) -> Option<EmbeddedSecrets> {
        match self.field_type {
            FieldType::Text { format: TextFormat::Script, .. } => Some(EmbeddedSecrets::BrowserScript),
            FieldType::Text { format: TextFormat::VariablesJson, .. } => Some(EmbeddedSecrets::Variables),
            FieldType::Text { format: TextFormat::Xml, .. } => Some(EmbeddedSecrets::Project),
            _ => None,
        }
    }

    /// Whether it holds a URL, which may contain credentials.
    #[must_use]
    pub fn is_url(&self) -> bool {
        matches!(
            self.field_type,
            FieldType::Text { format: TextFormat::HttpUrl | TextFormat::HttpUrlTemplate, .. }
        )
    }

    /// Returns the name in the legacy API.
    #[must_use]
    pub fn legacy_name(&self) -> &'static str {
        match self.legacy {
            LegacyEncoding::Renamed(name) => name,
            _ => self.name,
        }
    }
}
