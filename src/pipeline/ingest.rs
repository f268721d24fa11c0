//! Takes results, works out the states that follow, and keeps both in one commit, however long the store
//! is in trouble.

use crate::sync::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::alerts::{AlertEngine, AlertEngineDependencies, AlertEngineSettings, HealthMap, IngestCommand};
use super::monitor_state::next_state;
use crate::alerting::MonitorHealth;
use crate::domain::{Capture, CheckResult, EpisodeId, LocationId, MonitorId, Outcome, Status};
use crate::pipeline::alerts::{BatchOutcome, PostCommitActions};
use crate::schema::Monitor;
use crate::store::{Commit, Ingest, MonitorState, StoreError, VerifiedCheck};
use crate::telemetry::Condition;
use crate::telemetry::Metrics;

/// How much is held and how trouble is met.
#[derive(Clone, Copy, Debug)]
pub struct IngestSettings {
    /// Results that wait in memory; then [`Ingestor::submit`] waits.
    pub queue_capacity: usize,
    /// Results in one commit at most.
    pub max_batch: usize,
    /// Time from the begin of one commit to that of the next, unless a whole batch waits. A commit rewrites
    /// the same few pages and waits for the disk, whether it brings one result or a hundred; at 1,700 results
    /// a second that is most of the work.
    pub flush_interval: Duration,
    /// First pause after a commit failed; it doubles from try to try.
    pub initial_retry_delay: Duration,
    /// Longest such pause.
    pub max_retry_delay: Duration,
    /// How long trouble that may pass by itself (disk full, database locked) lasts before
    /// [`Ingestor::health_condition`] reports it.
    pub unhealthy_after: Duration,
    /// Bytes of captures that wait in memory; results beyond that are kept without theirs.
    pub max_capture_bytes: usize,
}

impl Default for IngestSettings {
    fn default() -> Self {
        Self {
            queue_capacity: 20_000,
            max_batch: 5_000,
            flush_interval: Duration::from_millis(20),
            initial_retry_delay: Duration::from_millis(100),
            max_retry_delay: Duration::from_secs(5),
            unhealthy_after: Duration::from_secs(30),
            max_capture_bytes: 64 * 1024 * 1024,
        }
    }
}

/// Words that wait for the loop; more wait outside.
const COMMAND_QUEUE: usize = 1024;

/// The way of results into the store, and the one loop that decides what follows from them. Results that wait
/// while a commit is under way, or within [`IngestSettings::flush_interval`] of it, make up the next one; a result
/// that comes alone is kept at once.
pub struct Ingestor {
    queue: Mutex<Option<mpsc::Sender<CheckResult>>>,
    commands: Mutex<Option<mpsc::Sender<IngestCommand>>>,
    monitor_health: HealthMap,
    worker: Arc<IngestWorker>,
    task: Mutex<Option<JoinHandle<()>>>,
}

struct IngestWorker {
    store: Arc<dyn Ingest>,
    metrics: Arc<Metrics>,
    settings: IngestSettings,
    states: Mutex<HashMap<(MonitorId, LocationId), MonitorState>>,
    failure: Mutex<Option<CommitFailure>>,
    /// Results that were taken, or wait for a place in the queue, and are not kept yet.
    pending_results: AtomicUsize,
    /// Bytes of their captures.
    pending_capture_bytes: AtomicUsize,
    /// What watches results from the next turn on.
    new_engine: Mutex<Option<Box<AlertEngine>>>,
    /// Whether the process ends: then time closes no runs, and agents that end with it are not away.
    is_shutting_down: AtomicBool,
}

/// What a turn of the loop came to.
struct Batch {
    commit: Commit,
    rest: PostCommit,
}

/// What is done once a turn is kept.
struct PostCommit {
    after: PostCommitActions,
    /// Results that were taken off the queue.
    count: usize,
    /// Bytes of their captures.
    captured: usize,
}

/// A turn that is being kept.
struct InFlightCommit {
    /// Answers whether the store took it.
    committed: JoinHandle<bool>,
    rest: PostCommit,
}

/// Why commits fail at present.
struct CommitFailure {
    error: StoreError,
    since: Instant,
}

