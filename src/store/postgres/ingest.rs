//! Writes results, states and alerting changes.

use std::sync::Arc;

use sqlx::PgConnection;

use crate::store::contract::{Ingest, IngestBatch, StoreFuture};
use crate::store::rows::prepared_batch::PreparedBatch;

use super::error::PgResult;
use super::store::{Caches, PostgresStore};
use super::{alerts, result_writes, states};

/// What a committed batch stored, to be remembered.
struct StoredByBatch {
    texts: Vec<([u8; 16], i64)>,
    pairs: Vec<(i64, i64)>,
}

impl Ingest for PostgresStore {
    fn commit_shared(&self, batch: Arc<IngestBatch>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let prepared = Arc::new(PreparedBatch::prepare(Arc::clone(&batch)).await?);
            let committed = match self.commit_prepared(&prepared).await {
                // Another process has removed the partition.
                Err(error) if error.is_missing_partition() => {
                    self.caches.days.clear();
                    self.commit_prepared(&prepared).await
                }
                outcome => outcome,
            };
            committed.map_err(|error| self.error_mapper.to_store_error(&error))?;
            self.caches.state_changes.record(batch.monitors_with_changed_states());
            Ok(())
        })
    }
}

impl PostgresStore {
    async fn commit_prepared(&self, batch: &Arc<PreparedBatch>) -> PgResult<()> {
        self.ensure_result_days(batch.rows.iter().map(|row| row.planned_at)).await?;
        let (batch, caches) = (Arc::clone(batch), Arc::clone(&self.caches));
        let stored = self
            .try_write(move |conn| Box::pin(async move { write_batch(conn, &batch, &caches).await }))
            .await?;
        self.caches.texts.remember(stored.texts);
        self.caches.pairs.remember(stored.pairs);
        Ok(())
    }
}

/// Writes the texts that results refer to, results, then states and alerting changes.
async fn write_batch(
    conn: &mut PgConnection,
    batch: &PreparedBatch,
    caches: &Caches,
) -> PgResult<StoredByBatch> {
    let texts = batch.rows.iter().flat_map(|row| {
        let optional_texts = [row.shared_facts.as_ref(), row.certificate_chain.as_ref()];
        std::iter::once(&row.type_and_name)
            .chain(optional_texts.into_iter().flatten())
            .map(|text| (text, row.planned_at))
    });
    let texts = caches.texts.unknown(texts).write(conn).await?;
    let pairs = caches.pairs.unknown(batch.rows.iter().map(|row| (row.monitor_id, row.location_id)));
    states::insert_pairs(conn, &pairs).await?;
    if !batch.rows.is_empty() {
        result_writes::write_results(conn, &batch.rows).await?;
    }
    states::upsert(conn, &batch.location_states).await?;
    alerts::write(conn, &batch.alert_changes).await?;
    Ok(StoredByBatch { texts, pairs })
}
