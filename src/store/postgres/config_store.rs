//! Implements the trait for configuration.

use std::sync::Arc;

use sqlx::PgConnection;

use crate::domain::{ConfigRecord, ConfigRecordKind, CustomerId, EventSeries, EventSeriesQuery, MonitorId};
use crate::store::contract::{
    AuditEntry, AuditFilter, ConfigChange, ConfigRecordFilter, ConfigStore, NewAuditEntry, Paginated,
    Pagination, ResealFn, StoreError, StoreFuture, StoredMonitor,
};
use crate::store::rows::config_changes::PreparedConfigChanges;
use crate::store::rows::resealing::{RESEAL_CHUNK_ROWS, SealedRow, reseal_rows};

use super::error::PgResult;
use super::store::PostgresStore;
use super::{audit, config_changes, event_series, monitors, records};

impl ConfigStore for PostgresStore {
    fn stored_monitors(&self) -> StoreFuture<'_, Vec<StoredMonitor>> {
        Box::pin(self.read(|conn| Box::pin(monitors::select_all(conn))))
    }

    fn write_changes(
        &self,
        changes: Vec<ConfigChange>,
        audit_entries: Vec<NewAuditEntry>,
    ) -> StoreFuture<'_, Vec<i64>> {
        Box::pin(async move {
            let changes = PreparedConfigChanges::prepare(changes, audit_entries);
            self.write(move |conn| Box::pin(config_changes::apply(conn, changes))).await
        })
    }

    fn record(&self, kind: ConfigRecordKind, id: i64) -> StoreFuture<'_, Option<ConfigRecord>> {
        Box::pin(self.read(move |conn| Box::pin(records::by_id(conn, kind, id))))
    }

    fn record_by_unique_key(
        &self,
        kind: ConfigRecordKind,
        unique_key: String,
    ) -> StoreFuture<'_, Option<ConfigRecord>> {
        Box::pin(self.read(move |conn| Box::pin(records::by_unique_key(conn, kind, unique_key))))
    }

    fn records(
        &self,
        filter: ConfigRecordFilter,
        page: Pagination,
    ) -> StoreFuture<'_, Paginated<ConfigRecord>> {
        Box::pin(self.read_snapshot(move |conn| Box::pin(records::read_page(conn, filter, page))))
    }

    fn event_series(&self, query: EventSeriesQuery) -> StoreFuture<'_, Option<EventSeries>> {
        Box::pin(self.read_snapshot(move |conn| Box::pin(event_series::select_event_series(conn, query))))
    }

    fn audit_entries(&self, filter: AuditFilter, page: Pagination) -> StoreFuture<'_, Paginated<AuditEntry>> {
        Box::pin(self.read_snapshot(move |conn| Box::pin(audit::read_page(conn, filter, page))))
    }

    fn customer_for_monitor(&self, monitor: MonitorId) -> StoreFuture<'_, Option<CustomerId>> {
        Box::pin(self.read(move |conn| Box::pin(monitors::customer_for_monitor(conn, monitor))))
    }

    fn reseal(&self, reseal_fn: ResealFn) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let mut changed = 0;
            for column in [MONITOR_SECRETS, CERTIFICATE_KEYS, RECIPIENT_SECRETS, LOCATION_KEYS] {
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
    /// Selects id, account and sealed bytes of up to `$2` rows with an id above `$1`, and locks them.
    select_sql: &'static str,
    /// Stores the bytes `$2` in the row with the id `$1`.
    update_sql: &'static str,
}

const MONITOR_SECRETS: SealedColumn = SealedColumn {
    kind: "monitor",
    select_sql: "SELECT id, customer, sealed_secrets FROM monitors
        WHERE id > $1 AND sealed_secrets IS NOT NULL ORDER BY id LIMIT $2 FOR UPDATE",
    update_sql: "UPDATE monitors SET sealed_secrets = $2 WHERE id = $1",
};
const CERTIFICATE_KEYS: SealedColumn = SealedColumn {
    kind: "certificate",
    select_sql: "SELECT id, customer, private_data FROM records
        WHERE id > $1 AND kind = 'certificate' AND private_data IS NOT NULL ORDER BY id LIMIT $2 FOR UPDATE",
    update_sql: "UPDATE records SET private_data = $2 WHERE id = $1",
};
const RECIPIENT_SECRETS: SealedColumn = SealedColumn {
    kind: "recipient",
    select_sql: "SELECT id, customer, private_data FROM records
        WHERE id > $1 AND kind = 'recipient' AND private_data IS NOT NULL ORDER BY id LIMIT $2 FOR UPDATE",
    ..CERTIFICATE_KEYS
};
const LOCATION_KEYS: SealedColumn = SealedColumn {
    kind: "location_key",
    select_sql: "SELECT id, customer, private_data FROM records
        WHERE id > $1 AND kind = 'location_key' AND private_data IS NOT NULL ORDER BY id LIMIT $2 FOR UPDATE",
    ..CERTIFICATE_KEYS
};

impl SealedColumn {
    /// Reseals all rows in chunks, so that other writers are not blocked; returns how many changed. When interrupted,
    /// some rows have the new form and others the old one; repeating it completes the rest.
    async fn reseal_all(self, store: &PostgresStore, reseal_fn: &ResealFn) -> Result<u64, StoreError> {
        let (mut after_id, mut changed) = (i64::MIN, 0);
        loop {
            let reseal_fn = Arc::clone(reseal_fn);
            let (last_id, chunk_changed) = store
                .write(move |conn| {
                    Box::pin(async move { self.reseal_chunk(conn, after_id, &reseal_fn).await })
                })
                .await?;
            changed += chunk_changed;
            match last_id {
                Some(last_id) => after_id = last_id,
                None => return Ok(changed),
            }
        }
    }

    /// Reseals a chunk; returns the last id that was read, `None` at the end, and how many changed.
    async fn reseal_chunk(
        self,
        conn: &mut PgConnection,
        after_id: i64,
        reseal_fn: &ResealFn,
    ) -> PgResult<(Option<i64>, u64)> {
        let rows: Vec<SealedRow> = sqlx::query_as(self.select_sql)
            .bind(after_id)
            .bind(RESEAL_CHUNK_ROWS)
            .fetch_all(&mut *conn)
            .await?;
        let resealed_rows = reseal_rows(self.kind, &rows, reseal_fn);
        let changed = resealed_rows.len() as u64;
        for (id, resealed_bytes) in resealed_rows {
            sqlx::query(self.update_sql).bind(id).bind(resealed_bytes).execute(&mut *conn).await?;
        }
        Ok((rows.last().map(|(id, ..)| *id), changed))
    }
}
