//! The error of settings that cannot be used: field, value and reason.

use std::fmt;

use serde_json::Value;

use crate::schema::field::Field;
use crate::syntax::node::Position;
use crate::syntax::{MASK, ValidationError, ValidationErrorKind, truncate_value};

/// A field whose value cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidFieldValue {
    /// Path of the field, such as `mode` or `api_steps[0].url`.
    pub path: String,
    /// Its value as shown in messages; `None` when it has none.
    pub value: Option<String>,
    /// What is wrong with it, and what is allowed.
    pub reason: String,
}

impl InvalidFieldValue {
    /// Creates the error of the field at `path` with the value `value`.
    #[must_use]
    pub fn new(path: &str, value: Option<&str>, reason: &str) -> Self {
        Self { path: path.to_owned(), value: value.map(truncate_value), reason: reason.to_owned() }
    }

    /// Creates an error whose field is not known yet.
    pub(in crate::schema) fn from_reason(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..Self::default() }
    }

    /// Sets the field and its value; the value of a secret is masked.
    #[must_use]
    pub(in crate::schema) fn with_field(mut self, field: &Field, value: &Value) -> Self {
        self = self.with_path_prefix(field.name).with_value(value);
        if field.secret || field.embedded_secrets().is_some() {
            self.value = Some(MASK.to_owned());
        }
        self
    }

    /// Sets the value, unless it is already set.
    #[must_use]
    pub(in crate::schema) fn with_value(mut self, value: &Value) -> Self {
        self.value = self.value.or_else(|| Some(display_json(value)));
        self
    }

    /// Prepends `prefix` to the path: a field, or a position in a list such as `[2]`.
    #[must_use]
    pub(in crate::schema) fn with_path_prefix(mut self, prefix: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{prefix}{separator}{}", self.path);
        self
    }
}

fn display_json(value: &Value) -> String {
    match value {
        Value::String(text) => truncate_value(text),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
        other => other.to_string(),
    }
}

impl fmt::Display for InvalidFieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "`{}` is `{value}`: {}", self.path, self.reason),
            None => write!(f, "`{}`: {}", self.path, self.reason),
        }
    }
}

impl std::error::Error for InvalidFieldValue {}

impl From<InvalidFieldValue> for ValidationError {
    fn from(error: InvalidFieldValue) -> Self {
        let message = error.to_string();
        let validation_error = Self::new(ValidationErrorKind::Type, error.path, Position::default(), message);
        match error.value {
            Some(value) => validation_error.with_value(value),
            None => validation_error,
        }
    }
}

impl serde::de::Error for InvalidFieldValue {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self::from_reason(reason.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::from_reason("it is missing").with_path_prefix(field)
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        let allowed: Vec<_> = expected.iter().map(|choice| format!("`{choice}`")).collect();
        Self::from_reason(format!("it must be one of {}", allowed.join(", ")))
    }
}
