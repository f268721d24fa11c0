//! The state of a monitor at a location.

use super::id::{CheckId, LocationId, MonitorId};
use super::status::{Outcome, Status};
use super::time::Timestamp;

/// The current state of a monitor at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorLocationState {
    /// Id of the monitor.
    pub monitor_id: MonitorId,
    /// Id of the location.
    pub location_id: LocationId,
    /// Id of its last recorded check.
    pub check_id: CheckId,
    /// Planned time of that check (of the last slot, for missed runs; see [`CheckResult::planned_at`]).
    ///
    /// [`CheckResult::planned_at`]: super::check_result::CheckResult::planned_at
    pub planned_at: Timestamp,
    /// Outcome of that check.
    pub outcome: Outcome,
    /// Status code of that check.
    pub status: Status,
    /// Duration of that check in microseconds.
    pub duration_us: u64,
    /// Planned time of the first of the consecutive runs with this outcome.
    pub streak_started_at: Timestamp,
    /// Number of consecutive runs with this outcome.
    pub streak: u32,
    /// Planned time of its last planned run, which is not that of its last check after a first check; `None` before it.
    pub last_slot_at: Option<Timestamp>,
    /// Start of the last planned check at this location that loaded the objects of the page.
    pub last_full_page_at: Option<Timestamp>,
}

impl MonitorLocationState {
    /// Whether the last recorded check is a first check. The time of such a check is never that of a planned run.
    #[must_use]
    pub fn last_was_first_check(&self) -> bool {
        self.last_slot_at != Some(self.planned_at)
    }
}
