//! How far the missed runs of a location are recorded.

use std::time::Duration;

use super::remote_agents::AgentsState;
use crate::domain::Timestamp;

/// How long a result may take from the end of its check until it is stored, before its run counts as missed.
const DELIVERY_TIME: Duration = Duration::from_mins(2);
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
    /// Returns a location whose runs count from `now` on.
    pub(super) fn new(now: Timestamp) -> Self {
        Self { swept_until: now - DELIVERY_TIME, last_offline_at: None }
    }

    /// Returns until when its runs may be swept next; `None` when that has to wait.
    pub(super) fn next_sweep_until(&self, agents: AgentsState, now: Timestamp) -> Option<Timestamp> {
        let (until, unswept) = (now - DELIVERY_TIME, (now - DELIVERY_TIME).since(self.swept_until));
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
        let swept = SweptLocation::new(at(2));
        let next = |agents, minute| swept.next_sweep_until(agents, at(minute));
        assert_eq!(next(AgentsState::UpToDate, 2), None);
        assert_eq!(next(AgentsState::UpToDate, 3), Some(at(1)));
        assert_eq!(next(AgentsState::UpToDate, 100), Some(at(15)), "at most 15 minutes at once");
        assert_eq!(next(AgentsState::Offline, 16), None);
        assert_eq!(next(AgentsState::Offline, 17), Some(at(15)));
        assert_eq!(next(AgentsState::Behind, 6 * 60), None);
        assert_eq!(next(AgentsState::Behind, 6 * 60 + 2), Some(at(15)));
    }
}
