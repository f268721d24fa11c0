//! Results, and where monitors stand.

use crate::domain::{
    Capture, CheckId, CheckResult, MonitorId, MonitorState, PaginatedResults, Pagination, ResultFilter,
    Timestamp,
};

use super::future::StoreFuture;
use super::rollup::{Rollup, RollupSpan};
use super::samples::SampleStore;

/// Reads what was kept.
pub trait ResultStore: SampleStore {
    /// Results, newest first.
    fn results(&self, filter: ResultFilter, page: Pagination) -> StoreFuture<'_, PaginatedResults>;

    /// One result with all its details that are still kept. Also an unknown id is looked up in a moment.
    fn result(&self, id: CheckId) -> StoreFuture<'_, Option<CheckResult>>;

    /// A file that a result holds, with its content.
    fn capture(&self, id: CheckId, name: String) -> StoreFuture<'_, Option<Capture>>;

    /// Where these monitors stand, by monitor and location; nothing for removed ones.
    fn states_for(&self, monitors: Vec<MonitorId>) -> StoreFuture<'_, Vec<MonitorState>>;

    /// The result behind each of `states`, with its details; found without a search, unlike by
    /// [`ResultStore::result`].
    fn latest_results(&self, states: Vec<MonitorState>) -> StoreFuture<'_, Vec<Option<CheckResult>>>;

    /// Where every monitor stands.
    fn states(&self) -> StoreFuture<'_, Vec<MonitorState>>;

    /// Rollups of one monitor that start in `from..thru`, oldest first.
    fn rollups(
        &self,
        monitor: MonitorId,
        span: RollupSpan,
        from: Timestamp,
        thru: Timestamp,
    ) -> StoreFuture<'_, Vec<Rollup>>;
}
