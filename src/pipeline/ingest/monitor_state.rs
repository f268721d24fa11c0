//! The state of a monitor at a location.

use crate::domain::{CheckResult, Outcome};
use crate::store::MonitorLocationState;

/// Returns the state after `result`, or `None` when the state stays. A late result leaves it (architecture.md 4: it
/// corrects history and never alerts). A real result that replaces the missed run of the current state is not late.
#[must_use]
pub fn next_monitor_state(
    previous: Option<&MonitorLocationState>,
    result: &CheckResult,
) -> Option<MonitorLocationState> {
    let planned_at = result.missed.map_or(result.planned_at, |missed| missed.last_planned_at);
    let is_planned_run = result.trigger.is_schedule();
    let previous_slot_at = previous.and_then(|previous| previous.last_slot_at);
    let last_slot_at = if is_planned_run { previous_slot_at.max(Some(planned_at)) } else { previous_slot_at };
    let new_state = |since, streak| MonitorLocationState {
        monitor_id: result.monitor_id,
        location_id: result.location_id,
        check_id: result.check_id,
        planned_at,
        outcome: result.outcome,
        status: result.status,
        duration_us: result.duration_us,
        streak_started_at: since,
        streak,
        last_slot_at,
        // A first check loads the objects beside their own intervals.
        last_full_page_at: match result.details.page_load {
            Some(_) if is_planned_run => Some(result.started_at),
            _ => previous.and_then(|previous| previous.last_full_page_at),
        },
    };
    let state_with_new_streak = new_state(result.planned_at, result.run_count());
    match previous {
        None => Some(state_with_new_streak),
        Some(previous) if planned_at > previous.planned_at && result.outcome == previous.outcome => {
            Some(new_state(previous.streak_started_at, previous.streak.saturating_add(result.run_count())))
        }
        Some(previous) if planned_at > previous.planned_at => Some(state_with_new_streak),
        Some(previous)
            if result.check_id == previous.check_id
                && planned_at == previous.planned_at
                && previous.outcome == Outcome::Missed
                && result.outcome != Outcome::Missed =>
        {
            Some(state_with_new_streak)
        }
        // A run planned before the first check that overtook it: its slot is recorded.
        Some(previous) if last_slot_at > previous.last_slot_at => {
            Some(MonitorLocationState { last_slot_at, ..previous.clone() })
        }
        Some(_) => None,
    }
}
