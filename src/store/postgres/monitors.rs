//! Stored monitors, and the ids of the keys of monitor files.

use std::sync::Arc;

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::clock::{Clock, SystemClock};
use crate::domain::{CustomerId, MonitorId, Revision};
use crate::schema::Monitor;
use crate::store::contract::{AuditEntryByIndex, MonitorStore, StoreError, StoreFuture, StoredMonitor};
use crate::store::rows::monitor_row::{MonitorColumns, MonitorRow};

use super::error::{PgError, PgResult};
use super::store::PostgresStore;
use super::{audit, pushes};

/// Monitors that one statement writes.
const CHUNK_MONITORS: usize = 1000;

/// Code of a violated unique key (PostgreSQL manual, appendix A).
const UNIQUE_VIOLATION: &str = "23505";

/// Converts `error` to [`StoreError::AlreadyExists`] when it says that the key `unique_key` is in use.
pub(super) fn to_change_error(error: sqlx::Error, unique_key: Option<&str>) -> PgError {
    let error = PgError::from(error);
    match unique_key {
        Some(unique_key) if error.sql_state() == Some(UNIQUE_VIOLATION) => {
            StoreError::AlreadyExists(unique_key.to_owned()).into()
        }
        _ => error,
    }
}

/// Inserts a new monitor; returns its id.
pub(super) async fn insert(conn: &mut PgConnection, row: &MonitorRow) -> PgResult<i64> {
    sqlx::query_scalar(
        "INSERT INTO monitors (customer, origin, key, type, revision, modified_at, document, sealed_secrets, metadata)
         VALUES ($1, $2, $3, $4, $5, $6, $7::text::json, $8, $9) RETURNING id",
    )
    .bind(row.customer)
    .bind(row.origin)
    .bind(row.origin_key.as_deref())
    .bind(row.monitor_type)
    .bind(row.revision)
    .bind(row.modified_at)
    .bind(&row.document_json)
    .bind(row.sealed_secrets.as_deref())
    .bind(row.metadata_json.as_deref())
    .fetch_one(conn)
    .await
    .map_err(|error| to_change_error(error, row.origin_key.as_deref()))
}

/// Replaces the revision `expected_revision` of a monitor.
pub(super) async fn update(
    conn: &mut PgConnection,
    row: &MonitorRow,
    expected_revision: Revision,
) -> PgResult<()> {
    let updated = sqlx::query(
        "UPDATE monitors SET customer = $2, origin = $3, key = $4, type = $5, revision = $6, modified_at = $7,
             document = $8::text::json, sealed_secrets = $9, metadata = $10
         WHERE id = $1 AND revision = $11 AND removed_at IS NULL",
    )
    .bind(row.id)
    .bind(row.customer)
    .bind(row.origin)
    .bind(row.origin_key.as_deref())
    .bind(row.monitor_type)
    .bind(row.revision)
    .bind(row.modified_at)
    .bind(&row.document_json)
    .bind(row.sealed_secrets.as_deref())
    .bind(row.metadata_json.as_deref())
    .bind(expected_revision.0)
    .execute(conn)
    .await
    .map_err(|error| to_change_error(error, row.origin_key.as_deref()))?;
    if updated.rows_affected() == 0 { Err(StoreError::Stale.into()) } else { Ok(()) }
}

