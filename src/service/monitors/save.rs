//! Saves changes of monitors: sealed, kept with their audit entries, planned, into the roster.

use super::change_set::ChangeSet;
use super::context::MonitorContext;
use super::step::Step;
use crate::schema::Monitor;
use crate::service::caller::{Caller, Refusal, Saved};

/// Keeps all of `steps` or none, with an audit entry each, plans them and takes them into the roster. The
/// caller of this holds [`MonitorContext::alone`], or [`MonitorContext::beside`] when all of `steps` are new.
/// Answers the monitors as they are now, in the order of `steps`; of those that are gone, their last version.
///
/// # Errors
/// [`Refusal::Faults`] when a plan is full, [`Refusal::Unavailable`] when nothing is planned any more, and
/// as the store's. Nothing was changed then.
pub(super) async fn save_all(
    context: &MonitorContext,
    caller: &Caller,
    steps: Vec<Step>,
) -> Result<Vec<Monitor>, Refusal> {
    let parts = &context.parts;
    let facts = parts.directory.facts(caller.customer).await?;
    let reserved = context.places.reserve(&parts.roster, caller.customer, &facts, &steps)?;
    let now = parts.clock.now();
    let mut changes = ChangeSet::default();
    for (place, step) in steps.into_iter().enumerate() {
        if place % 128 == 127 {
            // Thousands of them leave others their turn.
            tokio::task::yield_now().await;
        }
        changes.add(parts, caller, step, now);
    }
    let (parts, caller) = (parts.clone(), caller.clone());
    // A task of its own: a caller that goes away in the middle leaves nothing half done.
    let saving = tokio::spawn(async move { changes.keep(&parts, &caller, reserved).await });
    saving.await.map_err(|_| Refusal::Unavailable("the server is shutting down".to_owned()))?
}

/// What is answered to a change of one monitor.
pub(super) fn saved(monitors: &[Monitor], warnings: Vec<String>) -> Result<Saved, Refusal> {
    let monitor = monitors.first().ok_or(Refusal::NotFound)?;
    Ok(Saved { id: monitor.id.0, revision: monitor.revision.0, warnings, ..Saved::default() })
}
