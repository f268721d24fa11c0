//! Validates a request body or an entry of a file: a new monitor, or changes to one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::field::{EmbeddedSecrets, Field, FieldTable};
use super::monitor_document::MonitorDocument;
use super::reader::{FieldReader, InputFormat, SecretReader, reject_secret_sources};
use super::secret_values::SecretMode;
use super::table;
use super::validation_context::ValidationContext;
use super::{browser_choice, legacy, rules, url_credentials};
use crate::domain::MonitorType;
use crate::syntax::node::Node;
use crate::syntax::{MASK, ValidationError, ValidationErrorKind, display_value};

/// A valid document.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidatedDocument {
    /// The fields.
    pub document: MonitorDocument,
    /// Warnings for its author, one sentence each.
    pub warnings: Vec<String>,
}

/// Returns the document of a new monitor with the fields of `body`. Fails with all errors.
pub fn validate_new(
    monitor_type: MonitorType,
    format: InputFormat,
    body: &Node,
    context: &ValidationContext<'_>,
) -> Result<ValidatedDocument, Vec<ValidationError>> {
    validate_new_with_secrets(monitor_type, format, body, context, &reject_secret_sources, &["type"])
}

/// Like [`validate_new`], for files: `secret_reader` reads secrets, and the top-level `ignored_fields` do not belong
/// to the monitor.
pub fn validate_new_with_secrets(
    monitor_type: MonitorType,
    format: InputFormat,
    body: &Node,
    context: &ValidationContext<'_>,
    secret_reader: SecretReader<'_>,
    ignored_fields: &[&str],
) -> Result<ValidatedDocument, Vec<ValidationError>> {
    DocumentValidator { monitor_type, format, body, context, previous: None }
        .validate(secret_reader, ignored_fields)
}

/// Applies `body` to `previous`: fields that are not in the body stay, arrays are replaced, null unsets.
pub fn merge_and_validate(
    previous: &MonitorDocument,
    format: InputFormat,
    body: &Node,
    context: &ValidationContext<'_>,
) -> Result<ValidatedDocument, Vec<ValidationError>> {
    DocumentValidator {
        monitor_type: previous.monitor_type(),
        format,
        body,
        context,
        previous: Some(previous),
    }
    .validate(&reject_secret_sources, &["type"])
}

/// Reads and validates one document; `previous` is the current one of the monitor, `None` for a new monitor.
struct DocumentValidator<'a> {
    monitor_type: MonitorType,
    format: InputFormat,
    body: &'a Node,
    context: &'a ValidationContext<'a>,
    previous: Option<&'a MonitorDocument>,
}

