//! What the ingest loop and its handle share: states of monitors, counts of what waits, and how a batch is processed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::watch;

use super::commit_failure::CommitFailure;
use super::commit_observer::CommitObserver;
use super::dependencies::IngestDependencies;
use super::monitor_state::next_monitor_state;
use super::pending_batch::{PendingBatch, PostCommitWork, ProcessedBatch, capture_bytes, loaded_bytes};
use super::quarantine::QuarantineRecorder;
use super::result_spool::ResultSpool;
use super::settings::IngestSettings;
use crate::domain::{CheckResult, LocationId, MonitorId, Outcome, Status};
use crate::pipeline::alerts::{AlertEngine, BatchOutput, IngestCommand};
use crate::store::{CheckVerification, Ingest, IngestBatch, MonitorLocationState};
use crate::sync::Mutex;
use crate::telemetry::{Metrics, TaskHeartbeat, fault_point};

/// State that the ingest loop and its handle share.
pub(super) struct IngestWorker {
    pub(super) store: Arc<dyn Ingest>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) quarantine: QuarantineRecorder,
    /// Takes what is not stored when the ingest ends, which releases it; `None` drops it.
    pub(super) spool: Mutex<Option<Arc<ResultSpool>>>,
    /// Learns of stored results, once there is one.
    pub(super) observer: OnceLock<Arc<dyn CommitObserver>>,
    pub(super) heartbeat: TaskHeartbeat,
    pub(super) settings: IngestSettings,
    pub(super) location_states: Mutex<HashMap<(MonitorId, LocationId), MonitorLocationState>>,
    /// Set while commits fail; `None` when the last one succeeded.
    pub(super) commit_failure: Mutex<Option<CommitFailure>>,
    /// Why processing panicked last; `None` once everything pending was processed.
    pub(super) panic_reason: Mutex<Option<String>>,
    /// Results that were submitted, or wait for space in the queue, and are not committed yet; captures that follow
    /// their result count like one.
    pub(super) pending_results: AtomicUsize,
    /// Bytes of their captures.
    pub(super) pending_capture_bytes: AtomicUsize,
    /// Results that were ever submitted.
    pub(super) submitted_results: AtomicU64,
    /// Those of them that were stored, quarantined, or cancelled by their submitter.
    pub(super) released_results: watch::Sender<u64>,
    /// Alert engine to use from the next batch on.
    pub(super) next_alert_engine: Mutex<Option<Box<AlertEngine>>>,
    /// Whether the process shuts down. Then timers close no runs, and agents that stop with it do not count as offline.
    pub(super) is_shutting_down: AtomicBool,
}

impl IngestWorker {
    pub(super) fn new(
        dependencies: IngestDependencies,
        stored_states: Vec<MonitorLocationState>,
        settings: IngestSettings,
    ) -> Self {
        let IngestDependencies { store, metrics, quarantine, spool, heartbeat } = dependencies;
        let stored_states =
            stored_states.into_iter().map(|state| ((state.monitor_id, state.location_id), state)).collect();
        Self {
            store,
            metrics,
            quarantine,
            spool: Mutex::new(spool),
            observer: OnceLock::new(),
            heartbeat,
            settings,
            location_states: Mutex::new(stored_states),
            commit_failure: Mutex::new(None),
            panic_reason: Mutex::new(None),
            pending_results: AtomicUsize::new(0),
            pending_capture_bytes: AtomicUsize::new(0),
            submitted_results: AtomicU64::new(0),
            released_results: watch::Sender::new(0),
            next_alert_engine: Mutex::new(None),
            is_shutting_down: AtomicBool::new(false),
        }
    }

    /// Processes `batch` into a commit. A panic leaves its results and commands where they are.
    pub(super) async fn process_batch(
        &self,
        batch: &mut PendingBatch,
        alert_engine: &mut Option<Box<AlertEngine>>,
    ) -> ProcessedBatch {
        let added_captures = batch.commands.iter().filter_map(IngestCommand::added_captures);
        let (added_count, added_bytes) =
            added_captures.fold((0, 0), |(count, bytes), files| (count + 1, bytes + loaded_bytes(files)));
        let count = batch.results.len();
        if count > 0 {
            // Errors of the store occur at the commit.
            let _ = fault_point("ingest").await;
        }
        self.metrics.set_ingest_queue_depth(self.pending_results.load(Ordering::Relaxed));
        let capture_bytes_total: usize = batch.results.iter().map(capture_bytes).sum();
        // It is set before the first command for it is sent.
        if let Some(engine) = self.next_alert_engine.lock().take() {
            *alert_engine = Some(engine);
        }
        let BatchOutput { alert_changes, missed_results, post_commit: alert_actions } = match alert_engine {
            Some(alert_engine) => {
                alert_engine.process_batch(&mut batch.results, &batch.commands, batch.runs_timers).await
            }
            None => BatchOutput::default(),
        };
        let location_states = self.update_states(batch.results.iter().chain(&missed_results));
        self.downgrade_unconfirmed_states(&alert_changes.verified_checks);
        let mut results = std::mem::take(&mut batch.results);
        results.extend(missed_results);
        ProcessedBatch {
            commit: Arc::new(IngestBatch { results, location_states, alert_changes }),
            post_commit: PostCommitWork {
                alert_actions,
                result_count: count + added_count,
                capture_bytes: capture_bytes_total + added_bytes,
            },
        }
    }

