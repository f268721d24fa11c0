//! Stored monitors, and the ids of the keys of monitor files.

use rusqlite::{Connection, Row, params};

use crate::clock::{Clock, SystemClock};
use crate::domain::{CustomerId, MonitorId, Revision};
use crate::schema::Monitor;
use crate::store::contract::{AuditEntryByIndex, MonitorStore, StoreError, StoreFuture, StoredMonitor};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::monitor_row::{MonitorColumns, MonitorRow};

use super::change_error::{ChangeError, to_change_error};
use super::decode::text_column;
use super::store::SqliteStore;
use super::writer::WriteContext;
use super::{audit, pushes};

/// Inserts a new monitor; returns its id.
pub(super) fn insert(conn: &Connection, row: &MonitorRow) -> Result<i64, ChangeError> {
    let inserted = conn
        .prepare_cached(
            "INSERT INTO monitors (customer, origin, key, type, revision, modified_at, document, sealed, trail)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .insert(params![
            row.customer,
            row.origin,
            row.origin_key,
            row.monitor_type,
            row.revision,
            row.modified_at,
            row.document_json,
            row.sealed_secrets,
            row.metadata_json
        ]);
    inserted.map_err(|error| to_change_error(error, row.origin_key.as_deref()))
}

/// Replaces the revision `expected_revision` of a monitor.
pub(super) fn update(
    conn: &Connection,
    row: &MonitorRow,
    expected_revision: Revision,
) -> Result<(), ChangeError> {
    let changed = conn
        .prepare_cached(
            "UPDATE monitors SET customer = ?2, origin = ?3, key = ?4, type = ?5, revision = ?6,
                 modified_at = ?7, document = ?8, sealed = ?9, trail = ?10
             WHERE id = ?1 AND revision = ?11 AND removed_at IS NULL",
        )?
        .execute(params![
            row.id,
            row.customer,
            row.origin,
            row.origin_key,
            row.monitor_type,
            row.revision,
            row.modified_at,
            row.document_json,
            row.sealed_secrets,
            row.metadata_json,
            expected_revision.0
        ]);
    match changed.map_err(|error| to_change_error(error, row.origin_key.as_deref()))? {
        0 => Err(ChangeError::Rejected(StoreError::Stale)),
        _ => Ok(()),
    }
}

/// Returns all monitors that were not removed, ordered by id. Fails when one cannot be decoded: leaving it out would
/// count as a removal and end its open episode.
pub(super) fn select_all(conn: &Connection) -> rusqlite::Result<Vec<Monitor>> {
    map_rows(conn, |_, monitor| Ok(monitor))
}

/// Like [`select_all`], with the sealed secrets.
pub(super) fn select_all_with_secrets(conn: &Connection) -> rusqlite::Result<Vec<StoredMonitor>> {
    map_rows(conn, |row, monitor| Ok(StoredMonitor { monitor, sealed_secrets: row.get(9)? }))
}

fn map_rows<T>(
    conn: &Connection,
    mut build: impl FnMut(&Row<'_>, Monitor) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = conn.prepare_cached(
        "SELECT id, customer, key, type, revision, modified_at, document, origin, trail, sealed FROM monitors
         WHERE document IS NOT NULL AND removed_at IS NULL ORDER BY id",
    )?;
    let mut values = Vec::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        values.push(build(row, monitor_from_row(row)?)?);
    }
    Ok(values)
}

fn monitor_from_row(row: &Row<'_>) -> rusqlite::Result<Monitor> {
    let key = [("id", row.get(0)?)];
    let locator = RowLocator { table: "monitors", key: &key };
    let stored = MonitorColumns {
        id: row.get(0)?,
        customer: row.get(1)?,
        origin_key: row.get(2)?,
        monitor_type: text_column(locator, row, 3, "type")?,
        revision: row.get(4)?,
        modified_at: row.get(5)?,
        document_json: text_column(locator, row, 6, "document")?,
        origin: row.get(7)?,
        metadata_json: text_column(locator, row, 8, "trail")?,
    };
    Ok(stored.decode()?)
}

/// Returns the ids of the `keys` of files, in order; assigns ids to new keys.
pub(super) fn ids_for_keys(
    conn: &Connection,
    customer: i64,
    keys: &[String],
) -> rusqlite::Result<Vec<MonitorId>> {
    let mut select_id =
        conn.prepare_cached("SELECT id FROM monitors WHERE customer = ?1 AND origin = 0 AND key = ?2")?;
    let mut insert_key =
        conn.prepare_cached("INSERT INTO monitors (customer, origin, key) VALUES (?1, 0, ?2)")?;
    let mut ids = Vec::with_capacity(keys.len());
    for key in keys {
        let existing_id =
            select_id.query_map(params![customer, key], |row| row.get(0))?.next().transpose()?;
        let id = match existing_id {
            Some(id) => id,
            None => insert_key.insert(params![customer, key])?,
        };
        ids.push(MonitorId(id));
    }
    Ok(ids)
}

