//! Stores the counters that throttle logins. A lock lets one update run after the other, whatever server it comes from.

use sqlx::PgConnection;
use tokio::sync::MutexGuard;

use crate::domain::Timestamp;
use crate::store::contract::{
    StoreError, StoreFuture, ThrottleCounter, ThrottleDecision, ThrottleKey, ThrottleKind, ThrottleStore,
};
use crate::store::rows::throttle_changes::{
    ThrottleChanges, eviction_count, expired_until, throttle_counter_from_row, throttle_kind_code,
};

use super::error::PgResult;
use super::store::PostgresStore;

/// Number of the advisory lock that an update holds until its commit, "Vgit".
const UPDATE_LOCK: i64 = 0x5667_6974;

/// Returns the codes of the kinds, and the hashes, as an array each.
fn key_columns<'k>(keys: impl Iterator<Item = &'k ThrottleKey>) -> (Vec<i16>, Vec<&'k [u8]>) {
    keys.map(|key| (throttle_kind_code(key.kind), key.hash.as_slice())).unzip()
}

async fn select(conn: &mut PgConnection, keys: &[ThrottleKey]) -> PgResult<Vec<Option<ThrottleCounter>>> {
    let (kinds, hashes) = key_columns(keys.iter());
    let rows: Vec<(Option<i64>, Option<i64>)> = sqlx::query_as(
        "SELECT t.failures, t.last_at
         FROM unnest($1::smallint[], $2::bytea[]) WITH ORDINALITY AS k (kind, hash, position)
         LEFT JOIN login_throttles AS t ON t.kind = k.kind AND t.hash = k.hash ORDER BY k.position",
    )
    .bind(kinds)
    .bind(hashes)
    .fetch_all(conn)
    .await?;
    let decode = |(key, (failures, last_at)): (&ThrottleKey, (Option<i64>, Option<i64>))| {
        let row = failures.zip(last_at);
        Ok(row
            .map(|(failures, last_at)| throttle_counter_from_row(key.kind, failures, last_at))
            .transpose()?)
    };
    keys.iter().zip(rows).map(decode).collect()
}

async fn update(
    conn: &mut PgConnection,
    keys: &[ThrottleKey],
    now: Timestamp,
    decide: &ThrottleDecision,
) -> PgResult<Vec<Option<ThrottleCounter>>> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(UPDATE_LOCK).execute(&mut *conn).await?;
    let before = select(conn, keys).await?;
    let changes = ThrottleChanges::between(keys, &before, &decide(&before));
    for (kind, upsert_count) in &changes.growing_kinds {
        make_room(conn, *kind, *upsert_count, now).await?;
    }
    if !changes.upserted.is_empty() {
        let (kinds, hashes) = key_columns(changes.upserted.iter().map(|(key, _)| key));
        let (failures, last_at): (Vec<i64>, Vec<i64>) = changes
            .upserted
            .iter()
            .map(|(_, counter)| (i64::from(counter.failures), counter.last_at.as_micros()))
            .unzip();
        sqlx::query(
            "INSERT INTO login_throttles (kind, hash, failures, last_at)
             SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bigint[], $4::bigint[])
             ON CONFLICT (kind, hash) DO UPDATE SET failures = excluded.failures, last_at = excluded.last_at",
        )
        .bind(kinds)
        .bind(hashes)
        .bind(failures)
        .bind(last_at)
        .execute(&mut *conn)
        .await?;
    }
    if !changes.removed.is_empty() {
        let (kinds, hashes) = key_columns(changes.removed.iter());
        sqlx::query(
            "DELETE FROM login_throttles AS t USING unnest($1::smallint[], $2::bytea[]) AS k (kind, hash)
             WHERE t.kind = k.kind AND t.hash = k.hash",
        )
        .bind(kinds)
        .bind(hashes)
        .execute(conn)
        .await?;
    }
    Ok(before)
}

/// Removes counters of `kind` until `upsert_count` further ones are within the limit: expired ones, then those with the
/// fewest failures.
async fn make_room(
    conn: &mut PgConnection,
    kind: ThrottleKind,
    upsert_count: usize,
    now: Timestamp,
) -> PgResult<()> {
    if eviction_count(count(conn, kind).await?, upsert_count) == 0 {
        return Ok(());
    }
    delete_expired(conn, kind, now).await?;
    let eviction_count = eviction_count(count(conn, kind).await?, upsert_count);
    sqlx::query(
        "DELETE FROM login_throttles WHERE kind = $1 AND hash IN (
             SELECT hash FROM login_throttles WHERE kind = $1 ORDER BY failures, last_at LIMIT $2)",
    )
    .bind(throttle_kind_code(kind))
    .bind(i64::try_from(eviction_count).unwrap_or(i64::MAX))
    .execute(conn)
    .await?;
    Ok(())
}

async fn count(conn: &mut PgConnection, kind: ThrottleKind) -> PgResult<usize> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM login_throttles WHERE kind = $1")
        .bind(throttle_kind_code(kind))
        .fetch_one(conn)
        .await?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

async fn delete_expired(conn: &mut PgConnection, kind: ThrottleKind, now: Timestamp) -> PgResult<u64> {
    let delete = sqlx::query("DELETE FROM login_throttles WHERE kind = $1 AND last_at <= $2")
        .bind(throttle_kind_code(kind))
        .bind(expired_until(kind, now));
    Ok(delete.execute(conn).await?.rows_affected())
}

impl PostgresStore {
    /// Waits until no other update of this process runs, so that a flood of logins takes one connection of the pool and
    /// not all of them.
    async fn wait_for_throttle_updates(&self) -> Result<MutexGuard<'_, ()>, StoreError> {
        let waited = tokio::time::timeout(self.connect_timeout, self.throttle_updates.lock()).await;
        waited.map_err(|_| {
            let reason = "too many logins wait for it; check that the server is fast enough";
            self.error_mapper.unavailable_error(reason)
        })
    }
}

impl ThrottleStore for PostgresStore {
    fn throttle_counters(&self, keys: Vec<ThrottleKey>) -> StoreFuture<'_, Vec<Option<ThrottleCounter>>> {
        Box::pin(self.read(move |conn| Box::pin(async move { select(conn, &keys).await })))
    }

    fn update_throttle_counters(
        &self,
        keys: Vec<ThrottleKey>,
        now: Timestamp,
        decide: ThrottleDecision,
    ) -> StoreFuture<'_, Vec<Option<ThrottleCounter>>> {
        Box::pin(async move {
            let _turn = self.wait_for_throttle_updates().await?;
            self.write(move |conn| Box::pin(async move { update(conn, &keys, now, &decide).await })).await
        })
    }

    fn remove_expired_throttle_counters(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                let mut removed = 0;
                for kind in ThrottleKind::ALL {
                    removed += delete_expired(conn, kind, now).await?;
                }
                Ok(removed)
            })
        }))
    }
}
