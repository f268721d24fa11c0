//! The ingest loop. Whatever it has taken from the queues stands in the task until it is stored, so that it outlives a
//! panic: the alert engine is then loaded from the store again, and the batch is repeated.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::pending_batch::{InFlightCommit, PendingBatch, ProcessedBatch, capture_bytes};
use super::quarantine::QuarantinedItem;
use super::worker::IngestWorker;
use crate::domain::{CheckResult, MonitorId};
use crate::pipeline::alerts::{AlertEngine, IngestCommand};
use crate::telemetry::{SupervisedTask, TaskFuture, TaskHeartbeat, fault_point, panic_message};

/// Panics at which whatever was there is quarantined.
const MAX_PANICS: u32 = 2;
/// How long results that wait for space in the queue may take to arrive when the rest is spooled.
const SPOOL_RECEIVE_TIMEOUT: Duration = Duration::from_secs(2);
/// Commands of one batch.
const MAX_BATCH_COMMANDS: usize = 1024;

/// The ingest loop.
pub struct IngestTask {
    worker: Arc<IngestWorker>,
    result_receiver: mpsc::Receiver<CheckResult>,
    command_receiver: mpsc::Receiver<IngestCommand>,
    /// `None` until alerting is enabled.
    alert_engine: Option<Box<AlertEngine>>,
    /// Batches to process, the first one at present.
    pending: VecDeque<PendingBatch>,
    /// The processed batch.
    processed: Option<ProcessedBatch>,
    /// The commit in progress, while the next batch is processed.
    in_flight: Option<InFlightCommit>,
    /// When the next batch may start: one flush interval after the last.
    next_batch_at: Instant,
    /// Whether the alert engine must be loaded again before it is used, since a panic may have left it half changed.
    is_reload_due: bool,
    /// How often the alert engine panicked while it processed each monitor.
    panics_by_monitor: HashMap<MonitorId, u32>,
    heartbeat: TaskHeartbeat,
    /// Ends the loop although results wait.
    abort: CancellationToken,
    /// Cancelled by the task once it has ended.
    ended: CancellationToken,
}

impl IngestTask {
    pub(super) fn new(
        worker: Arc<IngestWorker>,
        (result_receiver, command_receiver): (mpsc::Receiver<CheckResult>, mpsc::Receiver<IngestCommand>),
        heartbeat: TaskHeartbeat,
        (abort, ended): (CancellationToken, CancellationToken),
    ) -> Self {
        Self {
            worker,
            result_receiver,
            command_receiver,
            alert_engine: None,
            pending: VecDeque::new(),
            processed: None,
            in_flight: None,
            next_batch_at: Instant::now(),
            is_reload_due: false,
            panics_by_monitor: HashMap::new(),
            heartbeat,
            abort,
            ended,
        }
    }

    async fn run_loop(&mut self) {
        let max_batch = self.worker.settings.max_batch_results.max(1);
        loop {
            if self.is_reload_due {
                // The stored state must include what was committed last.
                if !self.finish_in_flight().await {
                    return;
                }
                self.reload_alert_engine().await;
            }
            if self.pending.is_empty() && self.processed.is_none() {
                match self.receive_batch(max_batch).await {
                    Some(batch) => self.pending.push_back(batch),
                    None => break,
                }
            }
            self.heartbeat.beat();
            if self.processed.is_none() && !self.process_pending().await {
                continue;
            }
            if !self.finish_in_flight().await {
                return;
            }
            let Some(batch) = self.processed.take() else { continue };
            if self.result_receiver.len() < max_batch {
                // Results that arrive during the commit make up the next batch.
                let commit = Arc::clone(&batch.commit);
                self.processed = Some(batch);
                if !self.worker.commit(commit).await {
                    return;
                }
                if let Some(batch) = self.processed.take() {
                    self.worker.run_post_commit(batch.post_commit, self.alert_engine.as_deref());
                }
            } else {
                // With a whole batch queued, that one is processed while this one is written.
                let (worker, commit) = (Arc::clone(&self.worker), Arc::clone(&batch.commit));
                let commit_task = tokio::spawn(async move { worker.commit(commit).await });
                self.in_flight = Some(InFlightCommit { commit_task: Some(commit_task), batch });
            }
        }
        self.finish_in_flight().await;
    }

