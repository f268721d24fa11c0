//! Storage of what hosts report.

use crate::domain::{HostHistoryQuery, HostHistoryRow, HostId, HostReport, HostSummary};

use super::future::StoreFuture;

/// Stores what hosts report.
pub trait HostStore: Send + Sync + 'static {
    /// Stores reports, in one transaction. One whose number the history of its host has is dropped. The newest one of a
    /// host, by the time of its measurement, becomes its state.
    fn record_host_reports(&self, reports: Vec<HostReport>) -> StoreFuture<'_, ()>;

    /// Returns the newest report of a host.
    fn host_state(&self, host_id: HostId) -> StoreFuture<'_, Option<HostReport>>;

    /// Returns what the list of hosts shows: of `host_id`, or of the hosts of all accounts.
    fn host_summaries(&self, host_id: Option<HostId>) -> StoreFuture<'_, Vec<HostSummary>>;

    /// Returns rows of the history of a host, the oldest first.
    fn host_history(&self, query: HostHistoryQuery) -> StoreFuture<'_, Vec<HostHistoryRow>>;
}
