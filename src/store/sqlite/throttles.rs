//! Stores the counters that throttle logins. The writing thread runs one update after the other.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::Timestamp;
use crate::store::contract::{
    StoreFuture, ThrottleCounter, ThrottleDecision, ThrottleKey, ThrottleKind, ThrottleStore,
};
use crate::store::rows::throttle_changes::{
    ThrottleChanges, eviction_count, expired_until, throttle_counter_from_row, throttle_kind_code,
};

use super::store::SqliteStore;

fn select(conn: &Connection, keys: &[ThrottleKey]) -> rusqlite::Result<Vec<Option<ThrottleCounter>>> {
    let mut select =
        conn.prepare_cached("SELECT failures, last_at FROM login_throttles WHERE kind = ?1 AND hash = ?2")?;
    keys.iter()
        .map(|key| {
            let row = select.query_row(params![throttle_kind_code(key.kind), key.hash], |row| {
                Ok(throttle_counter_from_row(key.kind, row.get(0)?, row.get(1)?)?)
            });
            row.optional()
        })
        .collect()
}

fn update(
    conn: &Connection,
    keys: &[ThrottleKey],
    now: Timestamp,
    decide: &ThrottleDecision,
) -> rusqlite::Result<Vec<Option<ThrottleCounter>>> {
    let before = select(conn, keys)?;
    let changes = ThrottleChanges::between(keys, &before, &decide(&before));
    for (kind, upsert_count) in changes.growing_kinds {
        make_room(conn, kind, upsert_count, now)?;
    }
    let mut upsert = conn.prepare_cached("INSERT OR REPLACE INTO login_throttles VALUES (?1, ?2, ?3, ?4)")?;
    for (key, counter) in changes.upserted {
        let kind = throttle_kind_code(key.kind);
        upsert.execute(params![kind, key.hash, counter.failures, counter.last_at.as_micros()])?;
    }
    let mut delete = conn.prepare_cached("DELETE FROM login_throttles WHERE kind = ?1 AND hash = ?2")?;
    for key in changes.removed {
        delete.execute(params![throttle_kind_code(key.kind), key.hash])?;
    }
    Ok(before)
}

/// Removes counters of `kind` until `upsert_count` further ones are within the limit: expired ones, then those with the
/// fewest failures.
fn make_room(
    conn: &Connection,
    kind: ThrottleKind,
    upsert_count: usize,
    now: Timestamp,
) -> rusqlite::Result<()> {
    if eviction_count(count(conn, kind)?, upsert_count) == 0 {
        return Ok(());
    }
    delete_expired(conn, kind, now)?;
    let eviction_count = eviction_count(count(conn, kind)?, upsert_count);
    conn.prepare_cached(
        "DELETE FROM login_throttles WHERE kind = ?1 AND hash IN (
             SELECT hash FROM login_throttles WHERE kind = ?1 ORDER BY failures, last_at LIMIT ?2)",
    )?
    .execute(params![throttle_kind_code(kind), i64::try_from(eviction_count).unwrap_or(i64::MAX)])?;
    Ok(())
}

fn count(conn: &Connection, kind: ThrottleKind) -> rusqlite::Result<usize> {
    conn.prepare_cached("SELECT count(*) FROM login_throttles WHERE kind = ?1")?
        .query_row([throttle_kind_code(kind)], |row| row.get(0))
}

fn delete_expired(conn: &Connection, kind: ThrottleKind, now: Timestamp) -> rusqlite::Result<u64> {
    let removed = conn
        .prepare_cached("DELETE FROM login_throttles WHERE kind = ?1 AND last_at <= ?2")?
        .execute(params![throttle_kind_code(kind), expired_until(kind, now)])?;
    Ok(removed as u64)
}

impl ThrottleStore for SqliteStore {
    fn throttle_counters(&self, keys: Vec<ThrottleKey>) -> StoreFuture<'_, Vec<Option<ThrottleCounter>>> {
        Box::pin(self.readers.call(move |conn| select(conn, &keys)))
    }

    fn update_throttle_counters(
        &self,
        keys: Vec<ThrottleKey>,
        now: Timestamp,
        decide: ThrottleDecision,
    ) -> StoreFuture<'_, Vec<Option<ThrottleCounter>>> {
        Box::pin(self.writer.call(move |context| update(context.conn, &keys, now, &decide)))
    }

    fn remove_expired_throttle_counters(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.writer.call(move |context| {
            ThrottleKind::ALL.into_iter().map(|kind| delete_expired(context.conn, kind, now)).sum()
        }))
    }
}
