//! Decoding of the state of a monitor at a location.

use crate::domain::{CheckId, LocationId, MonitorId, MonitorLocationState, Outcome, Status, Timestamp};

use super::decode::{DecodeError, RowLocator};
use super::stored_result::narrow;

/// The columns of a stored state.
pub(in crate::store) struct StoredLocationState {
    pub(in crate::store) monitor_id: i64,
    pub(in crate::store) location_id: i64,
    pub(in crate::store) check_id: i64,
    pub(in crate::store) planned_at: i64,
    pub(in crate::store) outcome: i64,
    pub(in crate::store) status: i64,
    pub(in crate::store) duration_us: i64,
    pub(in crate::store) streak_started_at: i64,
    pub(in crate::store) streak: i64,
    pub(in crate::store) last_full_page_at: Option<i64>,
    pub(in crate::store) last_was_first_check: bool,
    /// Only read when the last check was a first check; otherwise it is `planned_at`.
    pub(in crate::store) last_slot_at: Option<i64>,
}

impl StoredLocationState {
    /// Decodes the state.
    pub(in crate::store) fn decode(&self) -> Result<MonitorLocationState, DecodeError> {
        let key = [("monitor_id", self.monitor_id), ("location_id", self.location_id)];
        let locator = RowLocator { table: "states", key: &key };
        let outcome = u8::try_from(self.outcome).ok().and_then(Outcome::from_code);
        let planned_at = Timestamp::from_micros(self.planned_at);
        Ok(MonitorLocationState {
            monitor_id: MonitorId(self.monitor_id),
            location_id: LocationId(self.location_id),
            check_id: CheckId(self.check_id.cast_unsigned()),
            planned_at,
            outcome: locator.require_decoded("outcome", self.outcome, outcome)?,
            status: Status(narrow(locator, "status", self.status)?),
            duration_us: narrow(locator, "total_us", self.duration_us)?,
            streak_started_at: Timestamp::from_micros(self.streak_started_at),
            streak: narrow(locator, "streak", self.streak)?,
            last_slot_at: if self.last_was_first_check {
                self.last_slot_at.map(Timestamp::from_micros)
            } else {
                Some(planned_at)
            },
            last_full_page_at: self.last_full_page_at.map(Timestamp::from_micros),
        })
    }
}
