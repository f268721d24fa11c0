//! First checks: they set the health of a monitor and nothing else (behaviour.md 3, first check).

use super::alert_state::AlertState;
use super::monitor_health::{FirstCheckHealth, MonitorHealth};
use crate::domain::{Outcome, Timestamp};

impl AlertState {
    /// Takes the outcome of a first check at one location, as the health until a run that is planned later is resolved.
    pub fn on_first_check(&mut self, planned_at: Timestamp, outcome: Outcome) {
        let health = match outcome {
            Outcome::Error => MonitorHealth::Failing,
            Outcome::Ok | Outcome::Warning => MonitorHealth::Up,
            Outcome::Unknown | Outcome::Missed | Outcome::Blackout => MonitorHealth::Unknown,
        };
        let same_or_later_check = self.first_check.filter(|last_check| last_check.planned_at >= planned_at);
        if same_or_later_check.is_none_or(|last_check| {
            last_check.planned_at == planned_at && last_check.health.rank() < health.rank()
        }) {
            self.first_check = Some(FirstCheckHealth { planned_at, health });
        }
    }

    /// Returns the health after the last first check, unless a later run is resolved.
    pub(super) fn first_check_health(&self) -> Option<MonitorHealth> {
        let is_newest = |last_check: &FirstCheckHealth| {
            self.resolved_until.is_none_or(|resolved_until| resolved_until < last_check.planned_at)
        };
        self.first_check.filter(is_newest).map(|last_check| last_check.health)
    }

    /// Takes the runs up to `slot_at` as resolved, at a start without stored state.
    pub fn assume_resolved_until(&mut self, slot_at: Timestamp) {
        if self.resolved_until < Some(slot_at) {
            self.resolved_until = Some(slot_at);
            self.pending_runs.retain(|run| run.planned_at > slot_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    #[test]
    fn a_failure_at_one_location_is_the_health_until_a_later_run_is_resolved() {
        let mut state = AlertState::default();
        state.on_first_check(at(10), Outcome::Ok);
        assert_eq!(state.health(), MonitorHealth::Up);
        state.on_first_check(at(10), Outcome::Error);
        state.on_first_check(at(10), Outcome::Ok);
        assert_eq!(state.health(), MonitorHealth::Failing);
        state.on_first_check(at(9), Outcome::Ok);
        assert_eq!(state.health(), MonitorHealth::Failing, "one of an earlier change");
        state.resolved_until = Some(at(9));
        state.last_run_health = MonitorHealth::BlackedOut;
        assert_eq!(state.health(), MonitorHealth::Failing);
        state.resolved_until = Some(at(60));
        assert_eq!(state.health(), MonitorHealth::BlackedOut);
        state.on_first_check(at(70), Outcome::Ok);
        assert_eq!(state.health(), MonitorHealth::Up, "of the next change");
        assert!(state.is_derivable() && state.open_episode_id().is_none());
    }
}
