//! Work that follows the calendar.

use crate::domain::Timestamp;
use crate::store::contract::{Answer, Housekeeping, Retention};

use super::retain::retain;
use super::rollup::roll_up::roll_up;
use super::store::SqliteStore;

impl Housekeeping for SqliteStore {
    fn roll_up(&self, now: Timestamp) -> Answer<'_, u64> {
        Box::pin(roll_up(self, now))
    }

    fn retain(&self, retention: Retention, now: Timestamp) -> Answer<'_, u64> {
        Box::pin(retain(self, retention, now))
    }
}
