//! Stored monitors, and the ids of the keys of monitor files.

use std::sync::Arc;

use rusqlite::{Connection, Row, params};
use serde_json::{Map, Value};

use crate::clock::{Clock, SystemClock};
use crate::domain::{CustomerId, MonitorId, MonitorType, Revision, Timestamp};
use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin, SecretMode};
use crate::store::contract::{NewMonitor, StoreError, StoredMonitor};

use super::change_error::{ChangeError, to_change_error};
use super::decode::RowLocator;
use crate::store::contract::AuditEntryByIndex;
use crate::store::contract::MonitorStore;
use crate::store::contract::StoreFuture;
use crate::store::sqlite::audit;
use crate::store::sqlite::store::SqliteStore;
use crate::store::sqlite::writer::WriteContext;

/// A monitor, ready to be written.
pub(super) struct MonitorRow {
    pub(super) id: i64,
    customer: i64,
    /// Code of the origin: 0 file, 1 API, 2 `vigie apply`.
    origin: i64,
    origin_key: Option<Arc<str>>,
    monitor_type: &'static str,
    revision: i64,
    modified_at: i64,
    document_json: String,
    sealed_secrets: Option<Vec<u8>>,
    /// `None` without metadata.
    metadata_json: Option<String>,
}

impl MonitorRow {
    pub(super) fn from_monitor(monitor: &Monitor) -> Self {
        let (origin, key) = origin_columns(&monitor.origin);
        Self {
            id: monitor.id.0,
            customer: monitor.customer.0,
            origin,
            origin_key: key,
            monitor_type: monitor.monitor_type().name(),
            revision: monitor.revision.0,
            modified_at: monitor.modified_at.as_micros(),
            document_json: document_json(&monitor.document),
            sealed_secrets: None,
            metadata_json: metadata_json(&monitor.metadata),
        }
    }

    pub(super) fn from_stored(stored: StoredMonitor) -> Self {
        Self { sealed_secrets: stored.sealed_secrets, ..Self::from_monitor(&stored.monitor) }
    }

    /// Converts a new monitor, which has no id yet.
    pub(super) fn from_new(new: NewMonitor) -> Self {
        let (origin, key) = origin_columns(&new.origin);
        Self {
            id: 0,
            customer: new.customer.0,
            origin,
            origin_key: key,
            monitor_type: new.document.monitor_type().name(),
            revision: 1,
            modified_at: new.modified_at.as_micros(),
            document_json: document_json(&new.document),
            sealed_secrets: new.sealed_secrets,
            metadata_json: metadata_json(&new.metadata),
        }
    }

    /// Inserts it; returns its id.
    pub(super) fn insert(&self, conn: &Connection) -> Result<i64, ChangeError> {
        let inserted = conn
            .prepare_cached(
                "INSERT INTO monitors (customer, origin, key, type, revision, modified_at, document, sealed, trail)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .insert(params![
                self.customer,
                self.origin,
                self.origin_key,
                self.monitor_type,
                self.revision,
                self.modified_at,
                self.document_json,
                self.sealed_secrets,
                self.metadata_json
            ]);
        inserted.map_err(|error| to_change_error(error, self.origin_key.as_deref()))
    }

    /// Replaces the revision `expected_revision`.
    pub(super) fn update(&self, conn: &Connection, expected_revision: Revision) -> Result<(), ChangeError> {
        let changed = conn
            .prepare_cached(
                "UPDATE monitors SET customer = ?2, origin = ?3, key = ?4, type = ?5, revision = ?6,
                     modified_at = ?7, document = ?8, sealed = ?9, trail = ?10
                 WHERE id = ?1 AND revision = ?11 AND removed_at IS NULL",
            )?
            .execute(params![
                self.id,
                self.customer,
                self.origin,
                self.origin_key,
                self.monitor_type,
                self.revision,
                self.modified_at,
                self.document_json,
                self.sealed_secrets,
                self.metadata_json,
                expected_revision.0
            ]);
        match changed.map_err(|error| to_change_error(error, self.origin_key.as_deref()))? {
            0 => Err(ChangeError::Rejected(StoreError::Stale)),
            _ => Ok(()),
        }
    }
}

fn origin_columns(origin: &Origin) -> (i64, Option<Arc<str>>) {
    match origin {
        Origin::File { key } => (0, Some(Arc::clone(key))),
        Origin::Api => (1, None),
        Origin::Applied { key } => (2, Some(Arc::clone(key))),
    }
}

fn origin_from_columns(origin: i64, key: Option<Arc<str>>) -> Option<Origin> {
    match (origin, key) {
        (0, Some(key)) => Some(Origin::File { key }),
        (1, _) => Some(Origin::Api),
        (2, Some(key)) => Some(Origin::Applied { key }),
        _ => None,
    }
}

fn document_json(document: &MonitorDocument) -> String {
    Value::Object(document.to_non_default_fields(SecretMode::Omitted)).to_string()
}

/// Serializes metadata; `None` when it is empty.
fn metadata_json(metadata: &MonitorMetadata) -> Option<String> {
    // Serialization cannot fail: only texts and numbers.
    if *metadata == MonitorMetadata::default() { None } else { serde_json::to_string(metadata).ok() }
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
    let monitor_type = locator.text_column(row, 3, "type")?.unwrap_or_default();
    let monitor_type = locator.require_decoded("type", monitor_type, MonitorType::from_name(monitor_type))?;
    let values: Map<String, Value> = locator.json_column(row, 6, "document")?.unwrap_or_default();
    let origin: i64 = row.get(7)?;
    let metadata: Option<MonitorMetadata> = locator.json_column(row, 8, "trail")?;
    let document = MonitorDocument::new(monitor_type, values)
        .map_err(|error| locator.decode_error("document", error))?;
    Ok(Monitor {
        id: MonitorId(row.get(0)?),
        customer: CustomerId(row.get(1)?),
        origin: locator.require_decoded("origin", origin, origin_from_columns(origin, row.get(2)?))?,
        revision: Revision(row.get(4)?),
        modified_at: Timestamp::from_micros(row.get(5)?),
        document: Arc::new(document),
        metadata: metadata.map(Arc::new).unwrap_or_default(),
    })
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
/// whatever its revision); returns whether it did. A key of `vigie apply` becomes free, the key of a file stays with its id.
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
