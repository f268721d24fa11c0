//! Takes a body or a file's entry for what it asks: a new monitor, or changes to one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::document::Document;
use super::document_secrets::Secrets;
use super::field::{Field, Table};
use super::intake::{Form, Intake, SecretReader, no_secrets};
use super::table;
use super::validation_context::Surroundings;
use super::{legacy, rules, url_login};
use crate::domain::MonitorType;
use crate::script;
use crate::syntax::source::Node;
use crate::syntax::{MASK, ValidationError, ValidationErrorKind, display_value};

/// A document that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The fields.
    pub document: Document,
    /// What its author should know, one sentence each.
    pub warnings: Vec<String>,
}

/// Makes the document of a new monitor of `kind` out of `body`, or says all that is wrong with it.
pub fn create(
    kind: MonitorType,
    form: Form,
    body: &Node,
    around: &Surroundings<'_>,
) -> Result<Accepted, Vec<ValidationError>> {
    create_with(kind, form, body, around, &no_secrets, &["type"])
}

/// As [`create`], for files: secrets may stand elsewhere, and `skipped` fields at the top are not the
/// monitor's.
pub fn create_with(
    kind: MonitorType,
    form: Form,
    body: &Node,
    around: &Surroundings<'_>,
    secrets: SecretReader<'_>,
    skipped: &[&str],
) -> Result<Accepted, Vec<ValidationError>> {
    Acceptance { kind, form, body, around, old: None }.run(secrets, skipped)
}

/// Applies `body` to `old`: fields that it does not name stay, arrays replace, null unsets.
pub fn patch(
    old: &Document,
    form: Form,
    body: &Node,
    around: &Surroundings<'_>,
) -> Result<Accepted, Vec<ValidationError>> {
    Acceptance { kind: old.kind(), form, body, around, old: Some(old) }.run(&no_secrets, &["type"])
}

struct Acceptance<'a> {
    kind: MonitorType,
    form: Form,
    body: &'a Node,
    around: &'a Surroundings<'a>,
    old: Option<&'a Document>,
}

impl Acceptance<'_> {
    fn run(&self, secrets: SecretReader<'_>, skipped: &[&str]) -> Result<Accepted, Vec<ValidationError>> {
        let table = table::of(self.kind);
        let skipped = if self.form == Form::Legacy { &["site_type"] } else { skipped };
        let mut intake = Intake::new(self.form, secrets);
        let mut read = intake.fields(table, self.body, skipped, self.old.is_none());
        let mut faults = intake.faults;
        faults.extend(self.other_type());
        let old = self.old.map(|old| old.stored(Secrets::Revealed)).unwrap_or_default();
        self.unmask(&mut read, &old, &mut faults);
        if self.form == Form::Legacy {
            legacy::rotation(&mut read, &old, self.around.default_locations);
        }
        let document = match Document::new(self.kind, overlaid(old, read)) {
            Ok(document) => document,
            Err(error) => {
                let place = self.body.position_of(&error.field);
                faults.push(ValidationError { position: place, ..error.into() });
                return Err(faults);
            }
        };
        let judged = rules::Judged {
            document: &document,
            old: self.old,
            body: self.body,
            form: self.form,
            around: self.around,
        };
        rules::check(&judged, &mut faults);
        if faults.is_empty() {
            return Ok(Accepted { warnings: rules::warnings(&judged), document });
        }
        faults.sort_by_key(|fault| (fault.position, fault.kind != ValidationErrorKind::MissingField));
        Err(faults)
    }

    /// A body whose `type` is another one: a type never changes (fields.md 1).
    fn other_type(&self) -> Option<ValidationError> {
        let name = if self.form == Form::Legacy { "site_type" } else { "type" };
        let node = self.body.get(name)?;
        let same = match node.as_text() {
            Some(text) if self.form == Form::Legacy => legacy::type_of(text) == Some(self.kind),
            Some(text) => text == self.kind.name(),
            None => false,
        };
        let message = format!("`{name}` must be `{}`, not `{}`", self.kind, display_value(node));
        (!same).then(|| {
            ValidationError::new(ValidationErrorKind::Conflict, name, node.position, message)
                .with_value(display_value(node))
        })
    }

    /// Puts the values that are there now in the place of masks.
    fn unmask(
        &self,
        read: &mut Map<String, Value>,
        old: &Map<String, Value>,
        faults: &mut Vec<ValidationError>,
    ) {
        for (name, value) in read {
            unmask(value, old.get(name));
            let script = table::of(self.kind).field(name).is_some_and(Field::is_script);
            if let (true, Value::String(text)) = (script, &mut *value) {
                self.unmask_script(name, text, old.get(name).and_then(Value::as_str), faults);
            }
            let mut masked = Vec::new();
            masks_in(table::of(self.kind), name, value, &mut masked);
            for path in masked {
                let message = format!("`{path}` is masked, and there is no value that it could stand for");
                let place = self.body.position_of(&path);
                let fault =
                    ValidationError::new(ValidationErrorKind::Secret, path, place, message).with_value(MASK);
                faults.push(fault.with_hint("give the value itself"));
            }
        }
    }
}

