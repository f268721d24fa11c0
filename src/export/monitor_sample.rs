//! The values of a monitor, as a page of metrics has them.

use std::sync::Arc;

use crate::domain::{LocationId, Outcome, Status};
use crate::telemetry::{DurationHistogram, ResultFigures};

/// The values of a monitor.
#[derive(Clone, Debug)]
pub struct MonitorSample {
    /// Labels that all its series have, as [`push_label`](super::push_label) writes them.
    pub labels: Box<str>,
    /// Why it has no values now, such as `paused`; it has an outcome with this name alone.
    pub idle_reason: Option<&'static str>,
    /// Whether an outage is open; `None` where nobody knows.
    pub has_open_outage: Option<bool>,
    /// Error budgets of its agreements.
    pub budgets: Box<[BudgetSample]>,
    /// Its values by location.
    pub locations: Box<[LocationSample]>,
}

/// What is left of the error budget of a goal.
#[derive(Clone, Debug)]
pub struct BudgetSample {
    /// The labels `sla` and `goal`.
    pub labels: Box<str>,
    /// Share of the budget that is left, 1 for all of it.
    pub left_ratio: f64,
}

/// The last check of a monitor at a location.
#[derive(Clone, Debug)]
pub struct LocationSample {
    /// The location.
    pub location: LocationId,
    /// Outcome.
    pub outcome: Outcome,
    /// Status code.
    pub status: Status,
    /// Duration in microseconds.
    pub duration_us: u64,
    /// What only the result itself knows.
    pub figures: Arc<ResultFigures>,
    /// Durations of its checks since the server started; `None` where they are not counted.
    pub histogram: Option<Box<DurationHistogram>>,
}