impl Ingestor {
    /// Starts taking results. `states` are those that the store had at the start.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(
        store: Arc<dyn Ingest>,
        metrics: Arc<Metrics>,
        states: Vec<MonitorState>,
        settings: IngestSettings,
    ) -> Self {
        let (sender, results) = mpsc::channel(settings.queue_capacity.max(1));
        let states = states.into_iter().map(|state| ((state.monitor_id, state.location_id), state)).collect();
        let ingest_worker = Arc::new(IngestWorker {
            store,
            metrics,
            settings,
            states: Mutex::new(states),
            failure: Mutex::new(None),
            pending_results: AtomicUsize::new(0),
            pending_capture_bytes: AtomicUsize::new(0),
            new_engine: Mutex::new(None),
            is_shutting_down: AtomicBool::new(false),
        });
        let (speaker, words) = mpsc::channel(COMMAND_QUEUE);
        let task = tokio::spawn(Arc::clone(&ingest_worker).run(results, words));
        Self {
            queue: Mutex::new(Some(sender)),
            commands: Mutex::new(Some(speaker)),
            monitor_health: HealthMap::default(),
            worker: ingest_worker,
            task: Mutex::new(Some(task)),
        }
    }

    /// From now on, alerts follow from results. Comes before the first [`Ingestor::update_monitors`], which has to have all
    /// monitors.
    ///
    /// # Errors
    /// As the store's, when what was kept cannot be read.
    pub async fn enable_alerting(
        &self,
        dependencies: AlertEngineDependencies,
        settings: AlertEngineSettings,
    ) -> Result<(), StoreError> {
        let words = self.commands.lock().as_ref().map(mpsc::Sender::downgrade).ok_or(StoreError::Closed)?;
        let engine =
            AlertEngine::load(dependencies, settings, words, Arc::clone(&self.monitor_health)).await?;
        *self.worker.new_engine.lock() = Some(Box::new(engine));
        Ok(())
    }

    /// Takes new versions of monitors, planned or not, and those that were removed; to be called before they are
    /// planned.
    pub async fn update_monitors(&self, upserts: Vec<Monitor>, removed: Vec<MonitorId>) {
        self.send_command(IngestCommand::UpdateMonitors { upserts, removed }).await;
    }

    /// Stops the messages about an outage that somebody acknowledged; that was kept before.
    pub async fn acknowledge_episode(&self, monitor: MonitorId, episode: EpisodeId) {
        self.send_command(IngestCommand::AcknowledgeEpisode { monitor, episode }).await;
    }

    /// How `monitor` is; unknown for one that is not planned.
    #[must_use]
    pub fn health(&self, monitor: MonitorId) -> MonitorHealth {
        let healths = self.monitor_health.read();
        healths.get(&monitor).copied().unwrap_or_default()
    }

    /// The process ends: what is open is settled by the next one.
    pub fn begin_shutdown(&self) {
        self.worker.is_shutting_down.store(true, Ordering::Release);
    }

    /// Whether alerts follow from the results of `monitor`: it is known and planned.
    #[must_use]
    pub fn has_alerting(&self, monitor: MonitorId) -> bool {
        self.monitor_health.read().contains_key(&monitor)
    }

    async fn send_command(&self, command: IngestCommand) {
        let words = self.commands.lock().clone();
        if let Some(words) = words {
            // Fails only when the loop ended, because the store was closed.
            let _ = words.send(command).await;
        }
    }

    /// Takes one result; waits while the queue is full. From then on it is this side's to keep.
    pub async fn submit(&self, mut result: CheckResult) {
        let Some(queue) = self.queue.lock().clone() else {
            tracing::error!(check_id = %result.check_id, "result lost: it arrived after shutdown");
            return;
        };
        let held = self.worker.pending_results.fetch_add(1, Ordering::AcqRel) + 1;
        let captured = self.worker.admit_captures(&mut result);
        let given_up = PendingSubmit(&self.worker, captured);
        self.worker.metrics.set_ingest_queue_depth(held);
        // Fails only when the task ended, because the store was closed or took nothing for too long at the
        // end: what is still held then is told as lost by `drain`.
        let _ = queue.send(result).await;
        std::mem::forget(given_up);
    }

    /// Forgets the states of removed monitors, so that one that comes back starts anew.
    pub fn remove_states(&self, removed: &[MonitorId]) {
        if removed.is_empty() {
            return;
        }
        let removed: HashSet<_> = removed.iter().collect();
        self.worker.states.lock().retain(|(monitor, _), _| !removed.contains(monitor));
    }

    /// Where `monitor` stands at `location`; `None` before its first run there.
    #[must_use]
    pub fn state_at(&self, monitor: MonitorId, location: LocationId) -> Option<MonitorState> {
        self.worker.states.lock().get(&(monitor, location)).cloned()
    }

    /// Whether results can be kept; for `/readyz`.
    #[must_use]
    pub fn health_condition(&self) -> Condition {
        match &*self.worker.failure.lock() {
            Some(CommitFailure { error, since })
                if !error.is_transient() || since.elapsed() >= self.worker.settings.unhealthy_after =>
            {
                Condition::unmet("ingest", error.to_string())
            }
            _ => Condition::met("ingest"),
        }
    }

    /// Takes no more and keeps what it has, and what waits for a place in its queue; answers how many
    /// results could not be kept `within` that time. No result may come after this call.
    pub async fn drain(&self, within: Duration) -> usize {
        drop(self.queue.lock().take());
        drop(self.commands.lock().take());
        let Some(mut task) = self.task.lock().take() else { return 0 };
        if tokio::time::timeout(within, &mut task).await.is_err() {
            task.abort();
        }
        let lost = self.worker.pending_results.load(Ordering::Acquire);
        if lost > 0 {
            tracing::error!(results = lost, "failed to store all results before exit; they are lost");
        }
        lost
    }
}

