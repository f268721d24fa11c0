//! When time has something to do with which monitor.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::domain::{MonitorId, Timestamp};

/// The timers. Each monitor knows its earliest one; others of it are stale and are passed over when they come up, so
/// that a result costs no change here as long as the next look is not earlier than the one that is set.
#[derive(Default)]
pub(super) struct TimerHeap(BinaryHeap<Reverse<(Timestamp, MonitorId)>>);

impl TimerHeap {
    pub(super) fn set(&mut self, at: Timestamp, monitor: MonitorId) {
        self.0.push(Reverse((at, monitor)));
    }

    /// The next one.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes one that is due.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<(Timestamp, MonitorId)> {
        if self.next_at()? > now {
            return None;
        }
        self.0.pop().map(|Reverse(due)| due)
    }
}
