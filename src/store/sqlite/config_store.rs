//! Implements the traits for configuration and tokens with SQLite.

use rusqlite::{Connection, params};

use crate::domain::{
    ConfigRecord, ConfigRecordKind, CustomerId, EventSeries, EventSeriesQuery, MonitorId, Timestamp, UserId,
};
use crate::store::contract::{
    AuditEntry, AuditFilter, ConfigChange, ConfigRecordFilter, ConfigStore, NewAuditEntry, Paginated,
    Pagination, ResealFn, StoreError, StoreFuture, StoredMonitor, StoredToken, TokenStore, TokenUse,
};
use crate::store::rows::config_changes::PreparedConfigChanges;
use crate::store::rows::resealing::{RESEAL_CHUNK_ROWS, SealedRow, reseal_rows};
use crate::store::sqlite::writer::WriteContext;

use super::event_series;
use super::store::SqliteStore;
use super::{audit, config_changes, monitors, records, tokens, write_cache};

impl ConfigStore for SqliteStore {
    fn stored_monitors(&self) -> StoreFuture<'_, Vec<StoredMonitor>> {
        Box::pin(self.readers.call(monitors::select_all_with_secrets))
    }

    fn write_changes(
        &self,
        changes: Vec<ConfigChange>,
        audit_entries: Vec<NewAuditEntry>,
    ) -> StoreFuture<'_, Vec<i64>> {
        Box::pin(async move {
            let changes = PreparedConfigChanges::prepare(changes, audit_entries);
            let write = move |context: &mut WriteContext<'_>| {
                changes.updated_monitor_ids().for_each(|id| context.cache.forget_monitor(id));
                config_changes::apply(&changes, context.conn)
            };
            self.writer.call(write).await?
        })
    }

    fn record(&self, kind: ConfigRecordKind, id: i64) -> StoreFuture<'_, Option<ConfigRecord>> {
        Box::pin(self.readers.call(move |conn| records::by_id(conn, kind, id)))
    }

    fn record_by_unique_key(
        &self,
        kind: ConfigRecordKind,
        unique_key: String,
    ) -> StoreFuture<'_, Option<ConfigRecord>> {
        Box::pin(self.readers.call(move |conn| records::by_unique_key(conn, kind, &unique_key)))
    }

    fn records(
        &self,
        filter: ConfigRecordFilter,
        page: Pagination,
    ) -> StoreFuture<'_, Paginated<ConfigRecord>> {
        Box::pin(self.readers.call(move |conn| records::read_page(conn, &filter, page)))
    }

    fn event_series(&self, query: EventSeriesQuery) -> StoreFuture<'_, Option<EventSeries>> {
        Box::pin(self.readers.call(move |conn| event_series::select_event_series(conn, &query)))
    }

    fn audit_entries(&self, filter: AuditFilter, page: Pagination) -> StoreFuture<'_, Paginated<AuditEntry>> {
        Box::pin(self.readers.call(move |conn| audit::read_page(conn, &filter, page)))
    }

    fn customer_for_monitor(&self, monitor: MonitorId) -> StoreFuture<'_, Option<CustomerId>> {
        Box::pin(self.readers.call(move |conn| write_cache::customer_for_monitor(conn, monitor)))
    }

    fn reseal(&self, reseal_fn: ResealFn) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let monitors = SealedColumn {
                kind: "monitor",
                select_sql: "SELECT id, customer, sealed FROM monitors
                       WHERE id > ?1 AND sealed IS NOT NULL ORDER BY id LIMIT ?2",
                update_sql: "UPDATE monitors SET sealed = ?2 WHERE id = ?1",
            };
            let certificates = SealedColumn {
                kind: "certificate",
                select_sql: "SELECT id, customer, private FROM records
                       WHERE id > ?1 AND kind = 'certificate' AND private IS NOT NULL ORDER BY id LIMIT ?2",
                update_sql: "UPDATE records SET private = ?2 WHERE id = ?1",
            };
            let recipients = SealedColumn {
                kind: "recipient",
                select_sql: "SELECT id, customer, private FROM records
                       WHERE id > ?1 AND kind = 'recipient' AND private IS NOT NULL ORDER BY id LIMIT ?2",
                ..certificates
            };
            let location_keys = SealedColumn {
                kind: "location_key",
                select_sql: "SELECT id, customer, private FROM records
                       WHERE id > ?1 AND kind = 'location_key' AND private IS NOT NULL ORDER BY id LIMIT ?2",
                ..certificates
            };
            let mut changed = 0;
            for column in [monitors, certificates, recipients, location_keys] {
                changed += column.reseal_all(self, &reseal_fn).await?;
            }
            Ok(changed)
        })
    }
}

