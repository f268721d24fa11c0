//! What figures are made of: single results without their details.

use super::id::LocationId;
use super::status::Outcome;
use super::time::Timestamp;

/// What one check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its run; of a series of missed ones, the first.
    pub planned_at: Timestamp,
    /// Where.
    pub location: LocationId,
    /// What it came to.
    pub outcome: Outcome,
    /// How long it took, in microseconds; of a full page, without its objects.
    pub total_us: u64,
    /// How long the full page took, with all objects, in microseconds; `None` where none was loaded.
    pub full_page_us: Option<u64>,
    /// How many runs it stands for.
    pub slots: u32,
}

/// The mean time of the checks of a monitor at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeanDuration {
    /// Where.
    pub location: LocationId,
    /// Checks that passed; the others have no time that means anything.
    pub checks: u64,
    /// The sum of their times, in microseconds.
    pub sum_us: u64,
}

impl MeanDuration {
    /// The mean, in microseconds; `None` without a check.
    #[must_use]
    pub fn mean_us(&self) -> Option<u64> {
        self.sum_us.checked_div(self.checks)
    }
}
