//! Pauses a monitor for a time.

use super::Fleet;
use crate::control::{Caller, Refusal, Saved};
use crate::model::{MonitorId, Timestamp};

impl Fleet {
    /// Lets one rest until `until` without recording missed runs; files' monitors too.
    pub async fn pause(&self, _caller: &Caller, _id: MonitorId, _until: Timestamp) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Ends a rest.
    pub async fn resume(&self, _caller: &Caller, _id: MonitorId) -> Result<Saved, Refusal> {
        todo!()
    }

    /// Plans those whose rest is over; called once a second or so.
    pub async fn wake(&self, _now: Timestamp) {
        todo!()
    }
}
