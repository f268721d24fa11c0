//! Monitors of `vigie apply` that a person typed into a page, as in a file.

use serde_json::{Value, json};

use super::apply::{ApplyOptions, MonitorDefinition};
use super::apply_request::parse_apply_request;
use crate::domain::CustomerId;
use crate::schema::monitor_file::{FileMonitor, KeyPolicy, parse_monitor_files, to_apply_entry};
use crate::schema::reader::reject_secret_sources;
use crate::schema::validation_context::ValidationContext;
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Reads monitors in YAML or JSON. Secrets stand in the text: files and variables of the server are none of its author's.
///
/// # Errors
/// [`ServiceError::Invalid`] with every error and its line.
pub fn parse_apply_text(
    text: &str,
    prune: bool,
) -> Result<(Vec<MonitorDefinition>, ApplyOptions), ServiceError> {
    let files = [(String::new(), text.to_owned())];
    let context = ValidationContext::default();
    let parsed = parse_monitor_files(&files, KeyPolicy::Required, &context, &reject_secret_sources);
    let mut errors = parsed.errors;
    errors.extend(
        parsed.monitors.iter().filter(|monitor| monitor.customer != CustomerId::OPERATOR).map(no_customer),
    );
    if !errors.is_empty() {
        errors.sort_by_key(|error| error.position);
        return Err(ServiceError::Invalid(errors));
    }
    let entries: Vec<Value> =
        parsed.monitors.iter().map(|monitor| Value::Object(to_apply_entry(monitor))).collect();
    parse_apply_request(Node::from(json!({"monitors": entries, "dry_run": true, "prune": prune})))
}

fn no_customer(monitor: &FileMonitor) -> ValidationError {
    let message = "`customer` is for files on the server; here you determine the account";
    ValidationError::new(ValidationErrorKind::Conflict, "customer", monitor.position, message)
        .with_hint("remove it")
}