/// Returns all monitors that were not removed, ordered by id, with their sealed secrets. Fails when one cannot be
/// decoded: leaving it out would count as a removal and end its open episode.
pub(super) async fn select_all(conn: &mut PgConnection) -> PgResult<Vec<StoredMonitor>> {
    let rows = sqlx::query(
        "SELECT id, customer, key, type, revision, modified_at, document::text, origin::bigint, metadata,
             sealed_secrets
         FROM monitors WHERE document IS NOT NULL AND removed_at IS NULL ORDER BY id",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(stored_monitor_from_row).collect()
}

fn stored_monitor_from_row(row: &PgRow) -> PgResult<StoredMonitor> {
    let stored = MonitorColumns {
        id: row.try_get(0)?,
        customer: row.try_get(1)?,
        origin_key: row.try_get::<Option<&str>, _>(2)?.map(Arc::from),
        monitor_type: row.try_get(3)?,
        revision: row.try_get(4)?,
        modified_at: row.try_get(5)?,
        document_json: row.try_get(6)?,
        origin: row.try_get(7)?,
        metadata_json: row.try_get(8)?,
    };
    Ok(StoredMonitor { monitor: stored.decode()?, sealed_secrets: row.try_get(9)? })
}

/// Returns the ids of the `keys` of files, in order; assigns ids to new keys.
async fn ids_for_keys(conn: &mut PgConnection, customer: i64, keys: Vec<String>) -> PgResult<Vec<MonitorId>> {
    // The second statement sees what concurrent callers of the first one inserted.
    sqlx::query(
        "INSERT INTO monitors (customer, origin, key)
         SELECT $1, 0, key FROM unnest($2::text[]) WITH ORDINALITY AS k (key, number)
         WHERE NOT EXISTS (SELECT 1 FROM monitors AS m WHERE m.customer = $1 AND m.origin = 0 AND m.key = k.key)
         ORDER BY number
         ON CONFLICT (customer, origin, key) WHERE key IS NOT NULL DO NOTHING",
    )
    .bind(customer)
    .bind(&keys)
    .execute(&mut *conn)
    .await?;
    let ids: Vec<i64> = sqlx::query_scalar(
        "SELECT m.id FROM unnest($2::text[]) WITH ORDINALITY AS k (key, number)
         JOIN monitors AS m ON m.customer = $1 AND m.origin = 0 AND m.key = k.key ORDER BY k.number",
    )
    .bind(customer)
    .bind(&keys)
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(MonitorId).collect())
}

/// Returns the newest revision of each monitor, 0 when there is none.
async fn last_revisions(conn: &mut PgConnection, ids: Vec<MonitorId>) -> PgResult<Vec<Revision>> {
    let ids: Vec<i64> = ids.into_iter().map(|id| id.0).collect();
    let revisions: Vec<i64> = sqlx::query_scalar(
        "SELECT coalesce(m.revision, 0) FROM unnest($1::bigint[]) WITH ORDINALITY AS k (id, number)
         LEFT JOIN monitors AS m ON m.id = k.id ORDER BY k.number",
    )
    .bind(ids)
    .fetch_all(conn)
    .await?;
    Ok(revisions.into_iter().map(Revision).collect())
}

/// Stores new revisions and removes monitors. Removes the states of removed monitors, not their results. A revision
/// without metadata keeps the stored metadata.
async fn apply_changes(
    conn: &mut PgConnection,
    upserts: Vec<MonitorRow>,
    removed_ids: Vec<MonitorId>,
    audit_entries: AuditEntryByIndex,
) -> PgResult<()> {
    for chunk in upserts.chunks(CHUNK_MONITORS) {
        upsert(conn, chunk).await?;
    }
    for id in removed_ids {
        mark_removed(conn, id, None).await?;
    }
    audit::insert_all(conn, audit_entries).await
}

