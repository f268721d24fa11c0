//! Timers of the monitors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::domain::{MonitorId, Timestamp};

/// The timers. Each monitor knows its earliest one; others are stale and are skipped when they are due. A result
/// therefore adds a timer only when the next tick is earlier than the one that is set.
#[derive(Default)]
pub(super) struct TimerHeap(BinaryHeap<Reverse<(Timestamp, MonitorId)>>);

impl TimerHeap {
    pub(super) fn push(&mut self, due_at: Timestamp, monitor_id: MonitorId) {
        self.0.push(Reverse((due_at, monitor_id)));
    }

    /// Returns when the next timer is due.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// Removes and returns a timer that is due.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<(Timestamp, MonitorId)> {
        if self.next_at()? > now {
            return None;
        }
        self.0.pop().map(|Reverse(due)| due)
    }
}
