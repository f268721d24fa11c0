//! Upcoming ends of pauses.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::domain::{MonitorId, Timestamp};
use crate::schema::Monitor;
use crate::sync::Mutex;

/// Ends of pauses at which monitors are still to be planned again.
#[derive(Default)]
pub(super) struct PauseEnds(Mutex<BTreeSet<(Timestamp, MonitorId)>>);

impl PauseEnds {
    /// Registers the pauses of `monitors` that end after `now`.
    pub(super) fn register(&self, monitors: &[Monitor], now: Timestamp) {
        let ends = monitors.iter().filter_map(|monitor| Some((monitor.metadata.paused_until?, monitor.id)));
        self.0.lock().extend(ends.filter(|(until, _)| *until > now));
    }

    /// Removes and returns the pauses that are over at `now`.
    pub(super) fn take_due(&self, now: Timestamp) -> BTreeSet<(Timestamp, MonitorId)> {
        let mut ends = self.0.lock();
        let not_due = ends.split_off(&(now + Duration::from_micros(1), MonitorId(i64::MIN)));
        std::mem::replace(&mut *ends, not_due)
    }
}
