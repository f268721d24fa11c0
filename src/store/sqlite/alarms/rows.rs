//! What alerting made of results, as rows.

use rusqlite::{Connection, params};

use crate::domain::MonitorId;
use crate::store::contract::{Alarm, VerifiedCheck};
use crate::store::sqlite::rollup::late::RolledUntil;
use crate::store::sqlite::writer::Writing;

use super::{episodes, outbox, results};

/// What alerting made of results, ready to be written: the JSON is written and files are compressed by the
/// caller, not by the writing thread.
pub(in crate::store::sqlite) struct Rows {
    watches: Vec<(MonitorId, Option<String>)>,
    episodes: Vec<episodes::Row>,
    notifications: Vec<outbox::Row>,
    verified: Vec<VerifiedCheck>,
    evidence: Vec<results::Packed>,
}

impl Rows {
    pub(in crate::store::sqlite) fn of(alarm: Alarm) -> Self {
        Self {
            watches: alarm.watches,
            episodes: alarm.episodes.into_iter().map(episodes::Row::of).collect(),
            notifications: alarm.notifications.into_iter().map(outbox::Row::of).collect(),
            verified: alarm.verified,
            evidence: alarm.evidence.into_iter().filter_map(results::Packed::of).collect(),
        }
    }

    /// Writes all of it; after the results of the same transaction, which it may be about.
    pub(in crate::store::sqlite) fn write(&self, writing: &mut Writing<'_>) -> rusqlite::Result<()> {
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

fn keep_watch(conn: &Connection, monitor: MonitorId, body: Option<&str>) -> rusqlite::Result<()> {
    match body {
        Some(body) => conn
            .prepare_cached("INSERT INTO watches VALUES (?1, ?2) ON CONFLICT DO UPDATE SET body = ?2")?
            .execute(params![monitor.0, body])?,
        None => conn.prepare_cached("DELETE FROM watches WHERE monitor_id = ?1")?.execute([monitor.0])?,
    };
    Ok(())
}
