//! Pauses and resumes monitors.

use std::sync::Arc;

use super::access::find_own_monitor;
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use super::save::{save_changes, saved_object};
use crate::domain::{MonitorId, Permission, Timestamp};
use crate::schema::{Monitor, MonitorMetadata};
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::syntax::node::Position;
use crate::syntax::{ValidationError, ValidationErrorKind};

/// Pauses a monitor until `until`, without recording missed runs; also monitors defined in files.
///
/// # Errors
/// [`ServiceError::NotFound`], [`ServiceError::Invalid`] when `until` is not in the future; errors of the store.
pub async fn pause_monitor(
    service: &MonitorService,
    caller: &Caller,
    id: MonitorId,
    until: Timestamp,
) -> Result<SavedObject, ServiceError> {
    caller.require_permission(Permission::Edit)?;
    if until <= service.dependencies.clock.now() {
        let message = format!("`until` must be in the future, not `{until}`");
        let error = ValidationError::new(ValidationErrorKind::Range, "until", Position::default(), message);
        return Err(ServiceError::Invalid(vec![error.with_value(until.to_string())]));
    }
    set_paused_until(service, caller, id, "pause", until).await
}

/// Ends a pause. A monitor that is not paused stays unchanged.
///
/// # Errors
/// [`ServiceError::NotFound`]; errors of the store.
pub async fn resume_monitor(
    service: &MonitorService,
    caller: &Caller,
    id: MonitorId,
) -> Result<SavedObject, ServiceError> {
    caller.require_permission(Permission::Edit)?;
    let now = service.dependencies.clock.now();
    // Stores the end of the pause: earlier slots must not count as missed, not even after a restart.
    set_paused_until(service, caller, id, "resume", now).await
}

/// Stores the end of the pause. With the action `resume`, a monitor that is not paused stays unchanged.
async fn set_paused_until(
    service: &MonitorService,
    caller: &Caller,
    id: MonitorId,
    audit_action: &'static str,
    until: Timestamp,
) -> Result<SavedObject, ServiceError> {
    let _lock = service.lock_exclusive().await;
    let old = find_own_monitor(&service.dependencies.monitor_cache, caller, id)?;
    let now = service.dependencies.clock.now();
    let is_paused = old.metadata.paused_until.is_some_and(|until| until > now);
    if audit_action == "resume" && !is_paused {
        return saved_object(&[old], Vec::new());
    }
    let metadata = MonitorMetadata { paused_until: Some(until), ..(*old.metadata).clone() };
    let document = Arc::clone(&old.document);
    let change =
        MonitorChange::Update { audit_action, old: Box::new(old), document, metadata, new_origin: None };
    let monitors = save_changes(service, caller, vec![change]).await?;
    register_pauses(service, &monitors);
    saved_object(&monitors, Vec::new())
}

/// Registers the pauses of `monitors` for [`resume_due_monitors`].
pub fn register_pauses(service: &MonitorService, monitors: &[Monitor]) {
    service.pause_ends.register(monitors, service.dependencies.clock.now());
}

/// Plans the monitors whose pause is over; called about once a second.
pub async fn resume_due_monitors(service: &MonitorService, now: Timestamp) {
    let due_pauses = service.pause_ends.take_due(now);
    if due_pauses.is_empty() {
        return;
    }
    let _lock = service.lock_exclusive().await;
    let monitor_with_this_pause = |(until, id): (Timestamp, MonitorId)| {
        service
            .dependencies
            .monitor_cache
            .get(id)
            .filter(|monitor| monitor.metadata.paused_until == Some(until))
    };
    let resumed: Vec<Monitor> = due_pauses.into_iter().filter_map(monitor_with_this_pause).collect();
    if !resumed.is_empty()
        && let Err(error) = service.dependencies.planner.apply_monitor_changes(resumed, Vec::new()).await
    {
        tracing::debug!(error = %error, "failed to plan monitors whose pause ended; the next start plans them");
    }
}
