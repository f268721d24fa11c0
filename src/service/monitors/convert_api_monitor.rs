//! Converts single-request API monitors to steps (behaviour.md 1, convert-api).

use std::sync::Arc;

use serde_json::json;

use super::access::{ExpectedRevision, find_changeable_monitor, find_own_monitor};
use super::account_validation::AccountValidationContext;
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use super::save::{save_changes, saved_object};
use crate::domain::{MonitorId, MonitorType};
use crate::schema::reader::InputFormat;
use crate::schema::validate;
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::syntax::node::Node;

/// Converts a single-request API monitor of type `monitor_type` to an equivalent step 1.
///
/// # Errors
/// [`ServiceError::NotFound`] when no monitor of this type has the id, [`ServiceError::Conflict`] when it has steps
/// already; otherwise like [`super::patch`].
pub async fn convert_single_request_to_steps(
    service: &MonitorService,
    caller: &Caller,
    id: MonitorId,
    monitor_type: MonitorType,
    if_match: ExpectedRevision,
) -> Result<SavedObject, ServiceError> {
    let _lock = service.lock_exclusive().await;
    let validation = AccountValidationContext::new(service, caller).await?;
    let supports_steps = matches!(monitor_type, MonitorType::WebsiteApi | MonitorType::WebsiteSslApi);
    if !supports_steps
        || find_own_monitor(&service.dependencies.monitor_cache, caller, id)?.monitor_type() != monitor_type
    {
        return Err(ServiceError::NotFound);
    }
    let old = find_changeable_monitor(&service.dependencies.monitor_cache, caller, id, if_match)?;
    let document = &old.document;
    let Some(url) = document.url().filter(|_| !document.has_api_steps()) else {
        return Err(ServiceError::Conflict("This monitor has API steps already".to_owned()));
    };
    let step = json!({
        "url": url,
        "http_method": document.value("http_method").unwrap_or(&json!("GET")),
        "head": {},
        "step_name": "Step 1",
        "step_number": 1,
        "assertions": document.value("assertions").unwrap_or(&json!([])),
    });
    let body = json!({"api_steps": [step], "url": null, "http_method": null, "assertions": null});
    let validated = validate::merge_and_validate(
        document,
        InputFormat::V3,
        &Node::from(body),
        &validation.validation_context(),
    )?;
    let (document, metadata) = (Arc::new(validated.document), (*old.metadata).clone());
    let change = MonitorChange::Update {
        audit_action: "convert-api",
        old: Box::new(old),
        document,
        metadata,
        new_origin: None,
    };
    let monitors = save_changes(service, caller, vec![change]).await?;
    saved_object(&monitors, validated.warnings)
}
