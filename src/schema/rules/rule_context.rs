//! The input of the rules, and where they report errors.

use serde_json::Value;

use crate::schema::monitor_document::MonitorDocument;
use crate::schema::reader::InputFormat;
use crate::schema::table;
use crate::schema::validation_context::ValidationContext;
use crate::syntax::node::Node;
use crate::syntax::pattern::{CompiledPattern, HaystackKind, PatternError};
use crate::syntax::{MASK, ValidationError, ValidationErrorKind, truncate_value};

/// The document that the rules check.
pub(in crate::schema) struct RuleInput<'a> {
    /// The document as it would be saved.
    pub document: &'a MonitorDocument,
    /// The document as it is now; `None` for a new one.
    pub previous: Option<&'a MonitorDocument>,
    /// What the author wrote.
    pub body: &'a Node,
    /// Format of `body`.
    pub format: InputFormat,
    /// What is known besides the document: ids, plans and properties of the account.
    pub context: &'a ValidationContext<'a>,
}

/// State of the rules during a check: their input, and the errors so far.
pub(super) struct RuleContext<'a> {
    pub(super) input: &'a RuleInput<'a>,
    /// Top-level fields that have an error of their own already.
    pub(super) invalid_fields: Vec<String>,
    pub(super) errors: Vec<ValidationError>,
}

impl<'a> RuleContext<'a> {
    pub(super) fn document(&self) -> &'a MonitorDocument {
        self.input.document
    }

    /// Returns what is known besides the document.
    pub(super) fn context(&self) -> &'a ValidationContext<'a> {
        self.input.context
    }

    /// Whether none of `fields` has an error of its own.
    pub(super) fn are_valid(&self, fields: &[&str]) -> bool {
        !fields.iter().any(|field| self.invalid_fields.iter().any(|invalid_field| invalid_field == field))
    }

    /// Whether the type of the document has `field`.
    pub(super) fn has_field(&self, field: &str) -> bool {
        table::for_type(self.document().monitor_type()).position(field).is_some()
    }

    /// Adds an error at `path`, with the value there; that of a secret or script is masked.
    pub(super) fn add_error(
        &mut self,
        kind: ValidationErrorKind,
        path: &str,
        message: String,
    ) -> &mut ValidationError {
        let position = self.input.body.position_of(path);
        let value_text = value_at(self.document(), path).map(|value| match value {
            Value::String(text) => truncate_value(text),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a map".to_owned(),
            other => other.to_string(),
        });
        let mut error = ValidationError::new(kind, path, position, message);
        let field = table::for_type(self.document().monitor_type()).field(error.root_field());
        let hidden = field.is_some_and(|field| field.secret || field.embedded_secrets().is_some());
        error.value = if hidden { Some(MASK.to_owned()) } else { value_text };
        self.errors.push(error);
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    pub(super) fn add_conflict(&mut self, path: &str, message: String) {
        self.add_error(ValidationErrorKind::Conflict, path, message);
    }

    pub(super) fn add_conflict_with_hint(&mut self, path: &str, message: String, hint: String) {
        self.add_error(ValidationErrorKind::Conflict, path, message).hint = Some(hint);
    }
}

/// Returns the value at a path such as `api_steps[0].url`.
fn value_at<'d>(document: &'d MonitorDocument, path: &str) -> Option<&'d Value> {
    let mut parts = path.split(['.', '[']).filter(|part| !part.is_empty());
    let mut value = document.value(parts.next()?)?;
    for part in parts {
        value = match part.strip_suffix(']') {
            Some(index) => value.get(index.parse::<usize>().ok()?)?,
            None => value.get(part)?,
        };
    }
    Some(value)
}

/// Returns why `pattern` cannot be used as a regular expression, as the end of a sentence; `None` when it can.
pub(super) fn regex_error(pattern: &str) -> Option<String> {
    match CompiledPattern::new(pattern, HaystackKind::Text).err()? {
        PatternError::Syntax(reason) => Some(format!("is not a regular expression: {reason}")),
        error => Some(format!("cannot be used: {error}")),
    }
}