/// A column with sealed bytes.
#[derive(Clone, Copy)]
struct SealedColumn {
    /// Kind of object in the context of [`seal_context`](crate::store::contract::seal_context).
    kind: &'static str,
    /// Selects id, account and sealed bytes of up to `?2` rows with an id above `?1`.
    select_sql: &'static str,
    /// Stores the bytes `?2` in the row with the id `?1`.
    update_sql: &'static str,
}

impl SealedColumn {
    /// Reseals all rows in chunks, so that other writers are not blocked; returns how many changed. When interrupted,
    /// some rows have the new form and others the old one; repeating it completes the rest.
    async fn reseal_all(self, store: &SqliteStore, reseal_fn: &ResealFn) -> Result<u64, StoreError> {
        let (mut after_id, mut changed) = (i64::MIN, 0);
        loop {
            let reseal_fn = std::sync::Arc::clone(reseal_fn);
            let write_chunk = move |context: &mut super::writer::WriteContext<'_>| {
                self.reseal_chunk(context.conn, after_id, &reseal_fn)
            };
            let (last_id, chunk_changed) = store.writer.call(write_chunk).await?;
            changed += chunk_changed;
            match last_id {
                Some(last_id) => after_id = last_id,
                None => return Ok(changed),
            }
        }
    }

    /// Reseals a chunk; returns the last id that was read, `None` at the end, and how many changed.
    fn reseal_chunk(
        self,
        conn: &Connection,
        after_id: i64,
        reseal_fn: &ResealFn,
    ) -> rusqlite::Result<(Option<i64>, u64)> {
        let rows: Vec<SealedRow> = conn
            .prepare_cached(self.select_sql)?
            .query_map([after_id, RESEAL_CHUNK_ROWS], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        let mut update = conn.prepare_cached(self.update_sql)?;
        let resealed_rows = reseal_rows(self.kind, &rows, reseal_fn);
        for (id, resealed_bytes) in &resealed_rows {
            update.execute(params![id, resealed_bytes])?;
        }
        Ok((rows.last().map(|(id, ..)| *id), resealed_rows.len() as u64))
    }
}

impl TokenStore for SqliteStore {
    fn insert(&self, token: StoredToken) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.call(move |context| tokens::insert(context.conn, &token)))
    }

    fn token(&self, hash: [u8; 32]) -> StoreFuture<'_, Option<StoredToken>> {
        Box::pin(self.readers.call(move |conn| tokens::by_hash(conn, hash)))
    }

    fn tokens_for_user(&self, user: UserId) -> StoreFuture<'_, Vec<StoredToken>> {
        Box::pin(self.readers.call(move |conn| tokens::by_user(conn, user)))
    }

    fn record_use(&self, hash: [u8; 32], last_use: TokenUse) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.call(move |context| tokens::record_use(context.conn, hash, &last_use)))
    }

    fn revoke(&self, hash: [u8; 32]) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.call(move |context| tokens::delete(context.conn, hash)))
    }

    fn remove_expired(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(self.writer.call(move |context| tokens::delete_expired(context.conn, now)))
    }
}
