//! Replaces a password in several monitors (interface.md 2.5, Password bulk edit).

use serde_json::{Map, Value};

use super::account_validation::AccountValidationContext;
use super::bulk_change::{ErrorCollector, change_monitors, monitor_label, read_request_body};
use super::monitor_service::MonitorService;
use crate::domain::constant_time_eq;
use crate::schema::field::{Field, FieldType};
use crate::schema::table::FieldTable;
use crate::schema::table::requests::PASSWORD_BULK_EDIT;
use crate::schema::typed::request::{ReplaceTextRequest, parse_request_fields};
use crate::schema::validate::ValidatedDocument;
use crate::schema::{Monitor, MonitorDocument, SecretMode, table};
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::node::{Node, Position};
use crate::syntax::{MASK, ValidationError, ValidationErrorKind};

/// Password bulk edit, all or nothing; returns warnings for its author. Every secret field that equals
/// `current_value` becomes `new_value`, also in API steps. Protected variables of scripts are not changed: only their
/// `transaction_password` decrypts them.
///
/// # Errors
/// Like [`super::bulk_edit()`]; [`ServiceError::Invalid`] also names monitors without such a secret.
pub async fn bulk_edit_passwords(
    service: &MonitorService,
    caller: &Caller,
    body: &Node,
) -> Result<Vec<String>, ServiceError> {
    let fields = read_request_body(&PASSWORD_BULK_EDIT, body)?;
    let request: ReplaceTextRequest<'_> = parse_request_fields(&PASSWORD_BULK_EDIT, &fields)?;
    let mask_errors: Vec<ValidationError> =
        [("current_value", request.current_value), ("new_value", request.new_value)]
            .into_iter()
            .filter(|(_, value)| *value == MASK)
            .map(|(name, _)| {
                let message = format!("`{name}` is masked: `{MASK}` is not a valid password");
                ValidationError::new(ValidationErrorKind::Secret, name, body.position_of(name), message)
                    .with_hint("give the value itself")
            })
            .collect();
    if !mask_errors.is_empty() {
        return Err(ServiceError::Invalid(mask_errors));
    }
    change_monitors(service, caller, "bulk-edit-passwords", fields, replace_secrets_in_monitor).await
}

fn replace_secrets_in_monitor(
    old: &Monitor,
    fields: &Map<String, Value>,
    _: &AccountValidationContext,
    collector: &mut ErrorCollector,
) -> Option<ValidatedDocument> {
    let request: ReplaceTextRequest<'_> = match parse_request_fields(&PASSWORD_BULK_EDIT, fields) {
        Ok(request) => request,
        Err(error) => {
            collector.add_all(&monitor_label(old.id), [error.into()]);
            return None;
        }
    };
    let mut replacer = SecretReplacer {
        old_secret: request.current_value,
        new_secret: request.new_value,
        match_count: 0,
        errors: Vec::new(),
    };
    let mut values = old.document.to_non_default_fields(SecretMode::Revealed);
    replacer.replace_in_object(table::for_type(old.monitor_type()), "", &mut values);
    if replacer.match_count == 0 {
        let message = "none of its secrets equals `current_value`";
        collector.add(&monitor_label(old.id), ValidationErrorKind::Conflict, "current_value", message);
    }
    let is_valid = replacer.match_count > 0 && replacer.errors.is_empty();
    collector.add_all(&monitor_label(old.id), replacer.errors);
    match MonitorDocument::new(old.monitor_type(), values) {
        // Saving has no warnings about passwords.
        Ok(document) => is_valid.then(|| ValidatedDocument { document, warnings: Vec::new() }),
        Err(error) => {
            collector.add_all(&monitor_label(old.id), [error.into()]);
            None
        }
    }
}

/// Replaces a secret by another.
struct SecretReplacer<'a> {
    old_secret: &'a str,
    new_secret: &'a str,
    match_count: usize,
    errors: Vec<ValidationError>,
}

impl SecretReplacer<'_> {
    fn replace_in_object(&mut self, table: &'static FieldTable, path: &str, values: &mut Map<String, Value>) {
        for (name, value) in values {
            if let Some(field) = table.field(name) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                self.replace_in_field(field, &path, value);
            }
        }
    }

    fn replace_in_field(&mut self, field: &Field, path: &str, value: &mut Value) {
        match (&field.field_type, value) {
            (FieldType::Object(field_table), Value::Object(values)) => {
                self.replace_in_object(field_table, path, values);
            }
            (FieldType::List { item_type: FieldType::Object(field_table), .. }, Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Value::Object(values) = item {
                        self.replace_in_object(field_table, &format!("{path}[{index}]"), values);
                    }
                }
            }
            (field_type, Value::String(text)) if field.secret && constant_time_eq(text, self.old_secret) => {
                self.match_count += 1;
                match field_type {
                    FieldType::Text { max, .. } if self.new_secret.chars().count() > *max => {
                        let message = format!("`{path}` must have at most {max} characters");
                        self.errors.push(ValidationError::new(
                            ValidationErrorKind::Length,
                            path,
                            Position::default(),
                            message,
                        ));
                    }
                    FieldType::Text { format, .. } if !format.matches(self.new_secret) => {
                        let message = format!("`{path}` must be {}", format.requirement());
                        self.errors.push(ValidationError::new(
                            ValidationErrorKind::Format,
                            path,
                            Position::default(),
                            message,
                        ));
                    }
                    _ => self.new_secret.clone_into(text),
                }
            }
            _ => {}
        }
    }
}