/// Takes a result off the count when its giver waits no longer for a place.
struct PendingSubmit<'a>(&'a IngestWorker, usize);

impl Drop for PendingSubmit<'_> {
    fn drop(&mut self) {
        self.0.pending_results.fetch_sub(1, Ordering::AcqRel);
        self.0.pending_capture_bytes.fetch_sub(self.1, Ordering::AcqRel);
    }
}

impl IngestWorker {
    async fn run(
        self: Arc<Self>,
        mut results: mpsc::Receiver<CheckResult>,
        mut words: mpsc::Receiver<IngestCommand>,
    ) {
        let batch = self.settings.max_batch.max(1);
        let mut taken = Vec::with_capacity(batch);
        let mut alert_engine: Option<Box<AlertEngine>> = None;
        let mut under_way: Option<InFlightCommit> = None;
        let mut not_before = tokio::time::Instant::now();
        loop {
            if results.len() < batch && !self.is_shutting_down.load(Ordering::Acquire) {
                tokio::time::sleep_until(not_before).await;
            }
            let mut commands = Vec::new();
            tokio::select! {
                biased;
                count = results.recv_many(&mut taken, batch) => if count == 0 {
                    break;
                },
                Some(command) = words.recv() => commands.push(command),
                () = wait_for_timer(alert_engine.as_deref()) => {}
            }
            not_before = tokio::time::Instant::now() + self.settings.flush_interval;
            while commands.len() < COMMAND_QUEUE
                && let Ok(command) = words.try_recv()
            {
                commands.push(command);
            }
            let caught_up = results.is_empty() && !self.is_shutting_down.load(Ordering::Acquire);
            let turn =
                self.process_batch(std::mem::take(&mut taken), commands, &mut alert_engine, caught_up).await;
            if !self.finish_in_flight(under_way.take(), alert_engine.as_deref()).await {
                return;
            }
            if results.len() < batch {
                // What comes meanwhile makes up the next one.
                let kept = self.commit(turn.commit).await;
                if !kept {
                    return;
                }
                self.run_post_commit(turn.rest, alert_engine.as_deref());
            } else {
                // With a whole batch waiting, that is worked out while this one is written.
                under_way = Some(self.spawn_commit(turn));
            }
        }
        self.finish_in_flight(under_way, alert_engine.as_deref()).await;
    }

    /// Works out what follows from `results` and `said`.
    async fn process_batch(
        &self,
        mut results: Vec<CheckResult>,
        commands: Vec<IngestCommand>,
        alert_engine: &mut Option<Box<AlertEngine>>,
        caught_up: bool,
    ) -> Batch {
        let count = results.len();
        self.metrics.set_ingest_queue_depth(self.pending_results.load(Ordering::Relaxed));
        let captured: usize = results.iter().map(capture_bytes).sum();
        // It was put there before the first word for it was sent.
        if let Some(engine) = self.new_engine.lock().take() {
            *alert_engine = Some(engine);
        }
        let BatchOutcome { alert_changes: changes, missed_results: missed, after } = match alert_engine {
            Some(alert_engine) => alert_engine.process_batch(&mut results, commands, caught_up).await,
            None => BatchOutcome::default(),
        };
        let commit = Commit { alerts: changes, ..self.build_commit(results, missed) };
        self.downgrade_verified(&commit.alerts.verifications);
        Batch { commit, rest: PostCommit { after, count, captured } }
    }

