//! Creates monitors of an account.

use std::sync::Arc;

use super::account_validation::AccountValidationContext;
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use super::save::{save_changes, saved_object};
use crate::domain::MonitorType;
use crate::schema::reader::InputFormat;
use crate::schema::{Origin, validate};
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::syntax::node::Node;

/// Creates a monitor of `monitor_type`.
///
/// # Errors
/// [`ServiceError::Forbidden`] for a role that may not edit, [`ServiceError::Invalid`] with every error of `body`,
/// [`ServiceError::Unavailable`] when the planner has stopped; errors of the store.
pub async fn create(
    service: &MonitorService,
    caller: &Caller,
    monitor_type: MonitorType,
    format: InputFormat,
    body: &Node,
) -> Result<SavedObject, ServiceError> {
    let _lock = service.lock_shared().await;
    let validation = AccountValidationContext::new(service, caller).await?;
    let validated = validate::validate_new(monitor_type, format, body, &validation.validation_context())?;
    let document = Arc::new(validated.document);
    let change = MonitorChange::Create { audit_action: "create", origin: Origin::Api, document };
    let monitors = save_changes(service, caller, vec![change]).await?;
    saved_object(&monitors, validated.warnings)
}
