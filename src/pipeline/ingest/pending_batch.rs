//! Batches on their way through the loop. They stand in the task, so that a panic loses none of them.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::domain::{CapturedFile, CheckResult};
use crate::pipeline::alerts::{IngestCommand, PostCommitActions};
use crate::store::IngestBatch;

/// Results and commands taken from the queues, not processed yet.
#[derive(Default)]
pub(super) struct PendingBatch {
    pub(super) results: Vec<CheckResult>,
    pub(super) commands: Vec<IngestCommand>,
    /// Whether nothing else was queued.
    pub(super) is_caught_up: bool,
    /// How often it panicked while it was processed.
    pub(super) panics: u32,
}

impl PendingBatch {
    /// Splits off the second half of the results; `None` when there is only one.
    pub(super) fn split_off_half(&mut self) -> Option<Self> {
        if self.results.len() < 2 {
            return None;
        }
        let results = self.results.split_off(self.results.len() / 2);
        let is_caught_up = std::mem::take(&mut self.is_caught_up);
        Some(Self { results, commands: Vec::new(), is_caught_up, panics: self.panics - 1 })
    }
}

/// A processed batch, to be committed.
pub(super) struct ProcessedBatch {
    pub(super) commit: Arc<IngestBatch>,
    pub(super) post_commit: PostCommitWork,
}

/// What to do after the commit.
pub(super) struct PostCommitWork {
    pub(super) alert_actions: PostCommitActions,
    /// Results taken from the queue.
    pub(super) result_count: usize,
    /// Bytes of their captures.
    pub(super) capture_bytes: usize,
}

/// A commit in progress.
pub(super) struct InFlightCommit {
    /// Returns whether the store accepted it; `None` once it has ended, to be repeated if `batch` is still here.
    pub(super) commit_task: Option<JoinHandle<bool>>,
    pub(super) batch: ProcessedBatch,
}

/// Returns the bytes of the captures of `result`.
pub(super) fn capture_bytes(result: &CheckResult) -> usize {
    result.captures.iter().map(CapturedFile::content_len).sum()
}
