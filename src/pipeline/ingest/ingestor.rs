//! The handle of the ingest.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::commit_failure::CommitFailure;
use super::commit_observer::CommitObserver;
use super::dependencies::IngestDependencies;
use super::pending_batch::loaded_bytes;
use super::quarantine::{QuarantineRecorder, QuarantinedItem};
use super::settings::IngestSettings;
use super::task::IngestTask;
use super::worker::IngestWorker;
use crate::alerting::MonitorHealth;
use crate::domain::{CapturedFile, CheckResult, EpisodeId, LocationId, MonitorId};
use crate::pipeline::alerts::{
    AlertEngine, AlertEngineDependencies, AlertEngineSettings, HealthMap, IngestCommand,
};
use crate::schema::Monitor;
use crate::store::{Ingest, MonitorLocationState, ResultKey, StoreError};
use crate::sync::Mutex;
use crate::telemetry::{HealthCondition, Metrics, SupervisedTask, TaskHeartbeat, TaskName};

/// Commands queued for the loop; further senders wait.
const COMMAND_QUEUE_CAPACITY: usize = 1024;
/// How long the ingest may take to end once it is aborted.
const ABORT_TIMEOUT: Duration = Duration::from_secs(10);

/// Stores results and raises alerts, in a single loop. Results that arrive while a commit is in
/// progress, or within [`IngestSettings::flush_interval`] of its start, make up the next one; a result that arrives
/// alone is committed at once.
pub struct Ingestor {
    /// `None` once it drains.
    result_sender: Mutex<Option<mpsc::Sender<CheckResult>>>,
    command_sender: Mutex<Option<mpsc::Sender<IngestCommand>>>,
    monitor_health: HealthMap,
    worker: Arc<IngestWorker>,
    /// Ends the loop although results wait.
    abort: CancellationToken,
    /// Cancelled once the loop has ended.
    ended: CancellationToken,
}

