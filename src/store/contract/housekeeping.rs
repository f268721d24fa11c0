//! How long data is kept, and the work that follows the calendar.

use std::time::Duration;

use crate::domain::Timestamp;

use super::future::StoreFuture;

/// How long each kind of data is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Narrow rows of results.
    pub results: Duration,
    /// Details (attempts, facts) of ok results.
    pub details_ok: Duration,
    /// Details of all other results.
    pub details_failed: Duration,
    /// Hourly rollups.
    pub hourly: Duration,
    /// Daily rollups.
    pub daily: Duration,
    /// The audit trail.
    pub audit: Duration,
}

/// Work that follows the calendar.
pub trait Housekeeping: Send + Sync + 'static {
    /// Writes the rollups of all hours and days that ended before `now` and changed since the last call;
    /// answers how many were written.
    fn roll_up(&self, now: Timestamp) -> StoreFuture<'_, u64>;

    /// Removes what is older than `retention` says, in steps that let writers through; answers how many
    /// rows went.
    fn retain(&self, retention: Retention, now: Timestamp) -> StoreFuture<'_, u64>;
}