    /// Begins to keep what a turn came to.
    fn spawn_commit(self: &Arc<Self>, batch: Batch) -> InFlightCommit {
        let worker = Arc::clone(self);
        InFlightCommit {
            committed: tokio::spawn(async move { worker.commit(batch.commit).await }),
            rest: batch.rest,
        }
    }

    /// Waits until it is kept, and begins what follows; `false` when the store was closed.
    async fn finish_in_flight(
        &self,
        under_way: Option<InFlightCommit>,
        engine: Option<&AlertEngine>,
    ) -> bool {
        let Some(InFlightCommit { committed: kept, rest }) = under_way else { return true };
        let kept = kept.await.unwrap_or(false);
        if kept {
            self.run_post_commit(rest, engine);
        }
        kept
    }

    /// Keeps `commit`, when there is something in it; `false` when the store was closed.
    async fn commit(&self, commit: Commit) -> bool {
        commit.results.is_empty() && commit.alerts.is_empty() || self.commit_with_retry(commit).await
    }

    /// Begins what follows from what was kept, and gives its room back.
    fn run_post_commit(&self, rest: PostCommit, engine: Option<&AlertEngine>) {
        let PostCommit { after, count, captured } = rest;
        if let Some(engine) = engine {
            engine.run_post_commit(after);
        }
        self.pending_capture_bytes.fetch_sub(captured, Ordering::AcqRel);
        let left = self.pending_results.fetch_sub(count, Ordering::AcqRel).saturating_sub(count);
        self.metrics.set_ingest_queue_depth(left);
    }

    /// What the store does with states whose error nobody else saw.
    fn downgrade_verified(&self, verified: &[VerifiedCheck]) {
        let softened = verified.iter().filter(|check| check.answer.status == Status::VERIFIED_NO_ERROR);
        let mut states = self.states.lock();
        for VerifiedCheck { result, .. } in softened {
            let state = states.get_mut(&(result.monitor_id, result.location_id));
            let same = |state: &&mut MonitorState| {
                state.check_id == result.check_id && state.outcome == Outcome::Error
            };
            if let Some(state) = state.filter(same) {
                (state.outcome, state.status) = (Outcome::Warning, Status::OK);
                (state.since, state.streak) = (result.planned_at, 1);
            }
        }
    }

    /// Leaves the captures of `result` out when too many wait already; answers how many bytes it brings.
    fn admit_captures(&self, result: &mut CheckResult) -> usize {
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

    /// The results, and those that are found to be missed, with the states that follow from them, each place's
    /// last one.
    fn build_commit(&self, mut results: Vec<CheckResult>, missed: Vec<CheckResult>) -> Commit {
        results.extend(missed);
        let mut states = self.states.lock();
        let mut changed = HashMap::new();
        for result in &results {
            let place = (result.monitor_id, result.location_id);
            if let Some(state) = next_state(states.get(&place), result) {
                states.insert(place, state.clone());
                changed.insert(place, state);
            }
        }
        Commit { results, states: changed.into_values().collect(), ..Commit::default() }
    }

    /// Commits until it succeeds; `false` when the store was closed.
    async fn commit_with_retry(&self, commit: Commit) -> bool {
        let mut pause = self.settings.initial_retry_delay;
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
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(self.settings.max_retry_delay);
        }
    }

    /// Says so once per change, not per try.
    fn record_failure(&self, error: StoreError, results: usize) {
        self.metrics.record_commit_error(error.kind());
        let mut failure = self.failure.lock();
        if failure.as_ref().is_some_and(|before| before.error.kind() == error.kind()) {
            return;
        }
        tracing::error!(error_kind = error.kind(), results, "failed to store results, retrying: {error}");
        let since = failure.take().map_or_else(Instant::now, |before| before.since);
        *failure = Some(CommitFailure { error, since });
    }

    fn record_recovery(&self) {
        if let Some(failure) = self.failure.lock().take() {
            let seconds = failure.since.elapsed().as_secs_f64();
            tracing::info!(duration_s = seconds, "storing results works again; none was lost");
        }
    }
}

/// Waits until time alone has something to do.
async fn wait_for_timer(engine: Option<&AlertEngine>) {
    match engine {
        Some(engine) => engine.wait_for_timer().await,
        None => std::future::pending().await,
    }
}

/// Bytes of the captures of `result`.
fn capture_bytes(result: &CheckResult) -> usize {
    result.captures.iter().map(Capture::content_len).sum()
}
