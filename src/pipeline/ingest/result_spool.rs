//! Results that the store did not take before the process ended: kept on disk, and stored at the next start.

use std::path::PathBuf;
use std::sync::Arc;

use super::spool_encoding::encode_result;
use crate::clock::Clock;
use crate::domain::CheckResult;
use crate::spool::{Spool, SpoolError, SpoolSettings};
use crate::sync::Mutex;
use crate::telemetry::Metrics;

/// Keeps results on disk from one process to the next.
pub struct ResultSpool {
    spool: Arc<Mutex<Spool>>,
    folder: PathBuf,
    metrics: Arc<Metrics>,
    clock: Arc<dyn Clock>,
}

impl ResultSpool {
    /// Opens the spool in `folder`.
    ///
    /// # Errors
    /// Fails when the folder cannot be used, or another process uses it.
    pub fn open(
        folder: PathBuf,
        settings: SpoolSettings,
        metrics: Arc<Metrics>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SpoolError> {
        let spool = Arc::new(Mutex::new(Spool::open(&folder, settings)?));
        let opened = Self { spool, folder, metrics, clock };
        opened.update_metrics();
        Ok(opened)
    }

    /// Returns its folder.
    pub(super) fn folder(&self) -> std::path::Display<'_> {
        self.folder.display()
    }

    /// Returns the number of results.
    pub(super) fn len(&self) -> usize {
        self.spool.lock().len()
    }

    /// Whether it holds no result.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spool.lock().is_empty()
    }

    /// Writes `results`; they are on disk once this returns.
    ///
    /// # Errors
    /// Fails when a result cannot be written.
    pub(super) async fn write(&self, results: Vec<CheckResult>) -> Result<(), SpoolError> {
        let now = self.clock.now();
        self.with_spool(move |spool| {
            let (mut records, mut captures) = (Vec::new(), Vec::new());
            for result in &results {
                let (record, result_captures) = encode_result(result);
                records.push(record);
                captures.extend(result_captures);
            }
            spool.append(&records, &captures, now)
        })
        .await
    }

    /// Runs `work` off the runtime.
    pub(super) async fn with_spool<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Spool) -> Result<T, SpoolError> + Send + 'static,
    ) -> Result<T, SpoolError> {
        let spool = Arc::clone(&self.spool);
        let task = tokio::task::spawn_blocking(move || work(&mut spool.lock()));
        let task_result = match task.await {
            Ok(task_result) => task_result,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        };
        self.update_metrics();
        task_result
    }

    fn update_metrics(&self) {
        let mut spool = self.spool.lock();
        let dropped = spool.take_dropped();
        self.metrics.set_spool_size(spool.len(), spool.bytes());
        self.metrics.record_spool_drops(dropped.results, dropped.captures);
        if dropped.results > 0 {
            tracing::error!(
                results = dropped.results,
                "results lost: they were too old or too many for the spool"
            );
        }
    }
}
