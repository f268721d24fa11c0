//! Stores what an earlier process left in the spool.

use serde_json::json;

use super::ingestor::Ingestor;
use super::quarantine::QuarantinedItem;
use super::result_spool::ResultSpool;
use super::spool_encoding::decode_result;
use crate::spool::{SpoolError, SpoolRecord};
use crate::store::{ResultStore, StoreError};

/// Results that are taken up at a time.
const MAX_BATCH_RESULTS: usize = 500;
/// Bytes of them, but for a single result. Less than the captures that the ingest queues.
const MAX_BATCH_BYTES: usize = 32 * 1024 * 1024;

/// Why results stay in the spool.
#[derive(Debug, thiserror::Error)]
enum ReplayError {
    #[error(transparent)]
    Spool(#[from] SpoolError),
    #[error("the store cannot be read: {0}")]
    Store(#[from] StoreError),
}

/// Stores every result in `spool`, the oldest first. They stay there until they are in the store. A failure is logged;
/// what is left is taken up at the next start.
pub async fn replay_spool(spool: &ResultSpool, ingestor: &Ingestor, result_store: &dyn ResultStore) {
    if spool.is_empty() {
        return;
    }
    let results = spool.len();
    tracing::info!(results, folder = %spool.folder(), "storing results that an earlier process could not store");
    let mut stored = 0;
    match replay_all(spool, ingestor, result_store, &mut stored).await {
        Ok(()) => tracing::info!(results = stored, "stored the results of an earlier process"),
        Err(error) => {
            let (results, folder) = (spool.len(), spool.folder());
            tracing::error!(error = %error, results, %folder, "results of an earlier process stay in the spool");
        }
    }
}

/// Submits batch after batch until the spool is empty; counts in `stored` what was submitted.
async fn replay_all(
    spool: &ResultSpool,
    ingestor: &Ingestor,
    result_store: &dyn ResultStore,
    stored: &mut usize,
) -> Result<(), ReplayError> {
    loop {
        let batch = spool.with_spool(|spool| spool.peek(MAX_BATCH_RESULTS, MAX_BATCH_BYTES)).await?;
        if batch.is_empty() {
            return Ok(());
        }
        let checks: Vec<_> = batch.iter().map(|(record, _)| record.check_id).collect();
        for (record, captures) in batch {
            *stored += usize::from(submit(&record, &captures, ingestor, result_store).await?);
        }
        ingestor.flush().await;
        spool.with_spool(move |spool| spool.acknowledge(&checks)).await?;
    }
}

/// Submits a result unless the store has it; returns whether it did.
async fn submit(
    record: &SpoolRecord,
    captures: &[SpoolRecord],
    ingestor: &Ingestor,
    result_store: &dyn ResultStore,
) -> Result<bool, ReplayError> {
    // The process may have been killed between the commit and its acknowledgement.
    let stored = result_store.result(record.check_id).await?;
    if stored.is_some_and(|stored| stored.missed.is_none()) {
        return Ok(false);
    }
    match decode_result(record, captures) {
        Ok(result) => {
            ingestor.submit(result).await;
            Ok(true)
        }
        Err(error) => {
            let body = json!({ "unreadable": String::from_utf8_lossy(&record.content) });
            let error = format!("it cannot be read from the spool: {error}");
            let id = record.check_id.to_string();
            ingestor.quarantine(QuarantinedItem { kind: "result", id, monitor_id: None, error, body }).await;
            Ok(false)
        }
    }
}
