//! Alert state, outages and messages: the calls that read and change them.

use rusqlite::Connection;

use crate::domain::{CustomerId, EpisodeId, MonitorId, Timestamp};
use crate::store::contract::{Alarm, Alarms, Answer, EpisodeFilter, KeptEpisode, Listed, Page, StoreError};
use crate::store::sqlite::row::signed;
use crate::store::sqlite::store::SqliteStore;

use super::rows::Rows;
use super::{episodes, outbox};

/// Rows that one transaction removes.
const CHUNK: i64 = 1000;

impl Alarms for SqliteStore {
    fn watches(&self) -> Answer<'_, Vec<(MonitorId, String)>> {
        Box::pin(self.readers.call(watches))
    }

    fn keep(&self, alarm: Alarm) -> Answer<'_, ()> {
        Box::pin(async move {
            let rows = ready(alarm).await?;
            self.writer.call(move |writing| rows.write(writing)).await
        })
    }

    fn episodes(&self, filter: EpisodeFilter, page: Page) -> Answer<'_, Listed<KeptEpisode>> {
        Box::pin(self.readers.call(move |conn| episodes::page(conn, &filter, page)))
    }

    fn episode(&self, customer: CustomerId, id: EpisodeId) -> Answer<'_, Option<KeptEpisode>> {
        Box::pin(self.readers.call(move |conn| episodes::one(conn, customer, id)))
    }

    fn acknowledge(
        &self,
        customer: CustomerId,
        id: EpisodeId,
        login: String,
        at: Timestamp,
    ) -> Answer<'_, bool> {
        Box::pin(
            self.writer.call(move |writing| episodes::acknowledge(writing.conn, customer, id, &login, at)),
        )
    }

    fn retain_alarms(&self, before: Timestamp) -> Answer<'_, u64> {
        Box::pin(async move {
            let gone = remove(self, episodes::OLD, before).await?;
            Ok(gone + remove(self, outbox::OLD, before).await?)
        })
    }
}

/// `alarm`, ready to be written. Files are compressed apart from the threads that wait for targets.
async fn ready(alarm: Alarm) -> Result<Rows, StoreError> {
    if alarm.evidence.is_empty() {
        return Ok(Rows::of(alarm));
    }
    // Fails only when the runtime goes down.
    tokio::task::spawn_blocking(move || Rows::of(alarm)).await.map_err(|_| StoreError::Closed)
}

fn watches(conn: &Connection) -> rusqlite::Result<Vec<(MonitorId, String)>> {
    conn.prepare_cached("SELECT monitor_id, body FROM watches ORDER BY monitor_id")?
        .query_map([], |row| Ok((MonitorId(row.get(0)?), row.get(1)?)))?
        .collect()
}

/// Between two transactions others get their turn.
async fn remove(store: &SqliteStore, removal: &'static str, before: Timestamp) -> Result<u64, StoreError> {
    let mut gone = 0;
    loop {
        let rows = store
            .writer
            .call(move |writing| writing.conn.prepare_cached(removal)?.execute([before.as_micros(), CHUNK]))
            .await? as u64;
        gone += rows;
        if signed(rows) < CHUNK {
            return Ok(gone);
        }
    }
}
