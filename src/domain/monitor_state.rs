//! Where a monitor stands at a location.

use super::id::{CheckId, LocationId, MonitorId};
use super::status::{Outcome, Status};
use super::time::Timestamp;

/// Where a monitor stands at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorState {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Its last recorded check.
    pub check_id: CheckId,
    /// Planned time of that run (of a missed series, of its last slot).
    pub planned_at: Timestamp,
    /// What it came to.
    pub outcome: Outcome,
    /// Its status code.
    pub status: Status,
    /// Its duration in microseconds.
    pub total_us: u64,
    /// Planned time of the first run of this unbroken series of the same outcome.
    pub since: Timestamp,
    /// Runs in that series.
    pub streak: u32,
    /// When the last check there began that loaded the objects of the page.
    pub full_page_at: Option<Timestamp>,
}
