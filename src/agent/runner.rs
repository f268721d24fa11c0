//! The runner of an agent: one task that owns the schedule, and one short task for each check.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::admission::AdmissionLimits;
use super::check::{blackout_result, run_check};
use super::execution_context::ExecutionContext;
use super::missed_backlog::MissedSeries;
use super::ports::ResultSink;
use super::run_queue::{RunQueue, StartRun};
use super::runner_handle::{AssignmentChange, RunnerCommand, RunnerHandle, RunnerStats};
use super::stall_detector::StallDetector;
use crate::domain::{CheckResult, Timestamp};
use crate::probe::Weight;
use crate::telemetry::{Metrics, SchedulerLoad};

/// Starts a runner without monitors on the current tokio runtime.
pub fn start_runner(
    limits: AdmissionLimits,
    cx: ExecutionContext,
    sink: Arc<dyn ResultSink>,
    metrics: Arc<Metrics>,
) -> RunnerHandle {
    let now = cx.clock.now();
    let stall_detector = Arc::new(StallDetector::new(now));
    let (commands, command_receiver) = mpsc::channel(COMMAND_QUEUE);
    let (finished_sender, finished_receiver) = mpsc::channel(limits.total.max(1));
    let (missed_sender, missed_receiver) = mpsc::channel(MISSED_QUEUE);
    let tracker = TaskTracker::new();
    let delivery = ResultDelivery { sink, metrics: Arc::clone(&metrics) };
    tracker.spawn(deliver_missed(missed_receiver, delivery.clone()));
    let runner = Runner {
        queue: RunQueue::new(limits, now),
        cx: ExecutionContext { stall_detector: Some(Arc::clone(&stall_detector)), ..cx },
        stall_detector,
        delivery,
        metrics,
        commands: command_receiver,
        finished_sender,
        finished_receiver,
        missed_sender,
        running: HashMap::new(),
        cancel: CancellationToken::new(),
        tracker,
        pending_changes: None,
        pending_shutdown: None,
        is_orphaned: false,
        gauges_updated_at: None,
        last_load: SchedulerLoad::default(),
    };
    tokio::spawn(runner.run());
    RunnerHandle { commands }
}

/// Maximum number of waiting commands.
const COMMAND_QUEUE: usize = 64;

/// Missed series on their way to the sink; further ones wait in the backlog and are merged there.
const MISSED_QUEUE: usize = 16;

/// Longest sleep between two ticks, and so the time to detect a suspended host or a stepped clock.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// Maximum number of changes applied between two ticks.
const CHANGES_PER_TICK: usize = 1024;

/// Time between two updates of the gauges.
const GAUGE_INTERVAL: Duration = Duration::from_millis(250);

struct Runner {
    queue: RunQueue,
    cx: ExecutionContext,
    stall_detector: Arc<StallDetector>,
    delivery: ResultDelivery,
    metrics: Arc<Metrics>,
    commands: mpsc::Receiver<RunnerCommand>,
    finished_sender: mpsc::Sender<u32>,
    finished_receiver: mpsc::Receiver<u32>,
    missed_sender: mpsc::Sender<MissedSeries>,
    /// Cancels each running check.
    running: HashMap<u32, CancellationToken>,
    cancel: CancellationToken,
    tracker: TaskTracker,
    pending_changes: Option<PendingChanges>,
    pending_shutdown: Option<PendingShutdown>,
    /// Whether every handle was dropped.
    is_orphaned: bool,
    gauges_updated_at: Option<Instant>,
    /// The load that the gauges show.
    last_load: SchedulerLoad,
}

struct PendingChanges {
    changes: std::vec::IntoIter<AssignmentChange>,
    done: oneshot::Sender<()>,
}

struct PendingShutdown {
    cancel_at: Instant,
    done: Vec<oneshot::Sender<()>>,
}