    /// Waits for results, commands or a timer; `None` once no more results can arrive.
    async fn receive_batch(&mut self, max_batch: usize) -> Option<PendingBatch> {
        let is_shutting_down = || self.worker.is_shutting_down.load(Ordering::Acquire);
        self.heartbeat.mark_idle();
        if self.result_receiver.len() < max_batch && !is_shutting_down() {
            tokio::time::sleep_until(self.next_batch_at).await;
        }
        let mut batch = PendingBatch::default();
        tokio::select! {
            biased;
            count = self.result_receiver.recv_many(&mut batch.results, max_batch) => if count == 0 {
                return None;
            },
            Some(command) = self.command_receiver.recv() => batch.commands.push(command),
            () = wait_for_timer(self.alert_engine.as_deref()) => {}
        }
        self.next_batch_at = Instant::now() + self.worker.settings.flush_interval;
        while batch.commands.len() < MAX_BATCH_COMMANDS
            && let Ok(command) = self.command_receiver.try_recv()
        {
            batch.commands.push(command);
        }
        batch.runs_timers = self.result_receiver.is_empty() && !is_shutting_down();
        Some(batch)
    }

    /// Processes the first pending batch; `false` when it panicked.
    async fn process_pending(&mut self) -> bool {
        let Some(batch) = self.pending.front_mut() else { return true };
        let processing = self.worker.process_batch(batch, &mut self.alert_engine);
        match AssertUnwindSafe(processing).catch_unwind().await {
            Ok(processed) => {
                self.pending.pop_front();
                self.processed = Some(processed);
                if self.pending.is_empty() {
                    *self.worker.panic_reason.lock() = None;
                }
                true
            }
            Err(payload) => {
                self.is_reload_due = true;
                self.on_panic(panic_message(payload.as_ref())).await;
                false
            }
        }
    }

    /// Waits for the commit in progress and runs its post-commit actions; `false` when the store was closed.
    async fn finish_in_flight(&mut self) -> bool {
        let Some(in_flight) = &mut self.in_flight else { return true };
        let task_result = match &mut in_flight.commit_task {
            Some(commit_task) => commit_task.await.ok(),
            None => None,
        };
        // A task that has ended must not be awaited again.
        in_flight.commit_task = None;
        let committed = match task_result {
            Some(committed) => committed,
            // It panicked: it is repeated here, under the supervisor.
            None => self.worker.commit(Arc::clone(&in_flight.batch.commit)).await,
        };
        if committed && let Some(in_flight) = self.in_flight.take() {
            self.worker.run_post_commit(in_flight.batch.post_commit, self.alert_engine.as_deref());
        }
        committed
    }

    /// Prepares the repetition of the batch that panicked: sets apart what was there at two panics, and loads the alert
    /// engine again, whose state may be half changed.
    async fn on_panic(&mut self, panic: &str) {
        self.heartbeat.record_panic();
        *self.worker.panic_reason.lock() = Some(format!("it panicked and starts again: {panic}"));
        let Some(batch) = self.pending.front_mut() else { return };
        batch.panics += 1;
        let panics = batch.panics;
        let monitor_id = self.alert_engine.as_mut().and_then(|engine| engine.take_monitor_in_progress());
        tracing::error!(
            task = self.heartbeat.name().label(),
            panic,
            monitor_id = monitor_id.map(|id| id.0),
            "processing of results panicked; starting again from the stored state"
        );
        match monitor_id {
            Some(monitor_id) => self.count_panic_at_monitor(monitor_id, panic).await,
            None if panics >= MAX_PANICS => self.isolate_panicking_result(panic).await,
            None => {}
        }
        let delay = self.worker.settings.initial_retry_delay * panics.min(50);
        tokio::time::sleep(delay.min(self.worker.settings.max_retry_delay)).await;
    }

    /// Counts a panic of the alert engine at `monitor_id`, and stops alerting of that monitor at the second one.
    async fn count_panic_at_monitor(&mut self, monitor_id: MonitorId, panic: &str) {
        let panics = self.panics_by_monitor.entry(monitor_id).or_default();
        *panics += 1;
        if *panics < MAX_PANICS {
            return;
        }
        self.panics_by_monitor.remove(&monitor_id);
        let Some(batch) = self.pending.front() else { return };
        let engine = self.alert_engine.as_mut();
        let Some(monitor) = engine.and_then(|engine| engine.quarantine(monitor_id, &batch.commands)) else {
            return;
        };
        let results: Vec<_> = batch.results.iter().filter(|result| result.monitor_id == monitor_id).collect();
        let item = QuarantinedItem {
            kind: "monitor",
            id: monitor_id.0.to_string(),
            monitor_id: Some(monitor_id),
            error: format!("alerting panicked: {panic}"),
            body: serde_json::json!({ "name": monitor.name(), "revision": monitor.revision, "results": results }),
        };
        self.worker.quarantine.record(item).await;
    }

