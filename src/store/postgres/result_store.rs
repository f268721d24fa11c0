//! Reads results, states and rollups.

use sqlx::PgConnection;

use crate::domain::{
    CapturedFile, CheckId, CheckResult, MonitorId, Paginated, Rollup, RollupQuery, Timestamp,
};
use crate::store::contract::{
    MonitorChanges, MonitorLocationState, NewestResultQuery, PaginatedResults, Pagination, ResultFilter,
    ResultStore, RollupSpan, StoreFuture,
};

use super::batch_columns::ResultRowKey;
use super::error::PgResult;
use super::result_lookup::{by_id, results_by_keys};
use super::result_pages::{newest_keys, read_page};
use super::rollup::{points, stored};
use super::store::PostgresStore;
use super::{captures, states};

impl ResultStore for PostgresStore {
    fn results(&self, filter: ResultFilter, page: Pagination) -> StoreFuture<'_, PaginatedResults> {
        // Count and page must see the same state of the database.
        Box::pin(
            self.read_snapshot(move |conn| Box::pin(async move { read_page(conn, &filter, page).await })),
        )
    }

    fn result(&self, check_id: CheckId) -> StoreFuture<'_, Option<CheckResult>> {
        Box::pin(self.read_snapshot(move |conn| Box::pin(by_id(conn, check_id))))
    }

    fn capture(&self, check_id: CheckId, name: String) -> StoreFuture<'_, Option<CapturedFile>> {
        Box::pin(
            self.read_snapshot(move |conn| Box::pin(async move { capture(conn, check_id, &name).await })),
        )
    }

    fn location_states_for(&self, monitors: Vec<MonitorId>) -> StoreFuture<'_, Vec<MonitorLocationState>> {
        let ids = monitors.into_iter().map(|id| id.0).collect();
        Box::pin(self.read(move |conn| Box::pin(states::select(conn, Some(ids)))))
    }

    fn results_for_states(
        &self,
        states: Vec<MonitorLocationState>,
    ) -> StoreFuture<'_, Vec<Option<CheckResult>>> {
        // Monitor and location of a state reverse the hash of the check id.
        let key = |state: MonitorLocationState| {
            let planned_at = state.check_id.planned_at(state.monitor_id, state.location_id);
            (planned_at.as_micros(), state.monitor_id.0, state.location_id.0)
        };
        let keys: Vec<ResultRowKey> = states.into_iter().map(key).collect();
        Box::pin(self.read_snapshot(move |conn| Box::pin(async move { results_by_keys(conn, &keys).await })))
    }

    fn newest_results(&self, queries: Vec<NewestResultQuery>) -> StoreFuture<'_, Vec<Option<CheckResult>>> {
        Box::pin(self.read_snapshot(move |conn| Box::pin(newest_results(conn, queries))))
    }

    fn state_changes(&self, position: Option<u64>) -> MonitorChanges {
        self.caches.state_changes.since(position)
    }

    fn location_states(&self) -> StoreFuture<'_, Vec<MonitorLocationState>> {
        Box::pin(self.read(|conn| Box::pin(states::select(conn, None))))
    }

    fn rollups(
        &self,
        monitor: MonitorId,
        span: RollupSpan,
        from: Timestamp,
        until: Timestamp,
    ) -> StoreFuture<'_, Vec<Rollup>> {
        Box::pin(self.read(move |conn| Box::pin(stored::select_rollups(conn, monitor, span, from, until))))
    }

    fn rollup_points(
        &self,
        query: RollupQuery,
        page: Pagination,
    ) -> StoreFuture<'_, Option<Paginated<Rollup>>> {
        // Stored rollups and results must be of the same state of the database.
        Box::pin(self.read_snapshot(move |conn| {
            Box::pin(async move { points::select_points(conn, &query, page).await })
        }))
    }
}

async fn capture(conn: &mut PgConnection, check_id: CheckId, name: &str) -> PgResult<Option<CapturedFile>> {
    let Some(result) = by_id(conn, check_id).await? else { return Ok(None) };
    match result.captures.iter().find(|capture| capture.name == name).cloned() {
        Some(capture) => captures::read(conn, &result, capture).await,
        None => Ok(None),
    }
}

async fn newest_results(
    conn: &mut PgConnection,
    queries: Vec<NewestResultQuery>,
) -> PgResult<Vec<Option<CheckResult>>> {
    let keys = newest_keys(conn, &queries).await?;
    let found_keys: Vec<ResultRowKey> = keys.iter().copied().flatten().collect();
    let mut results = results_by_keys(conn, &found_keys).await?.into_iter();
    Ok(keys.into_iter().map(|key| key.and_then(|_| results.next().flatten())).collect())
}
