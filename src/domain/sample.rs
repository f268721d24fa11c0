//! Inputs of statistics: single results without their details.

use super::id::LocationId;
use super::status::Outcome;
use super::time::Timestamp;

/// The outcome and duration of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Planned time of the run; for a series of missed runs, of the first.
    pub planned_at: Timestamp,
    /// Location of the check.
    pub location_id: LocationId,
    /// Outcome of the check.
    pub outcome: Outcome,
    /// Duration in microseconds; for a full page, without its objects.
    pub duration_us: u64,
    /// Duration of the full page with all objects, in microseconds; `None` where none was loaded.
    pub full_page_us: Option<u64>,
    /// Whether it is an error that is suppressed, since a monitor that it depends on is down.
    pub is_suppressed_by_dependency: bool,
    /// Number of runs that it covers: more than one for a series of missed runs.
    pub covered_run_count: u32,
}

/// The mean duration of the checks of a monitor at a location, kept as their number and sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationMeanDuration {
    /// Location of the checks.
    pub location_id: LocationId,
    /// Number of checks that passed; the durations of failed checks are not counted.
    pub check_count: u64,
    /// Sum of their durations, in microseconds.
    pub sum_us: u64,
}

impl LocationMeanDuration {
    /// Returns the mean in microseconds; `None` without a check.
    #[must_use]
    pub fn mean_us(&self) -> Option<u64> {
        self.sum_us.checked_div(self.check_count)
    }
}
