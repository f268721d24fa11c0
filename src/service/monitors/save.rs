//! Saves changes of monitors: stores them with their audit entries, plans them and updates the monitor cache.

use super::change_set::ChangeSet;
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use crate::schema::Monitor;
use crate::service::caller::{Caller, SavedObject, ServiceError};

/// Saves all of `monitor_changes` or none, with an audit entry each, plans them and updates the monitor cache.
/// Callers hold [`MonitorService::lock_exclusive`], or [`MonitorService::lock_shared`] when all of `monitor_changes`
/// are creates. Returns the monitors as they are now, in the order of `monitor_changes`; for removed ones, their last
/// revision.
///
/// # Errors
/// [`ServiceError::Invalid`] when a billing plan is full, [`ServiceError::Unavailable`] when the planner has stopped;
/// errors of the store. Nothing was changed then.
pub(super) async fn save_changes(
    service: &MonitorService,
    caller: &Caller,
    monitor_changes: Vec<MonitorChange>,
) -> Result<Vec<Monitor>, ServiceError> {
    let dependencies = &service.dependencies;
    let account = dependencies.account_cache.account(caller.customer).await?;
    let reservation = service.billing_plan_reservations.reserve(
        &dependencies.monitor_cache,
        caller.customer,
        &account,
        &monitor_changes,
    )?;
    let now = dependencies.clock.now();
    let mut change_set = ChangeSet::default();
    for (index, change) in monitor_changes.into_iter().enumerate() {
        if index % 128 == 127 {
            // Thousands of changes must not starve other tasks.
            tokio::task::yield_now().await;
        }
        change_set.push(dependencies, caller, change, now);
    }
    let (dependencies, caller) = (dependencies.clone(), caller.clone());
    // A separate task: it completes even if the caller is cancelled.
    let commit_task =
        tokio::spawn(async move { change_set.commit(&dependencies, &caller, reservation).await });
    commit_task.await.map_err(|_| ServiceError::Unavailable("the server is shutting down".to_owned()))?
}

/// Returns the response to a change of one monitor.
pub(super) fn saved_object(monitors: &[Monitor], warnings: Vec<String>) -> Result<SavedObject, ServiceError> {
    let monitor = monitors.first().ok_or(ServiceError::NotFound)?;
    Ok(SavedObject { id: monitor.id.0, revision: monitor.revision.0, warnings, ..SavedObject::default() })
}
