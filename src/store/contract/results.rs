//! Read access to results and monitor states.

use crate::domain::{
    CapturedFile, CheckId, CheckResult, LocationId, MonitorId, MonitorLocationState, Paginated,
    PaginatedResults, Pagination, ResultFilter, Rollup, RollupQuery, Timestamp,
};

use super::future::StoreFuture;
use super::monitor_change_log::MonitorChanges;
use super::rollup::RollupSpan;
use super::samples::SampleStore;
use super::usage::UsageStore;

/// Asks for the newest result of a monitor at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewestResultQuery {
    /// The monitor.
    pub monitor_id: MonitorId,
    /// The location.
    pub location_id: LocationId,
    /// Whether only results count that are ok or a warning.
    pub only_passed: bool,
    /// Only results planned before this time count; `None` for all.
    pub until: Option<Timestamp>,
}

/// Reads results, states and rollups.
pub trait ResultStore: SampleStore + UsageStore {
    /// Returns results, newest first.
    fn results(&self, filter: ResultFilter, page: Pagination) -> StoreFuture<'_, PaginatedResults>;

    /// Returns a result with all retained details. Fast even for an unknown id.
    fn result(&self, check_id: CheckId) -> StoreFuture<'_, Option<CheckResult>>;

    /// Returns a capture of a result, with its content.
    fn capture(&self, check_id: CheckId, name: String) -> StoreFuture<'_, Option<CapturedFile>>;

    /// Returns the states of these monitors, by monitor and location; none for removed monitors.
    fn location_states_for(&self, monitors: Vec<MonitorId>) -> StoreFuture<'_, Vec<MonitorLocationState>>;

    /// Returns the result of each of `states`, with its details; unlike [`ResultStore::result`], without a search.
    fn results_for_states(
        &self,
        states: Vec<MonitorLocationState>,
    ) -> StoreFuture<'_, Vec<Option<CheckResult>>>;

    /// Returns the newest result that each of `queries` asks for, in one read.
    fn newest_results(&self, queries: Vec<NewestResultQuery>) -> StoreFuture<'_, Vec<Option<CheckResult>>>;

    /// Returns the states of all monitors, by monitor and location.
    fn location_states(&self) -> StoreFuture<'_, Vec<MonitorLocationState>>;

    /// Returns the monitors whose states this process changed after `position`.
    fn state_changes(&self, position: Option<u64>) -> MonitorChanges;

    /// Returns the rollups of a monitor that start in `from..until`, oldest first.
    fn rollups(
        &self,
        monitor: MonitorId,
        span: RollupSpan,
        from: Timestamp,
        until: Timestamp,
    ) -> StoreFuture<'_, Vec<Rollup>>;

    /// Returns statistics by minute, hour or day, oldest first, then by location; what is not rolled up yet is computed
    /// from results. `None` when the account of `query` has no such monitor, removed ones included.
    fn rollup_points(
        &self,
        query: RollupQuery,
        page: Pagination,
    ) -> StoreFuture<'_, Option<Paginated<Rollup>>>;
}
