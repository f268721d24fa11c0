//! Rules over several fields of a document (fields.md 1–4), and what is worth a warning when it is saved.

use serde_json::Value;

use super::accept::Surroundings;
use super::document::Document;
use super::intake::Form;
use crate::syntax::source::Node;
use crate::syntax::{FieldFault, MASK, Rule, shortened};

mod address;
mod locations;
mod plans;
mod properties;
mod scripts;
mod steps;
mod warnings;
mod web;

pub(super) use warnings::warnings;

/// What is judged.
pub(super) struct Judged<'a> {
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

/// Adds the faults of `judged` to those of its single fields. A rule rests when one of the fields that it
/// looks at is faulty by itself.
pub(super) fn check(judged: &Judged<'_>, faults: &mut Vec<FieldFault>) {
    let broken: Vec<String> = faults.iter().map(|fault| fault.field().to_owned()).collect();
    let mut bench = Bench { judged, broken, found: Vec::new() };
    address::check(&mut bench);
    locations::check(&mut bench);
    web::check(&mut bench);
    steps::check(&mut bench);
    scripts::check(&mut bench);
    plans::check(&mut bench);
    properties::check(&mut bench);
    faults.append(&mut bench.found);
}

/// Where rules put their faults.
struct Bench<'a> {
    judged: &'a Judged<'a>,
    broken: Vec<String>,
    found: Vec<FieldFault>,
}

impl<'a> Bench<'a> {
    fn document(&self) -> &'a Document {
        self.judged.document
    }

    fn around(&self) -> &'a Surroundings<'a> {
        self.judged.around
    }

    /// Whether none of `fields` is faulty by itself.
    fn sound(&self, fields: &[&str]) -> bool {
        !fields.iter().any(|field| self.broken.iter().any(|broken| broken == field))
    }

    /// Whether the type of the document has `field`.
    fn has(&self, field: &str) -> bool {
        super::table::of(self.document().kind()).position(field).is_some()
    }

    fn fault(&mut self, rule: Rule, path: &str, message: String) -> &mut FieldFault {
        let place = self.judged.body.place_of(path);
        let given = value_at(self.document(), path).map(|value| match value {
            Value::String(text) => shortened(text),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a map".to_owned(),
            other => other.to_string(),
        });
        let mut fault = FieldFault::new(rule, path, place, message);
        let field = super::table::of(self.document().kind()).field(fault.field());
        let hidden = field.is_some_and(|field| field.secret || field.is_script());
        fault.given = if hidden { Some(MASK.to_owned()) } else { given };
        self.found.push(fault);
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    fn conflict(&mut self, path: &str, message: String) {
        self.fault(Rule::Conflict, path, message);
    }

    fn conflict_with_hint(&mut self, path: &str, message: String, hint: String) {
        self.fault(Rule::Conflict, path, message).hint = Some(hint);
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
fn regex_problem(pattern: &str) -> Option<String> {
    let problem = regex::Regex::new(pattern).err()?.to_string();
    let last = problem.lines().last().unwrap_or_default();
    Some(last.trim().trim_start_matches("error: ").trim_end_matches('.').to_owned())
}
