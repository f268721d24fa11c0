//! Ingest of results: derives monitor states and alerts and stores all in one commit, retrying for as long as the
//! store fails.

use crate::sync::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::alerts::{AlertEngine, AlertEngineDependencies, AlertEngineSettings, HealthMap, IngestCommand};
use super::ingest_settings::IngestSettings;
use super::monitor_state::next_monitor_state;
use crate::alerting::MonitorHealth;
use crate::domain::{Capture, CheckResult, EpisodeId, LocationId, MonitorId, Outcome, Status};
use crate::pipeline::alerts::{BatchOutcome, PostCommitActions};
use crate::schema::Monitor;
use crate::store::{CheckVerification, Ingest, IngestBatch, MonitorState, StoreError};
use crate::telemetry::HealthCondition;
use crate::telemetry::Metrics;

/// Commands queued for the loop; further senders wait.
const COMMAND_QUEUE_CAPACITY: usize = 1024;

/// Stores results and raises alerts, in a single loop. Results that arrive while a commit is in
/// progress, or within [`IngestSettings::flush_interval`] of its start, make up the next one; a result that arrives
/// alone is committed at once.
pub struct Ingestor {
    result_sender: Mutex<Option<mpsc::Sender<CheckResult>>>,
    command_sender: Mutex<Option<mpsc::Sender<IngestCommand>>>,
    monitor_health: HealthMap,
    worker: Arc<IngestWorker>,
    worker_task: Mutex<Option<JoinHandle<()>>>,
}

struct IngestWorker {
    store: Arc<dyn Ingest>,
    metrics: Arc<Metrics>,
    settings: IngestSettings,
    monitor_states: Mutex<HashMap<(MonitorId, LocationId), MonitorState>>,
    commit_failure: Mutex<Option<CommitFailure>>,
    /// Results that were submitted, or wait for space in the queue, and are not committed yet.
    pending_results: AtomicUsize,
    /// Bytes of their captures.
    pending_capture_bytes: AtomicUsize,
    /// Alert engine to use from the next batch on.
    next_alert_engine: Mutex<Option<Box<AlertEngine>>>,
    /// Whether the process shuts down. Then timers close no runs, and agents that stop with it do not count as offline.
    is_shutting_down: AtomicBool,
}

/// Outcome of one round of the loop.
struct ProcessedBatch {
    commit: IngestBatch,
    post_commit: PostCommit,
}

/// What to do after the commit.
struct PostCommit {
    alert_actions: PostCommitActions,
    /// Results taken from the queue.
    result_count: usize,
    /// Bytes of their captures.
    capture_bytes: usize,
}

/// A commit in progress.
struct InFlightCommit {
    /// Returns whether the store accepted it.
    commit_task: JoinHandle<bool>,
    post_commit: PostCommit,
}

/// Why commits fail at present.
struct CommitFailure {
    error: StoreError,
    since: Instant,
}