impl Runner {
    async fn run(mut self) {
        let (mut starts, mut finished, mut command) = (Vec::new(), Vec::new(), None);
        loop {
            let now = self.cx.clock.now();
            if let Some(gap) = self.stall_detector.beat(now) {
                tracing::warn!(gap_s = gap.as_secs(), "the process stalled or its clock jumped");
            }
            // Tick first, so that all due slots are handled before finished checks and commands.
            let more_due = self.queue.tick(now, &mut starts);
            for index in finished.drain(..) {
                self.running.remove(&index);
                self.queue.on_finished(index, now, &mut starts);
            }
            if let Some(command) = command.take() {
                self.handle_command(command, now);
            }
            self.apply_changes(now);
            self.queue.start_admitted(now, &mut starts);
            for start in starts.drain(..) {
                self.spawn(start);
            }
            self.update_gauges();
            if self.is_drained() {
                break;
            }
            let busy = more_due || self.pending_changes.is_some();
            let wait = self.queue.next_wake().map_or(MAX_SLEEP, |wake| wake.since(now).min(MAX_SLEEP));
            let cancel_at = self.pending_shutdown.as_ref().map(|stopping| stopping.cancel_at);
            tokio::select! {
                () = tokio::task::yield_now(), if busy => {}
                _ = self.finished_receiver.recv_many(&mut finished, CHANGES_PER_TICK) => {}
                received = self.commands.recv(), if self.pending_changes.is_none() && !self.is_orphaned => {
                    self.is_orphaned = received.is_none();
                    command = Some(received.unwrap_or_else(shutdown_now));
                }
                Ok(permit) = self.missed_sender.reserve(), if self.queue.has_missed() => {
                    if let Some(series) = self.queue.take_missed() {
                        permit.send(series);
                    }
                }
                () = sleep_until(cancel_at), if !self.cancel.is_cancelled() => self.cancel.cancel(),
                () = self.cx.clock.sleep(wait), if !busy => {}
            }
        }
        self.drain().await;
    }

    fn handle_command(&mut self, command: RunnerCommand, now: Timestamp) {
        match command {
            RunnerCommand::Apply { .. } if self.pending_shutdown.is_some() => {}
            RunnerCommand::Apply { changes, done } => {
                self.pending_changes = Some(PendingChanges { changes: changes.into_iter(), done });
            }
            RunnerCommand::RunNow { monitor_id, reply } => self.queue.order_run(monitor_id, now, reply),
            RunnerCommand::RunOnce { assignment, reply } => {
                self.queue.order_run_once(assignment, now, reply);
            }
            RunnerCommand::Stats(reply) => {
                // The caller may have stopped waiting.
                let _ = reply.send(self.snapshot());
            }
            RunnerCommand::Shutdown { limit, done } => self.begin_shutdown(limit, done),
        }
    }

    fn apply_changes(&mut self, now: Timestamp) {
        let Some(mut applying) = self.pending_changes.take() else { return };
        for change in applying.changes.by_ref().take(CHANGES_PER_TICK) {
            match change {
                AssignmentChange::Put(assignment) => self.queue.upsert(assignment, now),
                AssignmentChange::Remove { monitor_id, cancel } => {
                    self.cx.full_pages.remove(monitor_id);
                    let index = self.queue.remove(monitor_id);
                    if let Some(token) = index.filter(|_| cancel).and_then(|index| self.running.get(&index)) {
                        token.cancel();
                    }
                }
            }
        }
        if applying.changes.len() > 0 {
            self.pending_changes = Some(applying);
        } else {
            // Update the gauges at once, so that they show a new plan before the first of its checks.
            self.gauges_updated_at = None;
            let _ = applying.done.send(());
        }
    }

