//! A commit, ready to be written: the caller builds it, so that writers neither serialize JSON nor compress files.

use std::sync::Arc;

use crate::domain::MonitorLocationState;
use crate::store::contract::{IngestBatch, StoreError};

use super::prepared_alerts::PreparedAlerts;
use super::result_row::ResultRow;

/// A commit, ready to be written.
pub(in crate::store) struct PreparedBatch {
    /// In the order of the clustered key, so that adjacent rows are written together.
    pub(in crate::store) rows: Vec<ResultRow>,
    pub(in crate::store) location_states: Vec<MonitorLocationState>,
    pub(in crate::store) alert_changes: PreparedAlerts,
}

impl PreparedBatch {
    /// Prepares `batch` for writing. Files are compressed on a blocking thread.
    pub(in crate::store) async fn prepare(batch: Arc<IngestBatch>) -> Result<Self, StoreError> {
        let has_captures = batch.results.iter().any(|result| !result.captures.is_empty());
        if !has_captures && batch.alert_changes.added_captures.is_empty() {
            return Ok(Self::from_batch(&batch));
        }
        // Fails only when the runtime shuts down.
        tokio::task::spawn_blocking(move || Self::from_batch(&batch)).await.map_err(|_| StoreError::Closed)
    }

    fn from_batch(batch: &IngestBatch) -> Self {
        let mut rows: Vec<ResultRow> = batch.results.iter().map(ResultRow::from_result).collect();
        // Stable: of two rows with the same id, the real one or else the first one is stored.
        rows.sort_by_key(|row| (row.planned_at, row.monitor_id, row.location_id));
        let mut states = batch.location_states.clone();
        states.sort_by_key(|state| (state.monitor_id, state.location_id));
        Self {
            rows,
            location_states: states,
            alert_changes: PreparedAlerts::from_changes(batch.alert_changes.clone()),
        }
    }
}