impl Ingestor {
    /// Starts the ingest. `stored_states` are the monitor states from the store.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(
        store: Arc<dyn Ingest>,
        metrics: Arc<Metrics>,
        stored_states: Vec<MonitorState>,
        settings: IngestSettings,
    ) -> Self {
        let (result_sender, result_receiver) = mpsc::channel(settings.queue_capacity.max(1));
        let stored_states =
            stored_states.into_iter().map(|state| ((state.monitor_id, state.location_id), state)).collect();
        let ingest_worker = Arc::new(IngestWorker {
            store,
            metrics,
            settings,
            monitor_states: Mutex::new(stored_states),
            commit_failure: Mutex::new(None),
            pending_results: AtomicUsize::new(0),
            pending_capture_bytes: AtomicUsize::new(0),
            next_alert_engine: Mutex::new(None),
            is_shutting_down: AtomicBool::new(false),
        });
        let (command_sender, command_receiver) = mpsc::channel(COMMAND_QUEUE_CAPACITY);
        let task = tokio::spawn(Arc::clone(&ingest_worker).run(result_receiver, command_receiver));
        Self {
            result_sender: Mutex::new(Some(result_sender)),
            command_sender: Mutex::new(Some(command_sender)),
            monitor_health: HealthMap::default(),
            worker: ingest_worker,
            worker_task: Mutex::new(Some(task)),
        }
    }

    /// Enables alerting. Call it before the first [`Ingestor::update_monitors`], which has to contain all monitors.
    ///
    /// # Errors
    /// Fails when the stored alert states cannot be read.
    pub async fn enable_alerting(
        &self,
        dependencies: AlertEngineDependencies,
        settings: AlertEngineSettings,
    ) -> Result<(), StoreError> {
        let commands =
            self.command_sender.lock().as_ref().map(mpsc::Sender::downgrade).ok_or(StoreError::Closed)?;
        let engine =
            AlertEngine::load(dependencies, settings, commands, Arc::clone(&self.monitor_health)).await?;
        *self.worker.next_alert_engine.lock() = Some(Box::new(engine));
        Ok(())
    }

    /// Passes changed monitors, planned or not, and removed ones to the alert engine; call it before they are planned.
    pub async fn update_monitors(&self, upserts: Vec<Monitor>, removed: Vec<MonitorId>) {
        self.send_command(IngestCommand::UpdateMonitors { upserts, removed }).await;
    }

    /// Stops the notifications of an episode that was acknowledged and stored as such.
    pub async fn acknowledge_episode(&self, monitor_id: MonitorId, episode_id: EpisodeId) {
        self.send_command(IngestCommand::AcknowledgeEpisode { monitor_id, episode_id }).await;
    }

    /// Returns the health of `monitor_id`; unknown for one that is not planned.
    #[must_use]
    pub fn monitor_health(&self, monitor_id: MonitorId) -> MonitorHealth {
        let healths = self.monitor_health.read();
        healths.get(&monitor_id).copied().unwrap_or_default()
    }

    /// Marks the process as shutting down: open runs are left to the next process.
    pub fn begin_shutdown(&self) {
        self.worker.is_shutting_down.store(true, Ordering::Release);
    }

    /// Whether the results of `monitor_id` can cause alerts: it is known and planned.
    #[must_use]
    pub fn is_alerting_active(&self, monitor_id: MonitorId) -> bool {
        self.monitor_health.read().contains_key(&monitor_id)
    }

    async fn send_command(&self, command: IngestCommand) {
        let commands = self.command_sender.lock().clone();
        if let Some(commands) = commands {
            // Fails only when the loop has ended, because the store was closed.
            let _ = commands.send(command).await;
        }
    }

    /// Submits one result; waits while the queue is full. Once it returns, the ingest is responsible for the result.
    pub async fn submit(&self, mut result: CheckResult) {
        let Some(queue) = self.result_sender.lock().clone() else {
            tracing::error!(check_id = %result.check_id, "result lost: it arrived after shutdown");
            return;
        };
        let pending_results = self.worker.pending_results.fetch_add(1, Ordering::AcqRel) + 1;
        let capture_bytes = self.worker.drop_excess_captures(&mut result);
        let cancel_guard = PendingSubmitGuard(&self.worker, capture_bytes);
        self.worker.metrics.set_ingest_queue_depth(pending_results);
        // Fails only when the task has ended, because the store was closed or did not accept everything in time:
        // `drain` then logs what is left as lost.
        let _ = queue.send(result).await;
        std::mem::forget(cancel_guard);
    }

    /// Removes the states of removed monitors, so that one that is added again starts without state.
    pub fn remove_monitor_states(&self, removed: &[MonitorId]) {
        if removed.is_empty() {
            return;
        }
        let removed: HashSet<_> = removed.iter().collect();
        self.worker.monitor_states.lock().retain(|(monitor, _), _| !removed.contains(monitor));
    }

    /// Returns the state of `monitor_id` at `location_id`; `None` before its first run there.
    #[must_use]
    pub fn monitor_state_at(&self, monitor_id: MonitorId, location_id: LocationId) -> Option<MonitorState> {
        self.worker.monitor_states.lock().get(&(monitor_id, location_id)).cloned()
    }

    /// Returns whether results can be stored; for `/readyz`.
    #[must_use]
    pub fn health_condition(&self) -> HealthCondition {
        match &*self.worker.commit_failure.lock() {
            Some(CommitFailure { error, since })
                if !error.is_transient() || since.elapsed() >= self.worker.settings.unhealthy_after =>
            {
                HealthCondition::unmet("ingest", error.to_string())
            }
            _ => HealthCondition::met("ingest"),
        }
    }

    /// Commits everything queued, including results waiting for space in the queue, and stops; returns how many
    /// results could not be committed `timeout` that time. No result may be submitted after this call.
    pub async fn drain(&self, timeout: Duration) -> usize {
        drop(self.result_sender.lock().take());
        drop(self.command_sender.lock().take());
        let Some(mut task) = self.worker_task.lock().take() else { return 0 };
        if tokio::time::timeout(timeout, &mut task).await.is_err() {
            task.abort();
        }
        let lost = self.worker.pending_results.load(Ordering::Acquire);
        if lost > 0 {
            tracing::error!(results = lost, "failed to store all results before exit; they are lost");
        }
        lost
    }
}