    /// Finds the result at which the batch panics, by halves, and sets it apart.
    async fn isolate_panicking_result(&mut self, panic: &str) {
        let Some(batch) = self.pending.front_mut() else { return };
        if let Some(second_half) = batch.split_off_half() {
            batch.panics -= 1;
            self.pending.insert(1, second_half);
            return;
        }
        let Some(result) = batch.results.pop() else { return };
        self.worker.release(1, capture_bytes(&result));
        let error = format!("processing it panicked: {panic}");
        self.worker.quarantine.record(QuarantinedItem::from_result(&result, error)).await;
    }

    /// Loads the alert engine again from the store, with the monitors that it had. A panic in here leaves the old one
    /// in place, to be loaded again when the loop is started again.
    async fn reload_alert_engine(&mut self) {
        let mut delay = self.worker.settings.initial_retry_delay;
        while let Some(engine) = &mut self.alert_engine {
            self.heartbeat.beat();
            // Errors of the store occur below.
            let _ = fault_point("reload").await;
            match engine.reload().await {
                Ok(reloaded) => {
                    let Some(old_engine) = self.alert_engine.replace(Box::new(reloaded)) else { break };
                    if self.pending.is_empty() {
                        self.pending.push_back(PendingBatch::default());
                    }
                    if let Some(batch) = self.pending.front_mut() {
                        let commands = std::mem::take(&mut batch.commands);
                        batch.commands = old_engine.commands_after_reload(commands);
                    }
                    break;
                }
                Err(error) => {
                    let reason = format!("the alert engine panicked and cannot be loaded again: {error}");
                    tracing::error!(error = %error, "failed to load the alert engine again, retrying");
                    *self.worker.panic_reason.lock() = Some(reason);
                }
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(Duration::from_secs(5));
        }
        self.is_reload_due = false;
    }

    /// Puts what the store did not take into the spool, for the next process.
    async fn spool_unstored_results(&mut self) {
        let Some(spool) = self.worker.spool.lock().take() else { return };
        let (mut results, mut count, mut bytes) = (Vec::new(), 0, 0);
        let processed = self.in_flight.take().map(|in_flight| in_flight.batch).into_iter();
        for batch in processed.chain(self.processed.take()) {
            results.extend(batch.commit.results.iter().cloned());
            count += batch.post_commit.result_count;
            bytes += batch.post_commit.capture_bytes;
        }
        let mut waiting: Vec<_> = self.pending.drain(..).flat_map(|batch| batch.results).collect();
        let deadline = Instant::now() + SPOOL_RECEIVE_TIMEOUT;
        while let Ok(Some(result)) = tokio::time::timeout_at(deadline, self.result_receiver.recv()).await {
            waiting.push(result);
        }
        count += waiting.len();
        bytes += waiting.iter().map(capture_bytes).sum::<usize>();
        results.extend(waiting);
        if results.is_empty() {
            return;
        }
        match spool.write(results).await {
            Ok(()) => {
                tracing::warn!(
                    results = count,
                    folder = %spool.folder(),
                    "the store did not take all results: the rest is in the spool and will be stored at the next start"
                );
                self.worker.subtract_pending(count, bytes);
            }
            Err(error) => tracing::error!(error = %error, "failed to keep results in the spool"),
        }
    }
}

impl SupervisedTask for IngestTask {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin(async move {
            let abort = self.abort.clone();
            tokio::select! {
                () = self.run_loop() => {}
                () = abort.cancelled() => {}
            }
            self.spool_unstored_results().await;
            self.heartbeat.mark_idle();
            self.ended.cancel();
        })
    }
}

/// Waits until a timer of the alert engine is due.
async fn wait_for_timer(engine: Option<&AlertEngine>) {
    match engine {
        Some(engine) => engine.wait_for_timer().await,
        None => std::future::pending().await,
    }
}
