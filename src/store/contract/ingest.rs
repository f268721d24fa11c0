//! Commit of results in one transaction.

use std::sync::Arc;

use crate::domain::{CheckResult, MonitorId, MonitorLocationState};

use super::alerts::AlertChanges;
use super::future::StoreFuture;

/// The contents of one transaction.
#[derive(Debug, Default, Clone)]
pub struct IngestBatch {
    /// Results, with ids from [`CheckId::new`](crate::domain::CheckId::new). A real result replaces a missed one of the
    /// same check id; any other repeat is dropped.
    pub results: Vec<CheckResult>,
    /// States of monitors at their locations after these results.
    pub location_states: Vec<MonitorLocationState>,
    /// Changes by alerting that follow from them.
    pub alert_changes: AlertChanges,
}

impl IngestBatch {
    /// Returns the monitors whose states the batch changes.
    pub(in crate::store) fn monitors_with_changed_states(&self) -> impl Iterator<Item = MonitorId> {
        let states = self.location_states.iter().map(|state| state.monitor_id);
        let verified = self.alert_changes.verified_checks.iter();
        states.chain(verified.map(|verified| verified.result_key.monitor_id))
    }
}

/// Stores results and what follows from them.
pub trait Ingest: Send + Sync + 'static {
    /// Stores all of `batch` or nothing; once it returns, a killed process loses none of it. The caller keeps the
    /// batch, to repeat the call.
    fn commit_shared(&self, batch: Arc<IngestBatch>) -> StoreFuture<'_, ()>;

    /// Like [`Self::commit_shared`], for a batch that the caller does not need any more.
    fn commit(&self, batch: IngestBatch) -> StoreFuture<'_, ()> {
        self.commit_shared(Arc::new(batch))
    }
}
