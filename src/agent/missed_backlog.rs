//! The backlog of missed runs that wait for delivery to the sink.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::assignment::Assignment;
use crate::domain::{CheckResult, MissedReason, MissedRuns, MonitorId, Timestamp};
use crate::schedule::{LocationSlotGrid, MissedSlots};

/// Series of missed runs, at most [`MAX_SERIES_PER_MONITOR`] for each monitor. A series is merged into the last one
/// when it directly follows it for the same reason, or when the monitor has its maximum. So memory is bounded however
/// long the sink accepts nothing, and every slot is counted.
#[derive(Debug, Default)]
pub struct MissedRunBacklog {
    series_by_monitor: HashMap<MonitorId, VecDeque<MissedRunSeries>>,
    /// Monitors with waiting series, in the order of their turns: one series each.
    monitor_order: VecDeque<MonitorId>,
}

/// One series of missed runs of one monitor.
#[derive(Clone)]
pub struct MissedRunSeries {
    /// The monitor, as assigned at that time.
    pub assignment: Arc<Assignment>,
    /// Why they did not happen.
    pub reason: MissedReason,
    /// The missed slots.
    pub slots: MissedSlots,
    /// When the first of them was detected.
    pub detected_at: Timestamp,
}

/// Maximum number of separate series of one monitor.
pub const MAX_SERIES_PER_MONITOR: usize = 4;

impl MissedRunBacklog {
    /// Adds `series` of a monitor with the slots of `slot_grid`.
    pub fn push(&mut self, series: MissedRunSeries, slot_grid: &LocationSlotGrid) {
        let id = series.assignment.monitor_id;
        let waiting = self.series_by_monitor.entry(id).or_default();
        if waiting.is_empty() {
            self.monitor_order.push_back(id);
        }
        let is_full = waiting.len() >= MAX_SERIES_PER_MONITOR;
        match waiting.back_mut() {
            Some(last) if is_full || last.is_continued_by(&series, slot_grid) => last.merge(&series),
            _ => waiting.push_back(series),
        }
    }

    /// Removes and returns the oldest series of the monitor whose turn it is.
    pub fn pop_next(&mut self) -> Option<MissedRunSeries> {
        let id = self.monitor_order.pop_front()?;
        let waiting = self.series_by_monitor.get_mut(&id)?;
        let series = waiting.pop_front();
        if waiting.is_empty() {
            self.series_by_monitor.remove(&id);
        } else {
            self.monitor_order.push_back(id);
        }
        series
    }

    /// Whether no series waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.monitor_order.is_empty()
    }
}

impl MissedRunSeries {
    fn is_continued_by(&self, next: &Self, slot_grid: &LocationSlotGrid) -> bool {
        self.reason == next.reason
            && self.assignment.revision == next.assignment.revision
            && slot_grid.next_slot_after(self.slots.last) == next.slots.first
    }

    fn merge(&mut self, next: &Self) {
        self.slots.last = next.slots.last;
        self.slots.count = self.slots.count.saturating_add(next.slots.count);
    }

    /// Converts the series to its record.
    #[must_use]
    pub fn to_result(&self) -> CheckResult {
        let missed_runs = MissedRuns {
            reason: self.reason,
            run_count: u32::try_from(self.slots.count).unwrap_or(u32::MAX),
            last_planned_at: self.slots.last,
        };
        CheckResult::from_missed_runs(
            self.assignment.check_metadata(),
            self.slots.first,
            self.detected_at,
            missed_runs,
        )
    }
}

impl std::fmt::Debug for MissedRunSeries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MissedSeries")
            .field("monitor_id", &self.assignment.monitor_id)
            .field("reason", &self.reason)
            .field("slots", &self.slots)
            .finish_non_exhaustive()
    }
}
