//! What the control plane needs to find runs that nobody recorded.

use std::ops::RangeInclusive;

use crate::domain::{LocationId, MonitorId, Timestamp};

use super::future::StoreFuture;

/// Runs of a monitor at a location, by their planned times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRuns {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// From the first to the last of them.
    pub planned_at: RangeInclusive<Timestamp>,
}

/// Stores until when the missed runs of locations are recorded, and finds the recorded runs.
pub trait MissedRunStore: Send + Sync + 'static {
    /// Returns until when missed runs are recorded, for each location that has such a time.
    fn missed_run_sweeps(&self) -> StoreFuture<'_, Vec<(LocationId, Timestamp)>>;

    /// Sets until when the missed runs of each of these locations are recorded.
    fn set_missed_run_sweeps(&self, swept_until: Vec<(LocationId, Timestamp)>) -> StoreFuture<'_, ()>;

    /// Returns when recorded runs were planned, for each of `runs` within it: from the first to the last run of each
    /// result.
    fn recorded_runs(&self, runs: Vec<PlannedRuns>) -> StoreFuture<'_, Vec<Vec<RangeInclusive<Timestamp>>>>;
}
