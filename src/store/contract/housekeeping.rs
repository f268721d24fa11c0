//! Retention settings and periodic maintenance.

use std::time::Duration;

use crate::domain::Timestamp;

use super::future::StoreFuture;

/// How long each kind of data is retained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Rows of results, without details.
    pub results: Duration,
    /// Details (attempts, facts) of ok results.
    pub details_ok: Duration,
    /// Details of all other results.
    pub details_failed: Duration,
    /// Hourly rollups.
    pub hourly_rollups: Duration,
    /// Daily rollups and counts of usage; `None` for ever.
    pub daily_rollups: Option<Duration>,
    /// The audit trail.
    pub audit_entries: Duration,
}

/// Periodic maintenance.
pub trait Housekeeping: Send + Sync + 'static {
    /// Writes the rollups of all hours and days that ended before `now` and changed since the last call; returns how
    /// many were written.
    fn roll_up(&self, now: Timestamp) -> StoreFuture<'_, u64>;

    /// Removes data older than `retention`, in chunks so that writers are not blocked; returns how many rows were
    /// removed.
    fn apply_retention(&self, retention: Retention, now: Timestamp) -> StoreFuture<'_, u64>;

    /// Writes the rows of the history of hosts whose blocks and hours ended a minute before `now`; returns how many.
    fn roll_up_hosts(&self, now: Timestamp) -> StoreFuture<'_, u64>;
}
