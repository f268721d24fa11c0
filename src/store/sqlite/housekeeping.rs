//! Implements periodic maintenance.

use crate::domain::Timestamp;
use crate::store::contract::{Housekeeping, Retention, StoreFuture};

use super::retention::apply_retention;
use super::rollup::roll_up::roll_up;
use super::store::SqliteStore;

impl Housekeeping for SqliteStore {
    fn roll_up(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(roll_up(self, now))
    }

    fn apply_retention(&self, retention: Retention, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(apply_retention(self, retention, now))
    }

    fn roll_up_hosts(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.roll_up_hosts_due(now))
    }
}
