//! Rollups: statistics by hour and day.

use crate::domain::{LocationId, MonitorId, Timestamp};

/// Width of a rollup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RollupSpan {
    /// One hour, UTC.
    Hour,
    /// One day, UTC.
    Day,
}

/// Statistics of one monitor at one location over an hour or a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Rollup {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Start of the hour or day.
    pub start: Timestamp,
    /// Runs by outcome, in the order of [`Outcome::ALL`](crate::domain::Outcome::ALL).
    pub runs_by_outcome: [u64; 6],
    /// Mean duration of ok and warning runs in microseconds; `None` when there are none.
    pub mean_duration_us: Option<u64>,
    /// Percentiles 50, 75, 90, 95, 99 of the same, in microseconds.
    pub duration_percentiles_us: Option<[u64; 5]>,
}
