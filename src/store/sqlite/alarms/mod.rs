//! Watches, outages and messages in SQLite.

mod episodes;
mod outbox;
mod performance;
mod results;

use rusqlite::{Connection, params};

use crate::domain::{CustomerId, EpisodeId, MonitorId, Timestamp};
use crate::store::{
    Alarm, Alarms, Answer, EpisodeFilter, KeptEpisode, Listed, Page, StoreError, VerifiedCheck,
};

use super::SqliteStore;
use super::rollup::late::RolledUntil;
use super::row::signed;
use super::writer::Writing;

/// Rows that one transaction removes.
const CHUNK: i64 = 1000;

/// What alerting made of results, ready to be written: the JSON is written and files are compressed by the
/// caller, not by the writing thread.
pub(super) struct Rows {
    watches: Vec<(MonitorId, Option<String>)>,
    episodes: Vec<episodes::Row>,
    notifications: Vec<outbox::Row>,
    verified: Vec<VerifiedCheck>,
    evidence: Vec<results::Packed>,
}

impl Rows {
    pub(super) fn of(alarm: Alarm) -> Self {
        Self {
            watches: alarm.watches,
            episodes: alarm.episodes.into_iter().map(episodes::Row::of).collect(),
            notifications: alarm.notifications.into_iter().map(outbox::Row::of).collect(),
            verified: alarm.verified,
            evidence: alarm.evidence.into_iter().filter_map(results::Packed::of).collect(),
        }
    }

    /// Writes all of it; after the results of the same transaction, which it may be about.
    pub(super) fn write(&self, writing: &mut Writing<'_>) -> rusqlite::Result<()> {
        for (monitor, body) in &self.watches {
            keep_watch(writing.conn, *monitor, body.as_deref())?;
        }
        for episode in &self.episodes {
            episode.keep(writing.conn)?;
        }
        for notification in &self.notifications {
            notification.keep(writing.conn)?;
        }
        if !self.verified.is_empty() {
            let rolled = RolledUntil::read(writing.conn)?;
            for verified in &self.verified {
                results::verify(writing, verified, &rolled)?;
            }
        }
        for evidence in &self.evidence {
            evidence.keep(writing.conn)?;
        }
        Ok(())
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

fn keep_watch(conn: &Connection, monitor: MonitorId, body: Option<&str>) -> rusqlite::Result<()> {
    match body {
        Some(body) => conn
            .prepare_cached("INSERT INTO watches VALUES (?1, ?2) ON CONFLICT DO UPDATE SET body = ?2")?
            .execute(params![monitor.0, body])?,
        None => conn.prepare_cached("DELETE FROM watches WHERE monitor_id = ?1")?.execute([monitor.0])?,
    };
    Ok(())
}

fn watches(conn: &Connection) -> rusqlite::Result<Vec<(MonitorId, String)>> {
    conn.prepare_cached("SELECT monitor_id, body FROM watches ORDER BY monitor_id")?
        .query_map([], |row| Ok((MonitorId(row.get(0)?), row.get(1)?)))?
        .collect()
}

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
