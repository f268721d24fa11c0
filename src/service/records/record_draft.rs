//! Drafts of record changes, and reading the fields of request bodies.

use serde_json::{Map, Value};

use super::record_context::RecordContext;
use crate::domain::{ConfigRecord, CustomerId};
use crate::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table::FieldTable;
use crate::service::accounts::UserChangeLock;
use crate::service::caller::ServiceError;
use crate::store::ConfigChange;
use crate::syntax::node::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Returns fields of a response for the id of a new record.
pub(super) type CompleteResponse = Box<dyn FnOnce(i64) -> Map<String, Value> + Send + Sync>;

/// A record change to be stored.
#[derive(Default)]
pub(super) struct RecordDraft {
    pub(super) fields: Map<String, Value>,
    /// The monitor or recipient that the record is attached to.
    pub(super) parent_id: Option<i64>,
    /// A text that no other record of its kind may have, such as account and name.
    pub(super) unique_key: Option<String>,
    /// Secret part of the record, hashed or sealed; never shown.
    pub(super) private_data: Option<Vec<u8>>,
    /// Names of the secret fields that change.
    pub(super) changed_secrets: Vec<&'static str>,
    /// Changes of other objects in the same transaction.
    pub(super) additional_changes: Vec<ConfigChange>,
    /// Held until the change of a user is written.
    pub(super) user_change_lock: Option<UserChangeLock>,
    /// Warnings for its author.
    pub(super) warnings: Vec<String>,
    /// Fields that only the response to this change contains, such as an enrolment secret.
    pub(super) create_response_fields: Map<String, Value>,
    /// Adds further such fields, once the commit has given a new record its id.
    pub(super) complete_response: Option<CompleteResponse>,
}

impl RecordDraft {
    /// Creates the draft of a new record.
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self { fields, ..Self::default() }
    }

    /// Creates the draft of `old` with other fields.
    pub(super) fn from_record(old: &ConfigRecord, fields: Map<String, Value>) -> Self {
        Self {
            fields,
            parent_id: old.parent_id,
            unique_key: old.unique_key.clone(),
            private_data: old.private_data.clone(),
            ..Self::default()
        }
    }

    /// Has no other record of the kind and of the account have its name.
    pub(super) fn with_unique_name(mut self, cx: &RecordContext<'_>) -> Self {
        self.unique_key = Some(unique_name(cx.caller.customer, cx.definition.record_name(&self.fields)));
        self
    }
}

/// Returns the unique key of records that have names of their own in `customer`.
pub(in crate::service) fn unique_name(customer: CustomerId, name: &str) -> String {
    format!("{customer}:{name}")
}

/// Reads the fields of a new record: those of the body, and defaults for the rest.
pub(in crate::service) fn fields_with_defaults(
    table: &'static FieldTable,
    body: &Node,
) -> Result<Map<String, Value>, Vec<ValidationError>> {
    let mut body_values = body_fields(table, body, true)?;
    body_values.retain(|_, value| !value.is_null());
    let mut fields = table.defaults();
    fields.extend(body_values);
    Ok(fields)
}

/// Merges the fields of the body into `old`; null resets a field to its default.
pub(super) fn merged_fields(
    table: &'static FieldTable,
    old: &Map<String, Value>,
    body: &Node,
) -> Result<Map<String, Value>, Vec<ValidationError>> {
    let mut fields = old.clone();
    for (name, value) in body_fields(table, body, false)? {
        let default = || table.field(&name).and_then(crate::schema::field::Field::default_value);
        match if value.is_null() { default() } else { Some(value) } {
            Some(value) => drop(fields.insert(name, value)),
            None => drop(fields.shift_remove(&name)),
        }
    }
    Ok(fields)
}

/// Reads the fields in the body.
pub(super) fn body_fields(
    table: &'static FieldTable,
    body: &Node,
    must_be_complete: bool,
) -> Result<Map<String, Value>, Vec<ValidationError>> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let values = reader.read_fields(table, body, &[], must_be_complete);
    if reader.errors.is_empty() { Ok(values) } else { Err(reader.errors) }
}

/// Creates the error of a field that fits its type and bounds but conflicts with other data.
pub(in crate::service) fn field_conflict_error(
    body: &Node,
    path: &str,
    message: impl Into<String>,
) -> ValidationError {
    ValidationError::new(ValidationErrorKind::Conflict, path, body.position_of(path), message)
}

/// Wraps one validation error.
pub(super) fn invalid_request_error(error: ValidationError) -> ServiceError {
    ServiceError::Invalid(vec![error])
}
