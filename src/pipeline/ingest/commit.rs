//! Commits with retries. What the store cannot write, however often it is tried, is quarantined, so that the rest
//! goes on.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use super::commit_failure::CommitFailure;
use super::quarantine::QuarantinedItem;
use super::split_batch::{SplitBatch, split_batch};
use super::worker::IngestWorker;
use crate::store::{IngestBatch, StoreError};
use crate::telemetry::fault_point;

/// Why a commit is not repeated.
enum CommitStopped {
    /// The store was closed.
    Closed,
    /// The fault lies in the batch.
    BatchRejected(StoreError),
}

impl IngestWorker {
    /// Commits `batch` unless it is empty, without what the store cannot write; `false` when the store was closed.
    pub(super) async fn commit(&self, batch: Arc<IngestBatch>) -> bool {
        if batch.results.is_empty() && batch.alert_changes.is_empty() {
            return true;
        }
        let mut parts = VecDeque::from([batch]);
        while let Some(part) = parts.pop_front() {
            let error = match self.commit_with_retry(&part).await {
                Ok(()) => {
                    self.notify_observer(&part);
                    continue;
                }
                Err(CommitStopped::Closed) => {
                    tracing::error!(
                        results = part.results.len(),
                        "results are not stored: the store is closed"
                    );
                    return false;
                }
                Err(CommitStopped::BatchRejected(error)) => error,
            };
            match split_batch(&part) {
                // In order, since the later results of a monitor follow the earlier ones.
                SplitBatch::Parts(smaller) => {
                    for part in smaller.into_iter().rev() {
                        parts.push_front(Arc::new(part));
                    }
                }
                SplitBatch::Single(items) => {
                    for item in items {
                        self.quarantine.record(QuarantinedItem { error: error.to_string(), ..item }).await;
                    }
                }
            }
        }
        self.record_recovery();
        true
    }

    /// Shows the results of a commit to the observer; a panic of it concerns nobody else.
    fn notify_observer(&self, part: &IngestBatch) {
        let Some(observer) = self.observer.get() else { return };
        if catch_unwind(AssertUnwindSafe(|| observer.on_committed(&part.results))).is_err() {
            self.heartbeat.record_panic();
            tracing::error!(results = part.results.len(), "failed to pass on stored results: it panicked");
        }
    }

    /// Commits until it succeeds, the store is closed, or the fault lies in the batch.
    async fn commit_with_retry(&self, batch: &Arc<IngestBatch>) -> Result<(), CommitStopped> {
        let mut retry_delay = self.settings.initial_retry_delay;
        loop {
            self.heartbeat.beat();
            let started = Instant::now();
            let committed = match fault_point("commit").await {
                Ok(()) => self.store.commit_shared(Arc::clone(batch)).await,
                Err(error) => Err(error),
            };
            match committed {
                Ok(()) => {
                    self.metrics.record_commit(batch.results.len(), started.elapsed());
                    self.metrics.record_stored_results(&batch.results);
                    self.record_recovery();
                    return Ok(());
                }
                Err(StoreError::Closed) => return Err(CommitStopped::Closed),
                Err(error) if error.is_fault_of_call() => {
                    self.metrics.record_commit_error(error.kind());
                    let results = batch.results.len();
                    tracing::error!(error_kind = error.kind(), results, "failed to store results: {error}");
                    return Err(CommitStopped::BatchRejected(error));
                }
                Err(error) => self.record_failure(error, batch.results.len()),
            }
            self.heartbeat.mark_idle_for(retry_delay);
            tokio::time::sleep(retry_delay).await;
            retry_delay = (retry_delay * 2).min(self.settings.max_retry_delay);
        }
    }

    /// Logs a failure once per kind of error, not per attempt.
    fn record_failure(&self, error: StoreError, results: usize) {
        self.metrics.record_commit_error(error.kind());
        let mut failure = self.commit_failure.lock();
        if failure.as_ref().is_some_and(|previous| previous.error.kind() == error.kind()) {
            return;
        }
        tracing::error!(error_kind = error.kind(), results, "failed to store results, retrying: {error}");
        let since = failure.take().map_or_else(Instant::now, |previous| previous.since);
        *failure = Some(CommitFailure { error, since });
    }

    /// Logs that commits succeed again, if they failed.
    fn record_recovery(&self) {
        if let Some(failure) = self.commit_failure.lock().take() {
            let seconds = failure.since.elapsed().as_secs_f64();
            tracing::info!(duration_s = seconds, "storing results works again; none was lost");
        }
    }
}
