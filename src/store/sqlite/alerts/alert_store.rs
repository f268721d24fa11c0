//! Reads and writes alert states, episodes and notifications.

use rusqlite::Connection;

use crate::domain::{CustomerId, EpisodeId, MonitorId, Timestamp};
use crate::store::contract::{
    AlertChanges, AlertStore, EpisodeFilter, Paginated, Pagination, StoreError, StoreFuture, StoredEpisode,
    StoredJson, StoredJsonNames,
};
use crate::store::rows::prepared_alerts::PreparedAlerts;
use crate::store::rows::result_row::saturating_i64;
use crate::store::sqlite::store::SqliteStore;

use super::{episodes, outbox, prepared_alerts};

/// Rows that one transaction removes.
const DELETE_CHUNK_ROWS: i64 = 1000;

impl StoredJsonNames for SqliteStore {
    fn table_and_column(&self, json: StoredJson) -> (&'static str, &'static str) {
        match json {
            StoredJson::AlertState => ("watches", "body"),
            StoredJson::EpisodeSnapshot => ("episodes", "body"),
            StoredJson::PerformanceAlertState => ("raised", "body"),
        }
    }
}

impl AlertStore for SqliteStore {
    fn alert_states(&self) -> StoreFuture<'_, Vec<(MonitorId, String)>> {
        Box::pin(self.readers.call(select_alert_states))
    }

    fn commit_alerts(&self, changes: AlertChanges) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let prepared = PreparedAlerts::prepare(changes).await?;
            self.writer.call(move |context| prepared_alerts::write(&prepared, context)).await
        })
    }

    fn episodes(&self, filter: EpisodeFilter, page: Pagination) -> StoreFuture<'_, Paginated<StoredEpisode>> {
        Box::pin(self.readers.call(move |conn| episodes::read_page(conn, &filter, page)))
    }

    fn episode(&self, customer: CustomerId, id: EpisodeId) -> StoreFuture<'_, Option<StoredEpisode>> {
        Box::pin(self.readers.call(move |conn| episodes::by_id(conn, customer, id)))
    }

    fn acknowledge(
        &self,
        customer: CustomerId,
        id: EpisodeId,
        login: String,
        acknowledged_at: Timestamp,
    ) -> StoreFuture<'_, bool> {
        Box::pin(
            self.writer.call(move |context| {
                episodes::acknowledge(context.conn, customer, id, &login, acknowledged_at)
            }),
        )
    }

    fn remove_finished_before(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let removed = delete_in_chunks(self, episodes::DELETE_ENDED, before).await?;
            Ok(removed + delete_in_chunks(self, outbox::DELETE_FINISHED, before).await?)
        })
    }
}

fn select_alert_states(conn: &Connection) -> rusqlite::Result<Vec<(MonitorId, String)>> {
    conn.prepare_cached("SELECT monitor_id, body FROM watches ORDER BY monitor_id")?
        .query_map([], |row| Ok((MonitorId(row.get(0)?), row.get(1)?)))?
        .collect()
}

/// Deletes rows in several transactions, so that other writers are not blocked.
async fn delete_in_chunks(
    store: &SqliteStore,
    delete_sql: &'static str,
    before: Timestamp,
) -> Result<u64, StoreError> {
    let mut removed = 0;
    loop {
        let deleted = store
            .writer
            .call(move |context| {
                context.conn.prepare_cached(delete_sql)?.execute([before.as_micros(), DELETE_CHUNK_ROWS])
            })
            .await? as u64;
        removed += deleted;
        if saturating_i64(deleted) < DELETE_CHUNK_ROWS {
            return Ok(removed);
        }
    }
}
