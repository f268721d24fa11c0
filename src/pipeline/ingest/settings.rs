//! Settings of the ingest.

use std::time::Duration;

/// Limits and delays of result ingest.
#[derive(Clone, Copy, Debug)]
pub struct IngestSettings {
    /// Results queued in memory; when it is full, [`super::Ingestor::submit`] waits.
    pub queue_capacity: usize,
    /// Maximum number of results in one commit.
    pub max_batch_results: usize,
    /// Time from the start of one commit to that of the next, unless a whole batch is queued. A commit rewrites the
    /// same few pages and waits for the disk, whether it has one result or a hundred; at 1,700 results a second that
    /// is most of the work.
    pub flush_interval: Duration,
    /// Delay after a commit failed; it doubles with each attempt.
    pub initial_retry_delay: Duration,
    /// Maximum delay between two attempts to commit.
    pub max_retry_delay: Duration,
    /// How long transient store errors (disk full, database locked) last before [`super::Ingestor::health_condition`]
    /// reports them.
    pub unhealthy_after: Duration,
    /// Maximum bytes of captures queued in memory; further results are stored without their captures.
    pub max_capture_bytes: usize,
}

impl Default for IngestSettings {
    fn default() -> Self {
        Self {
            queue_capacity: 20_000,
            max_batch_results: 5_000,
            flush_interval: Duration::from_millis(20),
            initial_retry_delay: Duration::from_millis(100),
            max_retry_delay: Duration::from_secs(5),
            unhealthy_after: Duration::from_secs(30),
            max_capture_bytes: 64 * 1024 * 1024,
        }
    }
}
