//! The state of a monitor at a location.

use crate::domain::{CheckResult, Outcome};
use crate::store::MonitorState;

/// Returns the state after `result`, or `None` when the state stays. A late result leaves it (architecture.md 4: it
/// corrects history and never alerts). A real result that replaces the missed run of the current state is not late.
#[must_use]
pub fn next_monitor_state(before: Option<&MonitorState>, result: &CheckResult) -> Option<MonitorState> {
    let planned_at = result.missed.map_or(result.planned_at, |missed| missed.last_planned_at);
    let fresh = |since, streak| MonitorState {
        monitor_id: result.monitor_id,
        location_id: result.location_id,
        check_id: result.check_id,
        planned_at,
        outcome: result.outcome,
        status: result.status,
        duration_us: result.duration_us,
        streak_started_at: since,
        streak,
        last_full_page_at: match result.details.page_load {
            Some(_) => Some(result.started_at),
            None => before.and_then(|before| before.last_full_page_at),
        },
    };
    let new_streak = fresh(result.planned_at, result.run_count());
    match before {
        None => Some(new_streak),
        Some(before) if planned_at > before.planned_at && result.outcome == before.outcome => {
            Some(fresh(before.streak_started_at, before.streak.saturating_add(result.run_count())))
        }
        Some(before) if planned_at > before.planned_at => Some(new_streak),
        Some(before)
            if result.check_id == before.check_id
                && planned_at == before.planned_at
                && before.outcome == Outcome::Missed
                && result.outcome != Outcome::Missed =>
        {
            Some(new_streak)
        }
        Some(_) => None,
    }
}