impl Ingestor {
    /// Starts the ingest without a supervisor. `stored_states` are the monitor states from the store.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(
        store: Arc<dyn Ingest>,
        metrics: Arc<Metrics>,
        stored_states: Vec<MonitorLocationState>,
        settings: IngestSettings,
    ) -> Self {
        let dependencies = IngestDependencies {
            store,
            metrics: Arc::clone(&metrics),
            spool: None,
            quarantine: QuarantineRecorder::only_counting(metrics),
            heartbeat: TaskHeartbeat::unwatched(TaskName::Ingest),
        };
        let (ingestor, mut task) = Self::new(dependencies, stored_states, settings);
        tokio::spawn(async move { task.run().await });
        ingestor
    }

    /// Creates the ingest and its loop, to be run. `stored_states` are the monitor states from the store.
    #[must_use]
    pub fn new(
        dependencies: IngestDependencies,
        stored_states: Vec<MonitorLocationState>,
        settings: IngestSettings,
    ) -> (Self, IngestTask) {
        let (result_sender, result_receiver) = mpsc::channel(settings.queue_capacity.max(1));
        let (command_sender, command_receiver) = mpsc::channel(COMMAND_QUEUE_CAPACITY);
        let heartbeat = dependencies.heartbeat.clone();
        let worker = Arc::new(IngestWorker::new(dependencies, stored_states, settings));
        let (abort, ended) = (CancellationToken::new(), CancellationToken::new());
        let queues = (result_receiver, command_receiver);
        let task = IngestTask::new(Arc::clone(&worker), queues, heartbeat, (abort.clone(), ended.clone()));
        let ingestor = Self {
            result_sender: Mutex::new(Some(result_sender)),
            command_sender: Mutex::new(Some(command_sender)),
            monitor_health: HealthMap::default(),
            worker,
            abort,
            ended,
        };
        (ingestor, task)
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
        let command_sender =
            self.command_sender.lock().as_ref().map(mpsc::Sender::downgrade).ok_or(StoreError::Closed)?;
        let engine =
            AlertEngine::load(dependencies, settings, command_sender, Arc::clone(&self.monitor_health))
                .await?;
        *self.worker.next_alert_engine.lock() = Some(Box::new(engine));
        Ok(())
    }

    /// Sets who learns of the results that are stored from now on; only the first call counts.
    pub fn set_commit_observer(&self, observer: Arc<dyn CommitObserver>) {
        let _ = self.worker.observer.set(observer);
    }

    /// Passes reloaded settings to the alert engine.
    pub async fn update_alert_settings(&self, settings: AlertEngineSettings) {
        self.send_command(IngestCommand::UpdateSettings(settings)).await;
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

    /// Returns the monitors with an open outage.
    #[must_use]
    pub fn down_monitors(&self) -> Vec<MonitorId> {
        let healths = self.monitor_health.read();
        let down = healths.iter().filter(|(_, health)| **health == MonitorHealth::Down);
        down.map(|(id, _)| *id).collect()
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
        let command_sender = self.command_sender.lock().clone();
        if let Some(command_sender) = command_sender {
            // Fails only when the loop has ended, because the store was closed.
            let _ = command_sender.send(command).await;
        }
    }

    /// Submits one result; waits while the queue is full. Once it returns, the ingest is responsible for the result.
    /// After [`Ingestor::drain`] it takes none any more, and [`ResultReceiver::wait_until_committed`] never returns.
    ///
    /// [`ResultReceiver::wait_until_committed`]: crate::bus::contract::ResultReceiver::wait_until_committed
    pub async fn submit(&self, mut result: CheckResult) {
        let Some(result_sender) = self.result_sender.lock().clone() else {
            self.worker.submitted_results.fetch_add(1, Ordering::AcqRel);
            tracing::warn!(
                check_id = %result.check_id,
                "a result arrived after shutdown and is not stored; one of an agent is sent again"
            );
            return;
        };
        let pending_results = self.worker.pending_results.fetch_add(1, Ordering::AcqRel) + 1;
        self.worker.submitted_results.fetch_add(1, Ordering::AcqRel);
        let capture_bytes = self.worker.drop_excess_captures(&mut result);
        let cancel_guard = PendingSubmitGuard(&self.worker, capture_bytes);
        self.worker.metrics.set_ingest_queue_depth(pending_results);
        // Fails only when the task has ended, because the store was closed or did not accept everything in time:
        // `drain` then logs what is left as lost.
        let _ = result_sender.send(result).await;
        std::mem::forget(cancel_guard);
    }

    /// Submits captures of a committed result; waits while the queue is full. They are dropped when too many bytes are
    /// queued.
    pub(super) async fn submit_captures(&self, result_key: ResultKey, files: Vec<CapturedFile>) {
        let Some(command_sender) = self.command_sender.lock().clone() else {
            self.worker.submitted_results.fetch_add(1, Ordering::AcqRel);
            return;
        };
        let bytes = loaded_bytes(&files);
        if !self.worker.reserve_capture_bytes(bytes) {
            tracing::debug!(check_id = %result_key.check_id, "captures dropped: too many are queued for the store");
            return;
        }
        self.worker.pending_results.fetch_add(1, Ordering::AcqRel);
        self.worker.submitted_results.fetch_add(1, Ordering::AcqRel);
        let cancel_guard = PendingSubmitGuard(&self.worker, bytes);
        // Fails only when the loop has ended, because the store was closed.
        let _ = command_sender.send(IngestCommand::AddCaptures { result_key, files }).await;
        std::mem::forget(cancel_guard);
    }

    /// Waits until everything that was submitted so far is stored, or quarantined. Waits for ever when the ingest
    /// ends before.
    pub(super) async fn flush(&self) {
        let submitted = self.worker.submitted_results.load(Ordering::Acquire);
        let mut released_results = self.worker.released_results.subscribe();
        // Fails only when the sender is gone, which `self` keeps.
        let _ = released_results.wait_for(|released| *released >= submitted).await;
    }

    /// Records that `monitor` is not checked until it is changed, and why.
    pub async fn quarantine_monitor(&self, monitor: &Monitor, error: &str) {
        let body = serde_json::json!({ "name": monitor.name(), "revision": monitor.revision });
        let (kind, id) = ("monitor", monitor.id.0.to_string());
        let item = QuarantinedItem { kind, id, monitor_id: Some(monitor.id), error: error.to_owned(), body };
        self.quarantine(item).await;
    }

    /// Quarantines `item`.
    pub(super) async fn quarantine(&self, item: QuarantinedItem) {
        self.worker.quarantine.record(item).await;
    }

    /// Removes the states of removed monitors, so that one that is added again starts without state.
    pub fn remove_monitor_states(&self, removed: &[MonitorId]) {
        if removed.is_empty() {
            return;
        }
        let removed: HashSet<_> = removed.iter().collect();
        self.worker.location_states.lock().retain(|(monitor, _), _| !removed.contains(monitor));
    }

    /// Returns the state of `monitor_id` at `location_id`; `None` before its first run there.
    #[must_use]
    pub fn monitor_state_at(
        &self,
        monitor_id: MonitorId,
        location_id: LocationId,
    ) -> Option<MonitorLocationState> {
        self.worker.location_states.lock().get(&(monitor_id, location_id)).cloned()
    }

    /// Returns whether results can be stored; for `/readyz`.
    #[must_use]
    pub fn health_condition(&self) -> HealthCondition {
        let is_draining = self.result_sender.lock().is_none();
        if self.ended.is_cancelled() && !is_draining {
            return HealthCondition::unmet("ingest", "it has ended; restart the server");
        }
        if let Some(reason) = &*self.worker.panic_reason.lock() {
            return HealthCondition::unmet("ingest", reason.clone());
        }
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
    /// results could not be committed within `timeout`. No result may be submitted after this call.
    pub async fn drain(&self, timeout: Duration) -> usize {
        drop(self.result_sender.lock().take());
        drop(self.command_sender.lock().take());
        if tokio::time::timeout(timeout, self.ended.cancelled()).await.is_err() {
            self.abort.cancel();
            // A loop that hangs does not even notice this.
            let _ = tokio::time::timeout(ABORT_TIMEOUT, self.ended.cancelled()).await;
        }
        let lost = self.worker.pending_results.load(Ordering::Acquire);
        if lost > 0 {
            tracing::error!(results = lost, "failed to store all results before exit; they are lost");
        }
        lost
    }
}

/// Uncounts a pending result and the bytes of its captures when its submitter is cancelled while it waits for space.
struct PendingSubmitGuard<'a>(&'a IngestWorker, usize);

impl Drop for PendingSubmitGuard<'_> {
    fn drop(&mut self) {
        self.0.release(1, self.1);
    }
}