/// Returns the newest revision of each monitor, 0 when there is none.
pub(super) fn last_revisions(conn: &Connection, ids: &[MonitorId]) -> rusqlite::Result<Vec<Revision>> {
    let mut select_revision =
        conn.prepare_cached("SELECT ifnull(revision, 0) FROM monitors WHERE id = ?1")?;
    ids.iter()
        .map(|id| select_revision.query_map([id.0], |row| row.get(0))?.next().transpose())
        .map(|found| found.map(|revision| Revision(revision.unwrap_or(0))))
        .collect()
}

/// Stores new revisions and removes monitors. Removes the states of removed monitors, not their results. A revision
/// without metadata keeps the stored metadata.
pub(super) fn apply_changes(
    conn: &Connection,
    upserts: &[MonitorRow],
    removed_ids: &[MonitorId],
) -> rusqlite::Result<()> {
    let mut upsert = conn.prepare_cached(
        "INSERT INTO monitors (id, customer, key, type, revision, modified_at, document, origin, sealed, trail)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (id) DO UPDATE SET customer = ?2, key = ?3, type = ?4, revision = ?5, modified_at = ?6,
             removed_at = NULL, document = ?7, origin = ?8, sealed = ?9, trail = ifnull(?10, trail)",
    )?;
    for monitor in upserts {
        upsert.execute(params![
            monitor.id,
            monitor.customer,
            monitor.origin_key,
            monitor.monitor_type,
            monitor.revision,
            monitor.modified_at,
            monitor.document_json,
            monitor.origin,
            monitor.sealed_secrets,
            monitor.metadata_json
        ])?;
    }
    for id in removed_ids {
        mark_removed(conn, *id, None)?;
    }
    Ok(())
}

/// Removes a monitor with its secrets, states and attached records, if its revision is `expected_revision` (`None`:
/// whatever its revision); returns whether it did. A key of `vigie apply` becomes free, the key of a file stays with
/// its id.
pub(super) fn mark_removed(
    conn: &Connection,
    id: MonitorId,
    expected_revision: Option<Revision>,
) -> rusqlite::Result<bool> {
    let now = SystemClock.now().as_micros();
    let updated_rows = conn
        .prepare_cached(
            "UPDATE monitors SET removed_at = ?2, sealed = NULL, trail = NULL, key = iif(origin = 0, key, NULL)
             WHERE id = ?1 AND removed_at IS NULL AND document IS NOT NULL AND (?3 IS NULL OR revision = ?3)",
        )?
        .execute(params![id.0, now, expected_revision.map(|revision| revision.0)])?;
    if updated_rows > 0 {
        conn.prepare_cached("DELETE FROM states WHERE monitor_id = ?1")?.execute([id.0])?;
        pushes::delete_pushes(conn, id)?;
        // The parent of a Notifier blackout is a recipient, whose id may equal that of a monitor.
        conn.prepare_cached(
            "DELETE FROM records WHERE kind IN ('blackout', 'test', 'sla', 'performance_alert') AND assoc = ?1
             AND (kind <> 'blackout' OR json_extract(fields, '$.type') IS NOT 'Notifier')",
        )?
        .execute([id.0])?;
    }
    Ok(updated_rows > 0)
}

impl MonitorStore for SqliteStore {
    fn monitors(&self) -> StoreFuture<'_, Vec<Monitor>> {
        Box::pin(self.readers.call(select_all))
    }

    fn ids_for_file_keys(&self, customer: CustomerId, keys: Vec<String>) -> StoreFuture<'_, Vec<MonitorId>> {
        Box::pin(self.writer.call(move |context| ids_for_keys(context.conn, customer.0, &keys)))
    }

    fn last_revisions(&self, ids: Vec<MonitorId>) -> StoreFuture<'_, Vec<Revision>> {
        Box::pin(self.readers.call(move |conn| last_revisions(conn, &ids)))
    }

    fn apply_monitors(
        &self,
        upserts: Vec<Monitor>,
        removed_ids: Vec<MonitorId>,
        audit_entries: AuditEntryByIndex,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let upserts: Vec<_> = upserts.iter().map(MonitorRow::from_monitor).collect();
            let write = move |context: &mut WriteContext<'_>| {
                for monitor in &upserts {
                    context.cache.forget_monitor(monitor.id);
                }
                apply_changes(context.conn, &upserts, &removed_ids)?;
                audit::insert_all(context.conn, &audit_entries)
            };
            self.writer.call(write).await
        })
    }
}