/// Uncounts a pending result when its submitter is cancelled while it waits for space.
struct PendingSubmitGuard<'a>(&'a IngestWorker, usize);

impl Drop for PendingSubmitGuard<'_> {
    fn drop(&mut self) {
        self.0.pending_results.fetch_sub(1, Ordering::AcqRel);
        self.0.pending_capture_bytes.fetch_sub(self.1, Ordering::AcqRel);
    }
}

impl IngestWorker {
    async fn run(
        self: Arc<Self>,
        mut result_receiver: mpsc::Receiver<CheckResult>,
        mut command_receiver: mpsc::Receiver<IngestCommand>,
    ) {
        let max_batch = self.settings.max_batch_results.max(1);
        let mut received = Vec::with_capacity(max_batch);
        let mut alert_engine: Option<Box<AlertEngine>> = None;
        let mut in_flight: Option<InFlightCommit> = None;
        let mut next_batch_at = tokio::time::Instant::now();
        loop {
            if result_receiver.len() < max_batch && !self.is_shutting_down.load(Ordering::Acquire) {
                tokio::time::sleep_until(next_batch_at).await;
            }
            let mut commands = Vec::new();
            tokio::select! {
                biased;
                count = result_receiver.recv_many(&mut received, max_batch) => if count == 0 {
                    break;
                },
                Some(command) = command_receiver.recv() => commands.push(command),
                () = wait_for_timer(alert_engine.as_deref()) => {}
            }
            next_batch_at = tokio::time::Instant::now() + self.settings.flush_interval;
            while commands.len() < COMMAND_QUEUE_CAPACITY
                && let Ok(command) = command_receiver.try_recv()
            {
                commands.push(command);
            }
            let caught_up = result_receiver.is_empty() && !self.is_shutting_down.load(Ordering::Acquire);
            let batch = self
                .process_batch(std::mem::take(&mut received), commands, &mut alert_engine, caught_up)
                .await;
            if !self.finish_in_flight(in_flight.take(), alert_engine.as_deref()).await {
                return;
            }
            if result_receiver.len() < max_batch {
                // Results that arrive during the commit make up the next batch.
                let committed = self.commit(batch.commit).await;
                if !committed {
                    return;
                }
                self.run_post_commit(batch.post_commit, alert_engine.as_deref());
            } else {
                // With a whole batch queued, that one is processed while this one is written.
                in_flight = Some(self.spawn_commit(batch));
            }
        }
        self.finish_in_flight(in_flight, alert_engine.as_deref()).await;
    }

    /// Processes `results` and `commands` into a commit.
    async fn process_batch(
        &self,
        mut results: Vec<CheckResult>,
        commands: Vec<IngestCommand>,
        alert_engine: &mut Option<Box<AlertEngine>>,
        is_caught_up: bool,
    ) -> ProcessedBatch {
        let count = results.len();
        self.metrics.set_ingest_queue_depth(self.pending_results.load(Ordering::Relaxed));
        let capture_bytes_total: usize = results.iter().map(capture_bytes).sum();
        // It is set before the first command for it is sent.
        if let Some(engine) = self.next_alert_engine.lock().take() {
            *alert_engine = Some(engine);
        }
        let BatchOutcome { alert_changes, missed_results, post_commit: alert_actions } = match alert_engine {
            Some(alert_engine) => alert_engine.process_batch(&mut results, commands, is_caught_up).await,
            None => BatchOutcome::default(),
        };
        let commit = IngestBatch { alert_changes, ..self.build_commit(results, missed_results) };
        self.downgrade_unconfirmed_states(&commit.alert_changes.verified_checks);
        ProcessedBatch {
            commit,
            post_commit: PostCommit {
                alert_actions,
                result_count: count,
                capture_bytes: capture_bytes_total,
            },
        }
    }

    /// Starts a commit.
    fn spawn_commit(self: &Arc<Self>, batch: ProcessedBatch) -> InFlightCommit {
        let worker = Arc::clone(self);
        InFlightCommit {
            commit_task: tokio::spawn(async move { worker.commit(batch.commit).await }),
            post_commit: batch.post_commit,
        }
    }

    /// Waits for the commit and runs its post-commit actions; `false` when the store was closed.
    async fn finish_in_flight(
        &self,
        in_flight: Option<InFlightCommit>,
        alert_engine: Option<&AlertEngine>,
    ) -> bool {
        let Some(InFlightCommit { commit_task: committed, post_commit: rest }) = in_flight else {
            return true;
        };
        let committed = committed.await.unwrap_or(false);
        if committed {
            self.run_post_commit(rest, alert_engine);
        }
        committed
    }