    fn spawn(&mut self, start: StartRun) {
        let StartRun { index, assignment, planned_at, due_at, reply } = start;
        let cancel = self.cancel.child_token();
        self.running.insert(index, cancel.clone());
        let cx = ExecutionContext { is_on_demand: reply.is_some(), ..self.cx.clone() };
        let delivery = self.delivery.clone();
        let finish_guard = FinishGuard { index, finished_sender: self.finished_sender.clone() };
        self.tracker.spawn(async move {
            // Held to the end: admission is released once the result was delivered, or when anything panics.
            let _finish_guard = finish_guard;
            let now = cx.clock.now();
            let blackout_reason = cx.blackouts.as_ref().filter(|_| reply.is_none()).and_then(|blackouts| {
                // A blackout suppresses runs that were planned in it, and runs that would start in it.
                blackouts
                    .blackout_at(&assignment, planned_at)
                    .or_else(|| blackouts.blackout_at(&assignment, now))
            });
            let result = match blackout_reason {
                Some(reason) => blackout_result(&assignment, planned_at, now, reason),
                None => run_check(&assignment, planned_at, &cx, &cancel).await,
            };
            match reply {
                Some(reply) => drop(reply.send(Ok(result))),
                None => delivery.deliver(result, due_at).await,
            }
        });
    }

    fn begin_shutdown(&mut self, limit: Duration, done: oneshot::Sender<()>) {
        self.queue.stop();
        let cancel_at = Instant::now() + limit;
        let stopping = self.pending_shutdown.get_or_insert(PendingShutdown { cancel_at, done: Vec::new() });
        stopping.cancel_at = stopping.cancel_at.min(cancel_at);
        stopping.done.push(done);
    }

    fn is_drained(&self) -> bool {
        self.pending_shutdown.is_some() && self.queue.in_flight() == 0 && !self.queue.has_missed()
    }

    /// Waits until the sink has accepted everything, then replies to all shutdown requests.
    async fn drain(self) {
        self.metrics.record_load(self.last_load, SchedulerLoad::default());
        drop((self.missed_sender, self.commands));
        self.tracker.close();
        self.tracker.wait().await;
        for done in self.pending_shutdown.into_iter().flat_map(|stopping| stopping.done) {
            let _ = done.send(());
        }
    }

    fn snapshot(&self) -> RunnerStats {
        RunnerStats {
            planned: self.queue.planned(),
            in_flight: self.queue.in_flight(),
            queued: self.queue.queued(),
        }
    }

    fn update_gauges(&mut self) {
        if self.gauges_updated_at.is_some_and(|updated_at| updated_at.elapsed() < GAUGE_INTERVAL) {
            return;
        }
        self.gauges_updated_at = Some(Instant::now());
        let in_flight = |weight| self.queue.in_flight_by_weight(weight);
        let load = SchedulerLoad {
            planned: self.queue.planned(),
            queued: self.queue.queued(),
            light: in_flight(Weight::Light),
            heavy: in_flight(Weight::Heavy),
        };
        self.metrics.record_load(self.last_load, load);
        self.last_load = load;
    }
}

fn shutdown_now() -> RunnerCommand {
    RunnerCommand::Shutdown { limit: Duration::ZERO, done: oneshot::channel().0 }
}

async fn sleep_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Notifies the runner when the task of a check ends, however it ends.
struct FinishGuard {
    index: u32,
    finished_sender: mpsc::Sender<u32>,
}

impl Drop for FinishGuard {
    fn drop(&mut self) {
        // The channel has room for every check that may run; an error means that the runner has ended.
        let _ = self.finished_sender.try_send(self.index);
    }
}

/// Delivers the missed series, one after the other.
async fn deliver_missed(mut missed: mpsc::Receiver<MissedSeries>, delivery: ResultDelivery) {
    while let Some(series) = missed.recv().await {
        delivery.deliver(series.to_result(), series.slots.first).await;
    }
}

#[derive(Clone)]
struct ResultDelivery {
    sink: Arc<dyn ResultSink>,
    metrics: Arc<Metrics>,
}

impl ResultDelivery {
    /// Delivers `result`; the check was due at this location at `location_start_at`.
    async fn deliver(&self, result: CheckResult, due_at: Timestamp) {
        self.metrics.record_result_due_at(&result, due_at);
        let monitor_id = result.monitor_id;
        if AssertUnwindSafe(self.sink.deliver(result)).catch_unwind().await.is_err() {
            tracing::error!(
                monitor_id = monitor_id.0,
                "the result sink panicked; this is a bug in Vigie, please report it"
            );
        }
    }
}
