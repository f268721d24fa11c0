//! Which monitors changed lately, for readers that keep what they derive from monitors.

use std::collections::VecDeque;

use crate::domain::MonitorId;
use crate::sync::Mutex;

/// Most changes that are kept. A reader that is further behind reads everything.
const MAX_CHANGES: usize = 100_000;

/// The monitors that changed, in order. Each reader keeps its own position.
#[derive(Debug, Default)]
pub struct MonitorChangeLog {
    state: Mutex<LogState>,
}

#[derive(Debug, Default)]
struct LogState {
    /// Number of changes that are no longer kept.
    dropped: u64,
    changed: VecDeque<MonitorId>,
}

/// What changed since a position of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorChanges {
    /// The position after these changes.
    pub position: u64,
    /// The monitors, maybe more than once; `None` when any monitor may have changed.
    pub monitors: Option<Vec<MonitorId>>,
}

impl MonitorChangeLog {
    /// Records that `monitors` changed.
    pub fn record(&self, monitors: impl Iterator<Item = MonitorId>) {
        let mut state = self.state.lock();
        state.changed.extend(monitors);
        let excess = state.changed.len().saturating_sub(MAX_CHANGES);
        state.changed.drain(..excess);
        state.dropped += excess as u64;
    }

    /// Records that any monitor may have changed.
    pub fn record_all(&self) {
        let mut state = self.state.lock();
        // A reader that has seen every change so far must be behind, too.
        state.dropped += state.changed.len() as u64 + 1;
        state.changed.clear();
    }

    /// Returns the changes after `position`; all monitors for a reader that has none yet.
    pub fn since(&self, position: Option<u64>) -> MonitorChanges {
        let state = self.state.lock();
        let end = state.dropped + state.changed.len() as u64;
        let seen = position.and_then(|position| usize::try_from(position.checked_sub(state.dropped)?).ok());
        let monitors = seen.map(|seen| state.changed.iter().skip(seen).copied().collect());
        MonitorChanges { position: end, monitors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(range: std::ops::Range<i64>) -> impl Iterator<Item = MonitorId> {
        range.map(MonitorId)
    }

    #[test]
    fn a_reader_gets_what_changed_since_it_last_asked() {
        let log = MonitorChangeLog::default();
        log.record(ids(1..3));
        let first = log.since(None);
        assert_eq!(first.monitors, None, "a reader without a position has to read everything");
        log.record(ids(7..8));
        let next = log.since(Some(first.position));
        assert_eq!(next.monitors, Some(vec![MonitorId(7)]));
        assert_eq!(log.since(Some(next.position)).monitors, Some(vec![]));
        log.record_all();
        let all = log.since(Some(next.position));
        assert_eq!(all.monitors, None);
        assert_eq!(log.since(Some(all.position)).monitors, Some(vec![]));
    }

    #[test]
    fn a_reader_that_is_far_behind_reads_everything() {
        let log = MonitorChangeLog::default();
        log.record(ids(0..1));
        let position = log.since(None).position;
        let most = i64::try_from(MAX_CHANGES).unwrap();
        log.record(ids(0..most));
        assert_eq!(log.since(Some(position)).monitors.unwrap().len(), MAX_CHANGES);
        log.record(ids(0..1));
        assert_eq!(log.since(Some(position)).monitors, None);
    }
}