impl DocumentValidator<'_> {
    fn validate(
        &self,
        secret_reader: SecretReader<'_>,
        ignored_fields: &[&str],
    ) -> Result<ValidatedDocument, Vec<ValidationError>> {
        let table = table::for_type(self.monitor_type);
        let ignored_fields = if self.format == InputFormat::Legacy { &["site_type"] } else { ignored_fields };
        let mut reader = FieldReader::new(self.format, secret_reader);
        let mut new_values = reader.read_fields(table, self.body, ignored_fields, self.previous.is_none());
        let mut errors = reader.errors;
        errors.extend(self.changed_type_error());
        errors.extend(browser_choice::conflicting_browser_error(&new_values, self.body));
        self.ignore_returned_browser_type(&mut new_values);
        browser_choice::rename_browser_type(self.monitor_type, &mut new_values);
        let old =
            self.previous.map(|old| old.to_non_default_fields(SecretMode::Revealed)).unwrap_or_default();
        self.restore_masked_values(&mut new_values, &old, &mut errors);
        self.reconcile_intervals(&mut new_values);
        if self.format == InputFormat::Legacy {
            legacy::set_rotate_locations(&mut new_values, &old, self.context.default_location_ids);
        }
        let document = match MonitorDocument::new(self.monitor_type, merge_patch(old, new_values)) {
            Ok(document) => document,
            Err(error) => {
                let position = self.body.position_of(&error.path);
                errors.push(ValidationError { position, ..error.into() });
                return Err(errors);
            }
        };
        let rule_input = rules::RuleInput {
            document: &document,
            previous: self.previous,
            body: self.body,
            format: self.format,
            context: self.context,
        };
        rules::apply_all(&rule_input, &mut errors);
        if errors.is_empty() {
            return Ok(ValidatedDocument { warnings: rules::warnings(&rule_input), document });
        }
        errors.sort_by_key(|error| (error.position, error.kind != ValidationErrorKind::MissingField));
        Err(errors)
    }

    /// Makes `interval` 1 where the body sets `interval_seconds`, and clears that where it sets another `interval`
    /// (fields.md 2). A body with both stays as it is, for the rule about them.
    fn reconcile_intervals(&self, new_values: &mut Map<String, Value>) {
        let is_set =
            |name: &str| self.body.get(name).is_some() && !new_values.get(name).is_none_or(Value::is_null);
        match (is_set("interval_seconds"), is_set("interval")) {
            (true, false) => drop(new_values.insert("interval".to_owned(), Value::from(1))),
            (false, true)
                if new_values.get("interval") != Some(&Value::from(1))
                    && self.previous.is_some_and(|previous| previous.value("interval_seconds").is_some()) =>
            {
                new_values.insert("interval_seconds".to_owned(), Value::Null);
            }
            _ => {}
        }
    }

    /// Removes a `browser_type` that the legacy API only shows: a record that is sent back chooses no browser.
    fn ignore_returned_browser_type(&self, new_values: &mut Map<String, Value>) {
        let Some(previous) = self.previous.filter(|_| self.format == InputFormat::Legacy) else { return };
        let sent_browser_type = new_values.get("browser_type").and_then(Value::as_str);
        if previous.value("browser").is_none()
            && sent_browser_type == Some(previous.used_browser(self.context.browsers))
        {
            new_values.shift_remove("browser_type");
        }
    }

    /// Rejects a body with another `type`: the type of a monitor never changes (fields.md 1).
    fn changed_type_error(&self) -> Option<ValidationError> {
        let type_field = if self.format == InputFormat::Legacy { "site_type" } else { "type" };
        let node = self.body.get(type_field)?;
        let is_same_type = match node.as_text() {
            Some(text) if self.format == InputFormat::Legacy => {
                legacy::parse_site_type(text) == Some(self.monitor_type)
            }
            Some(text) => text == self.monitor_type.name(),
            None => false,
        };
        let message =
            format!("`{type_field}` must be `{}`, not `{}`", self.monitor_type, display_value(node));
        (!is_same_type).then(|| {
            ValidationError::new(ValidationErrorKind::Conflict, type_field, node.position, message)
                .with_value(display_value(node))
        })
    }

    /// Replaces masks by the current values, and reports masks for which no value is stored.
    fn restore_masked_values(
        &self,
        new_values: &mut Map<String, Value>,
        old: &Map<String, Value>,
        errors: &mut Vec<ValidationError>,
    ) {
        for (name, value) in new_values {
            restore_masked_value(value, old.get(name));
            let embedded = table::for_type(self.monitor_type).field(name).and_then(Field::embedded_secrets);
            if let (Some(embedded), Value::String(text)) = (embedded, &mut *value) {
                self.restore_masked_text(name, embedded, text, old.get(name).and_then(Value::as_str), errors);
            }
            let mut masked_paths = Vec::new();
            find_masked_secrets(table::for_type(self.monitor_type), name, value, &mut masked_paths);
            for path in masked_paths {
                let message = format!("`{path}` is masked, but no value is stored");
                let position = self.body.position_of(&path);
                let error = ValidationError::new(ValidationErrorKind::Secret, path, position, message)
                    .with_value(MASK);
                errors.push(error.with_hint("give the value itself"));
            }
        }
    }
}

impl DocumentValidator<'_> {
    /// Replaces masks of secrets in a text by their current values.
    fn restore_masked_text(
        &self,
        name: &str,
        embedded: EmbeddedSecrets,
        text: &mut String,
        old: Option<&str>,
        errors: &mut Vec<ValidationError>,
    ) {
        let reason = match embedded.restore(text, old) {
            Ok(Cow::Owned(restored)) => {
                *text = restored;
                return;
            }
            Ok(Cow::Borrowed(_)) => return,
            Err(reason) => reason,
        };
        let position = self.body.position_of(name);
        let error =
            ValidationError::new(ValidationErrorKind::Secret, name, position, format!("`{name}`: {reason}"));
        errors.push(error.with_value(MASK).with_hint("give the value itself"));
    }
}