    /// Commits `commit` unless it is empty; `false` when the store was closed.
    async fn commit(&self, commit: IngestBatch) -> bool {
        commit.results.is_empty() && commit.alert_changes.is_empty() || self.commit_with_retry(commit).await
    }

    /// Runs the post-commit actions and releases the space of the batch.
    fn run_post_commit(&self, post_commit: PostCommit, alert_engine: Option<&AlertEngine>) {
        let PostCommit { alert_actions: after, result_count: count, capture_bytes: captured } = post_commit;
        if let Some(alert_engine) = alert_engine {
            alert_engine.run_post_commit_actions(after);
        }
        self.pending_capture_bytes.fetch_sub(captured, Ordering::AcqRel);
        let still_pending = self.pending_results.fetch_sub(count, Ordering::AcqRel).saturating_sub(count);
        self.metrics.set_ingest_queue_depth(still_pending);
    }

    /// Downgrades the states of errors that verification did not confirm, as the store does.
    fn downgrade_unconfirmed_states(&self, verified_checks: &[CheckVerification]) {
        let downgraded =
            verified_checks.iter().filter(|check| check.verification.status == Status::VERIFICATION_NO_ERROR);
        let mut states = self.monitor_states.lock();
        for CheckVerification { result_key: result, .. } in downgraded {
            let state = states.get_mut(&(result.monitor_id, result.location_id));
            let is_unconfirmed_error = |state: &&mut MonitorState| {
                state.check_id == result.check_id && state.outcome == Outcome::Error
            };
            if let Some(state) = state.filter(is_unconfirmed_error) {
                (state.outcome, state.status) = (Outcome::Warning, Status::OK);
                (state.streak_started_at, state.streak) = (result.planned_at, 1);
            }
        }
    }

    /// Drops the captures of `result` when too many bytes are queued; returns the bytes of those kept.
    fn drop_excess_captures(&self, result: &mut CheckResult) -> usize {
        let bytes = capture_bytes(result);
        if bytes == 0 {
            return 0;
        }
        let before = self.pending_capture_bytes.fetch_add(bytes, Ordering::AcqRel);
        if before + bytes <= self.settings.max_capture_bytes {
            return bytes;
        }
        self.pending_capture_bytes.fetch_sub(bytes, Ordering::AcqRel);
        result.captures.clear();
        tracing::debug!(check_id = %result.check_id, "captures dropped: too many are queued for the store");
        0
    }

    /// Builds the commit of the results and missed runs, with the last state of each monitor at each location.
    fn build_commit(&self, mut results: Vec<CheckResult>, missed_results: Vec<CheckResult>) -> IngestBatch {
        results.extend(missed_results);
        let mut states = self.monitor_states.lock();
        let mut changed = HashMap::new();
        for result in &results {
            let key = (result.monitor_id, result.location_id);
            if let Some(state) = next_monitor_state(states.get(&key), result) {
                states.insert(key, state.clone());
                changed.insert(key, state);
            }
        }
        IngestBatch { results, monitor_states: changed.into_values().collect(), ..IngestBatch::default() }
    }

    /// Commits until it succeeds; `false` when the store was closed.
    async fn commit_with_retry(&self, commit: IngestBatch) -> bool {
        let mut retry_delay = self.settings.initial_retry_delay;
        loop {
            let started = Instant::now();
            match self.store.commit(commit.clone()).await {
                Ok(()) => {
                    self.metrics.record_commit(commit.results.len(), started.elapsed());
                    self.record_recovery();
                    return true;
                }
                Err(StoreError::Closed) => {
                    tracing::error!(results = commit.results.len(), "results lost: the store is closed");
                    return false;
                }
                Err(error) => self.record_failure(error, commit.results.len()),
            }
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

    fn record_recovery(&self) {
        if let Some(failure) = self.commit_failure.lock().take() {
            let seconds = failure.since.elapsed().as_secs_f64();
            tracing::info!(duration_s = seconds, "storing results works again; none was lost");
        }
    }
}

/// Waits until a timer of the alert engine is due.
async fn wait_for_timer(engine: Option<&AlertEngine>) {
    match engine {
        Some(engine) => engine.wait_for_timer().await,
        None => std::future::pending().await,
    }
}

/// Returns the bytes of the captures of `result`.
fn capture_bytes(result: &CheckResult) -> usize {
    result.captures.iter().map(Capture::content_len).sum()
}
