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
    /// Whether timers run after it: nothing else was queued, and the process does not shut down.
    pub(super) runs_timers: bool,
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
        let runs_timers = std::mem::take(&mut self.runs_timers);
        Some(Self { results, commands: Vec::new(), runs_timers, panics: self.panics - 1 })
    }
}

/// A processed batch, to be committed.
pub(super) struct ProcessedBatch {
    /// What the store commits in one transaction.
    pub(super) commit: Arc<IngestBatch>,
    pub(super) post_commit: PostCommitWork,
}

/// What to do after the commit.
pub(super) struct PostCommitWork {
    pub(super) alert_actions: PostCommitActions,
    /// Results taken from the queue, and commands that add captures.
    pub(super) result_count: usize,
    /// Bytes of their captures.
    pub(super) capture_bytes: usize,
}

/// A commit in progress.
pub(super) struct InFlightCommit {
    /// Returns `false` when the store was closed; `None` once awaited: a `batch` still here is then repeated.
    pub(super) commit_task: Option<JoinHandle<bool>>,
    pub(super) batch: ProcessedBatch,
}

/// Returns the bytes of the captures of `result`.
pub(super) fn capture_bytes(result: &CheckResult) -> usize {
    loaded_bytes(&result.captures)
}

/// Returns the bytes of `files`.
pub(super) fn loaded_bytes(files: &[CapturedFile]) -> usize {
    files.iter().map(CapturedFile::loaded_content_bytes).sum()
}