/// Replaces masks in `new` by the values of `old`. Entries of lists correspond by `step_number` or `id`, else by
/// position. Entries with a name and neither of these, such as headers, correspond by name only: a secret must not go
/// to another header.
fn restore_masked_value(new: &mut Value, old: Option<&Value>) {
    match (new, old) {
        (Value::String(text), Some(old)) if text == MASK => {
            if let Some(old) = old.as_str() {
                old.clone_into(text);
            }
        }
        (Value::String(text), Some(Value::String(old))) => {
            if let Some(restored) = url_credentials::restore(text, old) {
                *text = restored;
            }
        }
        (Value::Object(new), Some(Value::Object(old))) => {
            for (name, value) in new {
                restore_masked_value(value, old.get(name));
            }
        }
        (Value::Array(new), Some(Value::Array(old))) => {
            let names: Vec<Option<Value>> = new.iter().map(|value| value.get("name").cloned()).collect();
            for (index, value) in new.iter_mut().enumerate() {
                let entry_with_same_id = ["step_number", "id"].iter().find_map(|key| {
                    let id = value.get(key)?;
                    old.iter().find(|old| old.get(key) == Some(id))
                });
                let has_id = value.get("step_number").or(value.get("id")).is_some();
                let counterpart = match &names[index] {
                    // There may be several entries of the same name.
                    Some(name) if !has_id => {
                        let earlier_with_same_name =
                            names[..index].iter().filter(|other| other.as_ref() == Some(name)).count();
                        old.iter().filter(|old| old.get("name") == Some(name)).nth(earlier_with_same_name)
                    }
                    _ => entry_with_same_id.or_else(|| old.get(index)),
                };
                restore_masked_value(value, counterpart);
            }
        }
        _ => {}
    }
}

/// Collects the paths of secrets in `value` that are still masked.
fn find_masked_secrets(
    table: &'static FieldTable,
    path: &str,
    value: &Value,
    masked_paths: &mut Vec<String>,
) {
    let name = path.rsplit('.').next().unwrap_or_default();
    let Some(field) = table.field(name) else { return };
    let is_masked = |text| if field.is_url() { url_credentials::is_masked(text) } else { text == MASK };
    if field.secret || field.is_url() {
        if value.as_str().is_some_and(is_masked) {
            masked_paths.push(path.to_owned());
        }
        return;
    }
    match (field.field_type, value) {
        (super::field::FieldType::Object(sub_table), Value::Object(entries)) => {
            find_masked_secrets_in_object(sub_table, path, entries, masked_paths);
        }
        (
            super::field::FieldType::List { item_type: super::field::FieldType::Object(sub_table), .. },
            Value::Array(items),
        ) => {
            for (index, item) in items.iter().enumerate() {
                if let Value::Object(entries) = item {
                    find_masked_secrets_in_object(
                        sub_table,
                        &format!("{path}[{index}]"),
                        entries,
                        masked_paths,
                    );
                }
            }
        }
        _ => {}
    }
}

fn find_masked_secrets_in_object(
    table: &'static FieldTable,
    path: &str,
    entries: &Map<String, Value>,
    masked_paths: &mut Vec<String>,
) {
    let is_secret_header = table::sub_objects::is_secret_header(table, entries);
    for (name, value) in entries {
        let path = format!("{path}.{name}");
        if is_secret_header && name == "value" && value.as_str() == Some(MASK) {
            masked_paths.push(path);
        } else {
            find_masked_secrets(table, &path, value, masked_paths);
        }
    }
}

/// Applies `new` to `old`: null unsets, objects merge, other values replace.
fn merge_patch(mut old: Map<String, Value>, new: Map<String, Value>) -> Map<String, Value> {
    for (name, value) in new {
        match (old.get_mut(&name), value) {
            (_, Value::Null) => {
                old.shift_remove(&name);
            }
            (Some(Value::Object(old)), Value::Object(new)) => {
                *old = merge_patch(std::mem::take(old), new);
            }
            (_, value) => {
                old.insert(name, value);
            }
        }
    }
    old
}