async fn upsert(conn: &mut PgConnection, rows: &[MonitorRow]) -> PgResult<()> {
    let numbers = |value: fn(&MonitorRow) -> i64| -> Vec<i64> { rows.iter().map(value).collect() };
    let keys: Vec<Option<&str>> = rows.iter().map(|row| row.origin_key.as_deref()).collect();
    let types: Vec<&str> = rows.iter().map(|row| row.monitor_type).collect();
    let documents: Vec<&str> = rows.iter().map(|row| row.document_json.as_str()).collect();
    let secrets: Vec<Option<&[u8]>> = rows.iter().map(|row| row.sealed_secrets.as_deref()).collect();
    let metadata: Vec<Option<&str>> = rows.iter().map(|row| row.metadata_json.as_deref()).collect();
    sqlx::query(
        "INSERT INTO monitors AS m (id, customer, key, type, revision, modified_at, document, origin, sealed_secrets,
             metadata)
         SELECT id, customer, key, type, revision, modified_at, document::json, origin, sealed_secrets, metadata
         FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
             $8::bigint[], $9::bytea[], $10::text[])
             AS r (id, customer, key, type, revision, modified_at, document, origin, sealed_secrets, metadata)
         ON CONFLICT (id) DO UPDATE SET customer = excluded.customer, key = excluded.key, type = excluded.type,
             revision = excluded.revision, modified_at = excluded.modified_at, removed_at = NULL,
             document = excluded.document, origin = excluded.origin, sealed_secrets = excluded.sealed_secrets,
             metadata = coalesce(excluded.metadata, m.metadata)",
    )
    .bind(numbers(|row| row.id))
    .bind(numbers(|row| row.customer))
    .bind(keys)
    .bind(types)
    .bind(numbers(|row| row.revision))
    .bind(numbers(|row| row.modified_at))
    .bind(documents)
    .bind(numbers(|row| row.origin))
    .bind(secrets)
    .bind(metadata)
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes a monitor with its secrets, states and attached records, if its revision is `expected_revision` (`None`:
/// whatever its revision); returns whether it did. A key of `vigie apply` becomes free, the key of a file stays with
/// its id.
pub(super) async fn mark_removed(
    conn: &mut PgConnection,
    id: MonitorId,
    expected_revision: Option<Revision>,
) -> PgResult<bool> {
    let updated = sqlx::query(
        "UPDATE monitors SET removed_at = $2, sealed_secrets = NULL, metadata = NULL,
             key = CASE WHEN origin = 0 THEN key END
         WHERE id = $1 AND removed_at IS NULL AND document IS NOT NULL AND ($3::bigint IS NULL OR revision = $3)",
    )
    .bind(id.0)
    .bind(SystemClock.now().as_micros())
    .bind(expected_revision.map(|revision| revision.0))
    .execute(&mut *conn)
    .await?;
    if updated.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query("DELETE FROM location_states WHERE monitor_id = $1").bind(id.0).execute(&mut *conn).await?;
    pushes::delete_pushes(conn, id).await?;
    // The parent of a Notifier blackout is a recipient, whose id may equal that of a monitor.
    sqlx::query(
        "DELETE FROM records WHERE kind IN ('blackout', 'test', 'sla', 'performance_alert') AND parent_id = $1
         AND (kind <> 'blackout' OR (fields ->> 'type') IS DISTINCT FROM 'Notifier')",
    )
    .bind(id.0)
    .execute(conn)
    .await?;
    Ok(true)
}

/// Returns the account of a monitor, removed or not.
pub(super) async fn customer_for_monitor(
    conn: &mut PgConnection,
    id: MonitorId,
) -> PgResult<Option<CustomerId>> {
    let customer: Option<i64> = sqlx::query_scalar("SELECT customer FROM monitors WHERE id = $1")
        .bind(id.0)
        .fetch_optional(conn)
        .await?;
    Ok(customer.map(CustomerId))
}

impl MonitorStore for PostgresStore {
    fn monitors(&self) -> StoreFuture<'_, Vec<Monitor>> {
        Box::pin(async move {
            let stored = self.read(|conn| Box::pin(select_all(conn))).await?;
            Ok(stored.into_iter().map(|stored| stored.monitor).collect())
        })
    }

    fn ids_for_file_keys(&self, customer: CustomerId, keys: Vec<String>) -> StoreFuture<'_, Vec<MonitorId>> {
        Box::pin(self.write(move |conn| Box::pin(ids_for_keys(conn, customer.0, keys))))
    }

    fn last_revisions(&self, ids: Vec<MonitorId>) -> StoreFuture<'_, Vec<Revision>> {
        Box::pin(self.read(move |conn| Box::pin(last_revisions(conn, ids))))
    }

    fn apply_monitors(
        &self,
        upserts: Vec<Monitor>,
        removed_ids: Vec<MonitorId>,
        audit_entries: AuditEntryByIndex,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let upserts: Vec<_> = upserts.iter().map(MonitorRow::from_monitor).collect();
            self.write(move |conn| Box::pin(apply_changes(conn, upserts, removed_ids, audit_entries))).await
        })
    }
}