    /// Runs the post-commit actions and releases the space of the batch.
    pub(super) fn run_post_commit(&self, post_commit: PostCommitWork, alert_engine: Option<&AlertEngine>) {
        let PostCommitWork { alert_actions, result_count, capture_bytes } = post_commit;
        self.release(result_count, capture_bytes);
        if let Some(alert_engine) = alert_engine {
            for panic in alert_engine.run_post_commit_actions(alert_actions) {
                self.heartbeat.record_panic();
                tracing::error!(panic, "an action after a commit panicked; the others go on");
            }
        }
    }

    /// Uncounts results that are stored, or quarantined.
    pub(super) fn release(&self, results: usize, capture_bytes: usize) {
        self.subtract_pending(results, capture_bytes);
        self.released_results.send_modify(|released| *released += results as u64);
    }

    /// Uncounts results that no longer wait.
    pub(super) fn subtract_pending(&self, results: usize, capture_bytes: usize) {
        self.pending_capture_bytes.fetch_sub(capture_bytes, Ordering::AcqRel);
        let still_pending = self.pending_results.fetch_sub(results, Ordering::AcqRel).saturating_sub(results);
        self.metrics.set_ingest_queue_depth(still_pending);
    }

    /// Downgrades the states of errors that verification did not confirm, as the store does.
    fn downgrade_unconfirmed_states(&self, verified_checks: &[CheckVerification]) {
        let downgraded =
            verified_checks.iter().filter(|check| check.verification.status == Status::VERIFICATION_NO_ERROR);
        let mut states = self.location_states.lock();
        for CheckVerification { result_key: checked_result_key, .. } in downgraded {
            let state = states.get_mut(&(checked_result_key.monitor_id, checked_result_key.location_id));
            let is_unconfirmed_error = |state: &&mut MonitorLocationState| {
                state.check_id == checked_result_key.check_id && state.outcome == Outcome::Error
            };
            if let Some(state) = state.filter(is_unconfirmed_error) {
                (state.outcome, state.status) = (Outcome::Warning, Status::OK);
                (state.streak_started_at, state.streak) = (checked_result_key.planned_at, 1);
            }
        }
    }

    /// Drops the captures of `result` when too many bytes are queued; returns the bytes of those kept.
    pub(super) fn drop_excess_captures(&self, result: &mut CheckResult) -> usize {
        let bytes = capture_bytes(result);
        if bytes == 0 {
            return 0;
        }
        if self.reserve_capture_bytes(bytes) {
            return bytes;
        }
        result.captures.clear();
        tracing::debug!(check_id = %result.check_id, "captures dropped: too many are queued for the store");
        0
    }

    /// Counts `bytes` of captures as pending, unless that would be too many.
    pub(super) fn reserve_capture_bytes(&self, bytes: usize) -> bool {
        let bytes_before = self.pending_capture_bytes.fetch_add(bytes, Ordering::AcqRel);
        let has_room = bytes_before + bytes <= self.settings.max_capture_bytes;
        if !has_room {
            self.pending_capture_bytes.fetch_sub(bytes, Ordering::AcqRel);
        }
        has_room
    }

    /// Updates the state of each monitor at each location; returns the changed ones.
    fn update_states<'a>(&self, results: impl Iterator<Item = &'a CheckResult>) -> Vec<MonitorLocationState> {
        let mut states = self.location_states.lock();
        let mut changed = HashMap::new();
        for result in results {
            let key = (result.monitor_id, result.location_id);
            if let Some(state) = next_monitor_state(states.get(&key), result) {
                states.insert(key, state.clone());
                changed.insert(key, state);
            }
        }
        changed.into_values().collect()
    }
}
