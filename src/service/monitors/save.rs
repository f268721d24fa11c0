//! Saves changes of monitors: sealed, kept with their audit entries, planned, into the roster.

use super::change_set::ChangeSet;
use super::monitor_change::MonitorChange;
use super::monitor_context::MonitorContext;
use crate::schema::Monitor;
use crate::service::caller::{Caller, SavedObject, ServiceError};

/// Keeps all of `steps` or none, with an audit entry each, plans them and takes them into the roster. The
/// caller of this holds [`MonitorContext::lock_exclusive`], or [`MonitorContext::lock_shared`] when all of `steps` are new.
/// Answers the monitors as they are now, in the order of `steps`; of those that are gone, their last version.
///
/// # Errors
/// [`ServiceError::Invalid`] when a plan is full, [`ServiceError::Unavailable`] when nothing is planned any more, and
/// as the store's. Nothing was changed then.
pub(super) async fn save_all(
    context: &MonitorContext,
    caller: &Caller,
    steps: Vec<MonitorChange>,
) -> Result<Vec<Monitor>, ServiceError> {
    let dependencies = &context.dependencies;
    let facts = dependencies.accounts.facts(caller.customer).await?;
    let reserved = context.plan_quota.reserve(&dependencies.monitors, caller.customer, &facts, &steps)?;
    let now = dependencies.clock.now();
    let mut changes = ChangeSet::default();
    for (place, step) in steps.into_iter().enumerate() {
        if place % 128 == 127 {
            // Thousands of them leave others their turn.
            tokio::task::yield_now().await;
        }
        changes.push(dependencies, caller, step, now);
    }
    let (dependencies, caller) = (dependencies.clone(), caller.clone());
    // A task of its own: a caller that goes away in the middle leaves nothing half done.
    let saving = tokio::spawn(async move { changes.commit(&dependencies, &caller, reserved).await });
    saving.await.map_err(|_| ServiceError::Unavailable("the server is shutting down".to_owned()))?
}

/// What is answered to a change of one monitor.
pub(super) fn saved_object(monitors: &[Monitor], warnings: Vec<String>) -> Result<SavedObject, ServiceError> {
    let monitor = monitors.first().ok_or(ServiceError::NotFound)?;
    Ok(SavedObject { id: monitor.id.0, revision: monitor.revision.0, warnings, ..SavedObject::default() })
}
