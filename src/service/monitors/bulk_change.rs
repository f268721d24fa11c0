//! The parts that all changes of several monitors share: selection, authorization and error collection.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::access::require_not_file_managed;
use super::account_validation::AccountValidationContext;
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use super::save::save_changes;
use crate::domain::{MonitorId, Permission};
use crate::schema::Monitor;
use crate::schema::reader::{FieldReader, InputFormat, reject_secret_sources};
use crate::schema::table::FieldTable;
use crate::schema::validate::ValidatedDocument;
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::node::{Node, Position};
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Most errors, and most warnings, in one response; a last entry says how many more there are.
const MAX_LISTED_ERRORS: usize = 100;

/// Reads the fields of `body` according to `table`, or returns all its errors.
pub(super) fn read_request_body(
    table: &'static FieldTable,
    body: &Node,
) -> Result<Map<String, Value>, ServiceError> {
    let mut reader = FieldReader::new(InputFormat::V3, &reject_secret_sources);
    let fields = reader.read_complete_fields(table, body);
    if reader.errors.is_empty() { Ok(fields) } else { Err(ServiceError::Invalid(reader.errors)) }
}

/// Returns the ids under `monitors`, without duplicates.
pub(super) fn requested_monitor_ids(fields: &Map<String, Value>) -> Vec<MonitorId> {
    let mut seen = HashSet::new();
    let ids = fields.get("monitors").and_then(Value::as_array).into_iter().flatten();
    ids.filter_map(Value::as_i64).filter(|id| seen.insert(*id)).map(MonitorId).collect()
}

/// Collects the errors of several monitors, each with the monitor that it concerns.
#[derive(Debug, Default)]
pub(super) struct ErrorCollector {
    errors: Vec<ValidationError>,
    unlisted_count: usize,
}

impl ErrorCollector {
    /// Adds `errors` of `monitor_label`, such as ``monitor `7` ``.
    pub(super) fn add_all(&mut self, monitor_label: &str, errors: impl IntoIterator<Item = ValidationError>) {
        for mut error in errors {
            if self.errors.len() < MAX_LISTED_ERRORS {
                error.message = format!("{monitor_label}: {}", error.message);
                self.errors.push(error);
            } else {
                self.unlisted_count += 1;
            }
        }
    }

    /// Adds one error of `monitor_label`.
    pub(super) fn add(
        &mut self,
        monitor_label: &str,
        kind: ValidationErrorKind,
        path: &str,
        message: impl Into<String>,
    ) {
        self.add_all(monitor_label, [ValidationError::new(kind, path, Position::default(), message)]);
    }

    /// Fails when there are errors.
    pub(super) fn into_result(mut self) -> Result<(), ServiceError> {
        if self.unlisted_count > 0 {
            let message = format!("{} more errors are not listed", self.unlisted_count);
            self.errors.push(ValidationError::new(
                ValidationErrorKind::Conflict,
                "monitors",
                Position::default(),
                message,
            ));
        }
        if self.errors.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(self.errors)) }
    }
}

/// Returns the label of a monitor in messages.
pub(super) fn monitor_label(id: MonitorId) -> String {
    format!("monitor `{id}`")
}

/// Changes all monitors in `fields["monitors"]`, or none. `change_monitor` returns the new document of a monitor, or
/// adds errors; it runs on a blocking thread. Returns the warnings of all monitors.
///
/// # Errors
/// [`ServiceError::Forbidden`] for a role that may not edit, and for an id that is not the account's or a file's;
/// [`ServiceError::Invalid`] with each monitor that cannot be changed; errors of the store.
pub(super) async fn change_monitors(
    service: &MonitorService,
    caller: &Caller,
    audit_action: &'static str,
    request_fields: Map<String, Value>,
    mut change_monitor: impl FnMut(
        &Monitor,
        &Map<String, Value>,
        &AccountValidationContext,
        &mut ErrorCollector,
    ) -> Option<ValidatedDocument>
    + Send
    + 'static,
) -> Result<Vec<String>, ServiceError> {
    let _lock = service.lock_exclusive().await;
    let validation = AccountValidationContext::new(service, caller).await?;
    let monitors = changeable_monitors(service, caller, &requested_monitor_ids(&request_fields))?;
    let task = tokio::task::spawn_blocking(move || {
        let (mut monitor_changes, mut collector) =
            (Vec::with_capacity(monitors.len()), ErrorCollector::default());
        let mut warnings = Vec::new();
        for old in monitors {
            if let Some(validated) = change_monitor(&old, &request_fields, &validation, &mut collector) {
                let label = monitor_label(old.id);
                warnings.extend(validated.warnings.iter().map(|warning| format!("{label}: {warning}")));
                let (document, metadata) = (Arc::new(validated.document), (*old.metadata).clone());
                monitor_changes.push(MonitorChange::Update {
                    audit_action,
                    old: Box::new(old),
                    document,
                    metadata,
                    new_origin: None,
                });
            }
        }
        collector.into_result().map(|()| (monitor_changes, warnings))
    });
    let server_stopping = |_| ServiceError::Unavailable("the server is shutting down".to_owned());
    let (monitor_changes, mut warnings) = task.await.map_err(server_stopping)??;
    save_changes(service, caller, monitor_changes).await?;
    if let Some(unlisted_count) =
        warnings.len().checked_sub(MAX_LISTED_ERRORS).filter(|unlisted_count| *unlisted_count > 0)
    {
        warnings.truncate(MAX_LISTED_ERRORS);
        warnings.push(format!("{unlisted_count} more warnings are not listed"));
    }
    Ok(warnings)
}

/// Returns the monitors with these ids if the caller may change all of them.
fn changeable_monitors(
    service: &MonitorService,
    caller: &Caller,
    ids: &[MonitorId],
) -> Result<Vec<Monitor>, ServiceError> {
    caller.require_permission(Permission::Edit)?;
    ids.iter()
        .map(|id| {
            let monitor = service.dependencies.monitor_cache.get_for_customer(caller.customer, *id);
            let monitor = monitor.ok_or_else(|| {
                ServiceError::Forbidden(format!("Monitor `{id}` does not exist; nothing was changed"))
            })?;
            match require_not_file_managed(&monitor) {
                Err(ServiceError::Forbidden(reason)) => {
                    Err(ServiceError::Forbidden(format!("Monitor `{id}`: {reason}; nothing was changed")))
                }
                Err(other) => Err(other),
                Ok(()) => Ok(monitor),
            }
        })
        .collect()
}