impl Acceptance<'_> {
    /// Puts the protected values that are there now in the place of their masks.
    fn unmask_script(
        &self,
        name: &str,
        text: &mut String,
        old: Option<&str>,
        faults: &mut Vec<ValidationError>,
    ) {
        let problem = match script::restore_masked(text, old) {
            Ok(Cow::Owned(whole)) => {
                *text = whole;
                return;
            }
            Ok(Cow::Borrowed(_)) => return,
            Err(problem) => problem,
        };
        let place = self.body.position_of(name);
        let fault =
            ValidationError::new(ValidationErrorKind::Secret, name, place, format!("`{name}`: {problem}"));
        faults.push(fault.with_value(MASK).with_hint("give the value itself"));
    }
}

/// Entries of lists are the same when their `step_number` or `id` is, else by their position; those that have a
/// name and neither, as headers do, by that alone: a secret does not go to another header.
fn unmask(new: &mut Value, old: Option<&Value>) {
    match (new, old) {
        (Value::String(text), Some(old)) if text == MASK => {
            if let Some(old) = old.as_str() {
                old.clone_into(text);
            }
        }
        (Value::String(text), Some(Value::String(old))) => {
            if let Some(whole) = url_login::restored(text, old) {
                *text = whole;
            }
        }
        (Value::Object(new), Some(Value::Object(old))) => {
            for (name, value) in new {
                unmask(value, old.get(name));
            }
        }
        (Value::Array(new), Some(Value::Array(old))) => {
            let names: Vec<Option<Value>> = new.iter().map(|value| value.get("name").cloned()).collect();
            for (index, value) in new.iter_mut().enumerate() {
                let same = ["step_number", "id"].iter().find_map(|key| {
                    let wanted = value.get(key)?;
                    old.iter().find(|old| old.get(key) == Some(wanted))
                });
                let numbered = value.get("step_number").or(value.get("id")).is_some();
                let alike = match &names[index] {
                    // There may be several of the same name.
                    Some(name) if !numbered => {
                        let before =
                            names[..index].iter().filter(|other| other.as_ref() == Some(name)).count();
                        old.iter().filter(|old| old.get("name") == Some(name)).nth(before)
                    }
                    _ => same.or_else(|| old.get(index)),
                };
                unmask(value, alike);
            }
        }
        _ => {}
    }
}

/// Paths of the secrets in `value` that are still masked.
fn masks_in(table: &'static Table, path: &str, value: &Value, masked: &mut Vec<String>) {
    let name = path.rsplit('.').next().unwrap_or_default();
    let Some(field) = table.field(name) else { return };
    let is_masked = |text| if field.is_url() { url_login::is_masked(text) } else { text == MASK };
    if field.secret || field.is_url() {
        if value.as_str().is_some_and(is_masked) {
            masked.push(path.to_owned());
        }
        return;
    }
    match (field.kind, value) {
        (super::field::Kind::Object(inner), Value::Object(entries)) => {
            masks_in_object(inner, path, entries, masked);
        }
        (super::field::Kind::List { of: super::field::Kind::Object(inner), .. }, Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                if let Value::Object(entries) = item {
                    masks_in_object(inner, &format!("{path}[{index}]"), entries, masked);
                }
            }
        }
        _ => {}
    }
}

fn masks_in_object(
    table: &'static Table,
    path: &str,
    entries: &Map<String, Value>,
    masked: &mut Vec<String>,
) {
    let lets_in = table::parts::lets_in(table, entries);
    for (name, value) in entries {
        let path = format!("{path}.{name}");
        if lets_in && name == "value" && value.as_str() == Some(MASK) {
            masked.push(path);
        } else {
            masks_in(table, &path, value, masked);
        }
    }
}

/// `old` with what `new` says: null unsets, objects merge, all else replaces.
fn overlaid(mut old: Map<String, Value>, new: Map<String, Value>) -> Map<String, Value> {
    for (name, value) in new {
        match (old.get_mut(&name), value) {
            (_, Value::Null) => {
                old.shift_remove(&name);
            }
            (Some(Value::Object(old)), Value::Object(new)) => {
                *old = overlaid(std::mem::take(old), new);
            }
            (_, value) => {
                old.insert(name, value);
            }
        }
    }
    old
}
