//! A document under the rules, and where they put their faults.

use serde_json::Value;

use crate::schema::document::Document;
use crate::schema::intake::Form;
use crate::schema::table;
use crate::schema::validation_context::Surroundings;
use crate::syntax::source::Node;
use crate::syntax::{MASK, ValidationError, ValidationErrorKind, truncate_value};

/// What is judged.
pub(in crate::schema) struct Judged<'a> {
    /// As it would be saved.
    pub document: &'a Document,
    /// As it is now; `None` for a new one.
    pub old: Option<&'a Document>,
    /// What the author wrote.
    pub body: &'a Node,
    /// How it is written.
    pub form: Form,
    /// What is known of the world.
    pub around: &'a Surroundings<'a>,
}

/// Where rules put their faults.
pub(super) struct Bench<'a> {
    pub(super) judged: &'a Judged<'a>,
    pub(super) broken: Vec<String>,
    pub(super) found: Vec<ValidationError>,
}

impl<'a> Bench<'a> {
    pub(super) fn document(&self) -> &'a Document {
        self.judged.document
    }

    pub(super) fn around(&self) -> &'a Surroundings<'a> {
        self.judged.around
    }

    /// Whether none of `fields` is faulty by itself.
    pub(super) fn sound(&self, fields: &[&str]) -> bool {
        !fields.iter().any(|field| self.broken.iter().any(|broken| broken == field))
    }

    /// Whether the type of the document has `field`.
    pub(super) fn has(&self, field: &str) -> bool {
        table::of(self.document().kind()).position(field).is_some()
    }

    pub(super) fn fault(
        &mut self,
        rule: ValidationErrorKind,
        path: &str,
        message: String,
    ) -> &mut ValidationError {
        let place = self.judged.body.position_of(path);
        let given = value_at(self.document(), path).map(|value| match value {
            Value::String(text) => truncate_value(text),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a map".to_owned(),
            other => other.to_string(),
        });
        let mut fault = ValidationError::new(rule, path, place, message);
        let field = table::of(self.document().kind()).field(fault.root_field());
        let hidden = field.is_some_and(|field| field.secret || field.is_script());
        fault.value = if hidden { Some(MASK.to_owned()) } else { given };
        self.found.push(fault);
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    pub(super) fn conflict(&mut self, path: &str, message: String) {
        self.fault(ValidationErrorKind::Conflict, path, message);
    }

    pub(super) fn conflict_with_hint(&mut self, path: &str, message: String, hint: String) {
        self.fault(ValidationErrorKind::Conflict, path, message).hint = Some(hint);
    }
}

/// The value at a path such as `api_steps[0].url`.
fn value_at<'d>(document: &'d Document, path: &str) -> Option<&'d Value> {
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

/// Why `pattern` does not compile, in one line; `None` when it does.
pub(super) fn regex_problem(pattern: &str) -> Option<String> {
    let problem = regex::Regex::new(pattern).err()?.to_string();
    let last = problem.lines().last().unwrap_or_default();
    Some(last.trim().trim_start_matches("error: ").trim_end_matches('.').to_owned())
}
