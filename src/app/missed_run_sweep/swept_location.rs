//! How far the missed runs of a location are recorded.

use std::time::Duration;

use super::remote_agents::AgentsState;
use crate::domain::Timestamp;

/// Time that is swept at once at most, and at least while the location is offline: its missed runs become few series.
const MAX_WINDOW: Duration = Duration::from_mins(15);
/// How long runs are not recorded as missed at most because agents still have to send results.
const MAX_BACKLOG_WAIT: Duration = Duration::from_hours(6);

/// How far the missed runs of a location are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SweptLocation {
    /// Missed runs that had to be done until then are recorded.
    pub(super) swept_until: Timestamp,
    /// When it was seen without a live agent last.
    pub(super) last_offline_at: Option<Timestamp>,
}

impl SweptLocation {
    /// Returns a location whose runs count from `from` on.
    pub(super) fn new(from: Timestamp) -> Self {
        Self { swept_until: from, last_offline_at: None }
    }

    /// Returns until when its runs may be swept next; `None` when that has to wait. Results of checks that ended until
    /// `until` must have come.
    pub(super) fn next_sweep_until(&self, agents: AgentsState, until: Timestamp) -> Option<Timestamp> {
        let unswept = until.since(self.swept_until);
        let is_due = match agents {
            AgentsState::Offline => unswept >= MAX_WINDOW,
            AgentsState::Behind => unswept >= MAX_BACKLOG_WAIT,
            AgentsState::UpToDate => until > self.swept_until,
        };
        is_due.then(|| until.min(self.swept_until + MAX_WINDOW))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_seconds(1_800_000_000 + 60 * minute)
    }

    #[test]
    fn runs_are_swept_when_their_results_must_have_come() {
        let swept = SweptLocation::new(at(0));
        let next = |agents, minute| swept.next_sweep_until(agents, at(minute));
        assert_eq!(next(AgentsState::UpToDate, 0), None);
        assert_eq!(next(AgentsState::UpToDate, 1), Some(at(1)));
        assert_eq!(next(AgentsState::UpToDate, 98), Some(at(15)), "at most 15 minutes at once");
        assert_eq!(next(AgentsState::Offline, 14), None);
        assert_eq!(next(AgentsState::Offline, 15), Some(at(15)));
        assert_eq!(next(AgentsState::Behind, 6 * 60 - 1), None);
        assert_eq!(next(AgentsState::Behind, 6 * 60), Some(at(15)));
    }
}
