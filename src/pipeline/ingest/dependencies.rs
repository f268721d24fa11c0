//! Dependencies of the ingest.

use std::sync::Arc;

use super::quarantine::QuarantineRecorder;
use super::result_spool::ResultSpool;
use crate::store::Ingest;
use crate::telemetry::{Metrics, TaskHeartbeat};

/// Dependencies of the ingest.
pub struct IngestDependencies {
    /// Stores the commits.
    pub store: Arc<dyn Ingest>,
    /// Counts commits and what waits for them.
    pub metrics: Arc<Metrics>,
    /// Keeps what cannot be stored.
    pub quarantine: QuarantineRecorder,
    /// Keeps what the store did not take before the ingest ended.
    pub spool: Option<Arc<ResultSpool>>,
    /// Heartbeat of the loop.
    pub heartbeat: TaskHeartbeat,
}
