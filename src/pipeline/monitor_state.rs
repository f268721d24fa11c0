//! What a result does to the state of its monitor at its location.

use crate::domain::{CheckResult, Outcome};
use crate::store::MonitorState;

/// The state after `result`; `None` when it changes nothing, as late news does (architecture.md 4:
/// it corrects history and never alerts). A real result that replaces the missed run that the state
/// shows is no late news.
#[must_use]
pub fn next_state(before: Option<&MonitorState>, result: &CheckResult) -> Option<MonitorState> {
    let planned_at = result.missed.map_or(result.planned_at, |missed| missed.last_planned_at);
    let fresh = |since, streak| MonitorState {
        monitor_id: result.monitor_id,
        location_id: result.location_id,
        check_id: result.check_id,
        planned_at,
        outcome: result.outcome,
        status: result.status,
        total_us: result.total_us,
        since,
        streak,
        full_page_at: match result.details.page {
            Some(_) => Some(result.started_at),
            None => before.and_then(|before| before.full_page_at),
        },
    };
    let alone = fresh(result.planned_at, result.slots());
    match before {
        None => Some(alone),
        Some(before) if planned_at > before.planned_at && result.outcome == before.outcome => {
            Some(fresh(before.since, before.streak.saturating_add(result.slots())))
        }
        Some(before) if planned_at > before.planned_at => Some(alone),
        Some(before)
            if result.check_id == before.check_id
                && planned_at == before.planned_at
                && before.outcome == Outcome::Missed
                && result.outcome != Outcome::Missed =>
        {
            Some(alone)
        }
        Some(_) => None,
    }
}
