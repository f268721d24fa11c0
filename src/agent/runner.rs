//! The runner of an agent: one task that owns the schedule, and one short task for each check.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::admission::AdmissionLimits;
use super::assignment::Assignment;
use super::check::{panicked_result, run_check, suppressed_by_blackout_result};
use super::execution_context::ExecutionContext;
use super::missed_backlog::MissedRunSeries;
use super::run_queue::{CheckStart, RunQueue};
use super::runner_handle::{AssignmentChange, RunnerCommand, RunnerHandle};
use super::stall_detector::StallDetector;
use crate::bus::contract::{AgentLoad, ResultSink};
use crate::domain::{CheckResult, CheckTrigger, Timestamp};
use crate::probe::ConcurrencyClass;
use crate::sync::Mutex;
use crate::telemetry::{
    Metrics, RunnerLoad, SupervisedTask, TaskFuture, TaskHeartbeat, TaskName, blocking_fault_point,
    fault_point, panic_message,
};

/// Starts a runner without monitors on the current tokio runtime, without a supervisor.
pub fn start_runner(
    limits: AdmissionLimits,
    cx: ExecutionContext,
    sink: Arc<dyn ResultSink>,
    metrics: Arc<Metrics>,
) -> RunnerHandle {
    let heartbeats = RunnerHeartbeats::unwatched();
    let RunnerTasks { handle, runner, mut missed_runs } = new_runner(limits, cx, sink, metrics, heartbeats);
    tokio::spawn(async move { missed_runs.run().await });
    tokio::spawn(runner.run());
    handle
}

/// Heartbeats of the tasks of a runner.
pub struct RunnerHeartbeats {
    /// Of the runner itself.
    pub runner: TaskHeartbeat,
    /// Of the delivery of missed runs.
    pub missed_runs: TaskHeartbeat,
    /// Counts the panics of checks.
    pub checks: TaskHeartbeat,
}

impl RunnerHeartbeats {
    /// Creates heartbeats that nobody watches.
    #[must_use]
    pub fn unwatched() -> Self {
        Self {
            runner: TaskHeartbeat::unwatched(TaskName::Runner),
            missed_runs: TaskHeartbeat::unwatched(TaskName::MissedRuns),
            checks: TaskHeartbeat::unwatched(TaskName::Check),
        }
    }
}

/// A runner without monitors, and its tasks to run.
pub struct RunnerTasks {
    /// Controls the runner.
    pub handle: RunnerHandle,
    /// The runner. Its state does not survive a panic.
    pub runner: Runner,
    /// Delivers the missed runs.
    pub missed_runs: MissedRunDelivery,
}

/// Creates a runner without monitors.
pub fn new_runner(
    limits: AdmissionLimits,
    cx: ExecutionContext,
    sink: Arc<dyn ResultSink>,
    metrics: Arc<Metrics>,
    heartbeats: RunnerHeartbeats,
) -> RunnerTasks {
    let now = cx.clock.now();
    let stall_detector = Arc::new(StallDetector::new(now));
    let (command_sender, command_receiver) = mpsc::channel(COMMAND_QUEUE_CAPACITY);
    let (finished_sender, finished_receiver) = mpsc::channel(limits.max_running.max(1));
    let (missed_sender, missed_receiver) = mpsc::channel(MISSED_QUEUE_CAPACITY);
    let (tracker, load) = (TaskTracker::new(), Arc::<Mutex<AgentLoad>>::default());
    let delivery = ResultDelivery { sink, metrics: Arc::clone(&metrics) };
    let missed_runs = MissedRunDelivery {
        receiver: missed_receiver,
        delivery: delivery.clone(),
        current: None,
        heartbeat: heartbeats.missed_runs,
        _tracked: tracker.token(),
    };
    let runner = Runner {
        run_queue: RunQueue::new(limits, now).with_sharing(Arc::clone(&cx.sharing)),
        execution_context: ExecutionContext { stall_detector: Some(Arc::clone(&stall_detector)), ..cx },
        stall_detector,
        result_delivery: delivery,
        metrics,
        command_receiver,
        finished_sender,
        finished_receiver,
        missed_sender,
        cancel_tokens: HashMap::new(),
        cancel_all: CancellationToken::new(),
        check_tasks: tracker.clone(),
        heartbeat: heartbeats.runner,
        check_heartbeat: heartbeats.checks,
        pending_changes: None,
        pending_shutdown: None,
        all_handles_dropped: false,
        last_gauge_update: None,
        last_load: RunnerLoad::default(),
        published_load: Arc::clone(&load),
    };
    RunnerTasks { handle: RunnerHandle { command_sender, check_tasks: tracker, load }, runner, missed_runs }
}

/// Maximum number of waiting commands.
const COMMAND_QUEUE_CAPACITY: usize = 64;

/// Missed series on their way to the sink; further ones wait in the backlog and are merged there.
const MISSED_QUEUE_CAPACITY: usize = 16;

/// Longest sleep between two ticks, and so the time to detect a suspended host or a stepped clock.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// Maximum number of changes applied between two ticks.
const MAX_CHANGES_PER_TICK: usize = 1024;

/// Time between two updates of the gauges.
const GAUGE_INTERVAL: Duration = Duration::from_millis(250);

/// The task that owns the schedule of a location.
pub struct Runner {
    heartbeat: TaskHeartbeat,
    /// Counts the panics of checks.
    check_heartbeat: TaskHeartbeat,
    run_queue: RunQueue,
    execution_context: ExecutionContext,
    stall_detector: Arc<StallDetector>,
    result_delivery: ResultDelivery,
    metrics: Arc<Metrics>,
    command_receiver: mpsc::Receiver<RunnerCommand>,
    finished_sender: mpsc::Sender<u32>,
    /// Indices in the run queue of the monitors whose check task has ended.
    finished_receiver: mpsc::Receiver<u32>,
    missed_sender: mpsc::Sender<MissedRunSeries>,
    /// Cancels each running check.
    cancel_tokens: HashMap<u32, CancellationToken>,
    /// Cancels all checks, when the shutdown has waited for them long enough.
    cancel_all: CancellationToken,
    check_tasks: TaskTracker,
    pending_changes: Option<PendingChanges>,
    pending_shutdown: Option<PendingShutdown>,
    /// Whether every handle was dropped.
    all_handles_dropped: bool,
    last_gauge_update: Option<Instant>,
    /// The load that the gauges show.
    last_load: RunnerLoad,
    /// The load that the handles show.
    published_load: Arc<Mutex<AgentLoad>>,
}

/// Changes of the planned monitors that are still to be applied; a few are, between two ticks.
struct PendingChanges {
    changes: std::vec::IntoIter<AssignmentChange>,
    done_sender: oneshot::Sender<()>,
}

/// A requested shutdown that waits for running checks; cancels them at `cancel_at`.
struct PendingShutdown {
    cancel_at: Instant,
    done_senders: Vec<oneshot::Sender<()>>,
}

impl Runner {
    /// Runs until a shutdown, or until every handle is dropped.
    pub async fn run(mut self) {
        let (mut checks_to_start, mut finished_indices, mut command) = (Vec::new(), Vec::new(), None);
        loop {
            self.heartbeat.mark_idle_for(MAX_SLEEP);
            let now = self.execution_context.clock.now();
            if let Some(gap) = self.stall_detector.record_heartbeat(now) {
                tracing::warn!(gap_s = gap.as_secs(), "the process stalled or its clock jumped");
            }
            // Tick first, so that all due slots are handled before finished checks and commands.
            let has_more_due = self.run_queue.tick(now, &mut checks_to_start);
            for monitor_index in finished_indices.drain(..) {
                self.cancel_tokens.remove(&monitor_index);
                self.run_queue.on_check_finished(monitor_index, now, &mut checks_to_start);
            }
            if let Some(command) = command.take() {
                self.handle_command(command, now);
            }
            self.apply_changes(now);
            self.run_queue.collect_admitted(now, &mut checks_to_start);
            if !checks_to_start.is_empty() {
                // Tests inject panics and delays here; an injected store error means nothing to the runner.
                let _ = fault_point("runner").await;
            }
            for start in checks_to_start.drain(..) {
                self.spawn_check(start);
            }
            self.update_gauges();
            if self.may_end() {
                break;
            }
            let busy = has_more_due || self.pending_changes.is_some();
            let sleep_time = self
                .run_queue
                .next_timer_at()
                .map_or(MAX_SLEEP, |timer_at| timer_at.since(now).min(MAX_SLEEP));
            let cancel_at = self.pending_shutdown.as_ref().map(|shutdown| shutdown.cancel_at);
            tokio::select! {
                () = tokio::task::yield_now(), if busy => {}
                _ = self.finished_receiver.recv_many(&mut finished_indices, MAX_CHANGES_PER_TICK) => {}
                received = self.command_receiver.recv(), if self.pending_changes.is_none() && !self.all_handles_dropped => {
                    self.all_handles_dropped = received.is_none();
                    command = Some(received.unwrap_or_else(shutdown_now_command));
                }
                Ok(permit) = self.missed_sender.reserve(), if self.run_queue.has_missed_series() => {
                    if let Some(series) = self.run_queue.pop_missed_series() {
                        permit.send(series);
                    }
                }
                () = sleep_until_or_forever(cancel_at), if !self.cancel_all.is_cancelled() => self.cancel_all.cancel(),
                () = self.execution_context.clock.sleep(sleep_time), if !busy => {}
            }
        }
        self.heartbeat.mark_idle();
        self.finish_shutdown().await;
    }

    fn handle_command(&mut self, command: RunnerCommand, now: Timestamp) {
        match command {
            RunnerCommand::ApplyChanges { .. } if self.pending_shutdown.is_some() => {}
            RunnerCommand::ApplyChanges { changes, done } => {
                self.pending_changes =
                    Some(PendingChanges { changes: changes.into_iter(), done_sender: done });
            }
            RunnerCommand::RunNow { monitor_id, reply } => self.run_queue.request_run(monitor_id, now, reply),
            RunnerCommand::RequestFirstCheck { monitor_id, planned_at, reply } => {
                // The caller may have stopped waiting.
                let _ = reply.send(self.run_queue.request_first_check(monitor_id, planned_at, now));
            }
            RunnerCommand::RunAssignmentNow { assignment, reply } => {
                self.run_queue.request_run_of_assignment(assignment, now, reply);
            }
            // The callers may have stopped waiting.
            RunnerCommand::GetLoad(reply) => drop(reply.send(self.run_queue.load())),
            RunnerCommand::GetPlannedMonitors(reply) => {
                drop(reply.send(self.run_queue.planned_monitor_ids()));
            }
            RunnerCommand::Shutdown { timeout: limit, done } => self.begin_shutdown(limit, done),
        }
    }

    fn apply_changes(&mut self, now: Timestamp) {
        let Some(mut pending) = self.pending_changes.take() else { return };
        for change in pending.changes.by_ref().take(MAX_CHANGES_PER_TICK) {
            match change {
                AssignmentChange::Upsert(assignment) => self.upsert(assignment, now),
                AssignmentChange::Remove { monitor_id, cancel_running: cancel } => {
                    self.execution_context.full_page_times.remove(monitor_id);
                    let index = self.run_queue.remove(monitor_id);
                    if let Some(token) =
                        index.filter(|_| cancel).and_then(|index| self.cancel_tokens.get(&index))
                    {
                        token.cancel();
                    }
                }
            }
        }
        if pending.changes.len() > 0 {
            self.pending_changes = Some(pending);
        } else {
            // Update the gauges at once, so that they show a new plan before the first of its checks.
            self.last_gauge_update = None;
            let _ = pending.done_sender.send(());
        }
    }

    /// Plans a monitor. One at which that panics is left out, so that the others run on.
    fn upsert(&mut self, assignment: Arc<Assignment>, now: Timestamp) {
        let monitor_id = assignment.monitor_id;
        let upsert = || {
            // An injected store error means nothing to the runner.
            let _ = blocking_fault_point("upsert");
            self.run_queue.upsert(assignment, now);
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(upsert)) {
            let panic = panic_message(payload.as_ref());
            tracing::error!(
                monitor_id = monitor_id.0,
                panic,
                "the monitor is not checked: scheduling it panicked"
            );
            self.heartbeat.record_panic();
            self.metrics.record_quarantine("monitor");
            self.run_queue.remove(monitor_id);
        }
    }

    fn spawn_check(&mut self, start: CheckStart) {
        let CheckStart {
            monitor_index: index,
            assignment,
            trigger,
            planned_at,
            location_start_at,
            on_demand_reply: reply,
        } = start;
        let cancel = self.cancel_all.child_token();
        self.cancel_tokens.insert(index, cancel.clone());
        let cx = ExecutionContext { trigger, ..self.execution_context.clone() };
        let (delivery, heartbeat) = (self.result_delivery.clone(), self.check_heartbeat.clone());
        let finish_guard =
            FinishGuard { monitor_index: index, finished_sender: self.finished_sender.clone() };
        self.check_tasks.spawn(async move {
            // Held to the end: admission is released once the result was delivered, or when anything panics.
            let _finish_guard = finish_guard;
            let now = cx.clock.now();
            let run = AssertUnwindSafe(run_unless_suppressed(&assignment, planned_at, &cx, &cancel));
            let result = run.catch_unwind().await.unwrap_or_else(|_| {
                heartbeat.record_panic();
                Some(panicked_result(&assignment, (planned_at, trigger), now))
            });
            let Some(result) = result else { return };
            if let Some(reply) = reply {
                drop(reply.send(Ok(result)));
            } else {
                if trigger.is_schedule() {
                    let (account, plan_code) = (assignment.customer_id, &assignment.billing_plancode);
                    delivery.metrics.record_plan_check(account, plan_code, &result);
                }
                delivery.deliver_result(result, location_start_at).await;
            }
        });
    }

    fn begin_shutdown(&mut self, timeout: Duration, done: oneshot::Sender<()>) {
        self.run_queue.stop();
        let cancel_at = Instant::now() + timeout;
        let stopping =
            self.pending_shutdown.get_or_insert(PendingShutdown { cancel_at, done_senders: Vec::new() });
        stopping.cancel_at = stopping.cancel_at.min(cancel_at);
        stopping.done_senders.push(done);
    }

    fn may_end(&self) -> bool {
        self.pending_shutdown.is_some()
            && self.run_queue.running_checks() == 0
            && !self.run_queue.has_missed_series()
    }

    /// Waits until the sink has accepted everything, then replies to all shutdown requests.
    async fn finish_shutdown(self) {
        self.metrics.record_load_change(self.last_load, RunnerLoad::default());
        drop((self.missed_sender, self.command_receiver));
        self.check_tasks.close();
        self.check_tasks.wait().await;
        for done in self.pending_shutdown.into_iter().flat_map(|stopping| stopping.done_senders) {
            let _ = done.send(());
        }
    }

    fn update_gauges(&mut self) {
        if self.last_gauge_update.is_some_and(|updated_at| updated_at.elapsed() < GAUGE_INTERVAL) {
            return;
        }
        self.last_gauge_update = Some(Instant::now());
        *self.published_load.lock() = self.run_queue.load();
        let running_count_of = |class| self.run_queue.running_checks_by_class(class);
        let load = RunnerLoad {
            planned_monitors: self.run_queue.planned_monitors(),
            queued_runs: self.run_queue.waiting_checks(),
            light_checks: running_count_of(ConcurrencyClass::Light),
            heavy_checks: running_count_of(ConcurrencyClass::Heavy),
        };
        self.metrics.record_load_change(self.last_load, load);
        self.last_load = load;
    }
}

fn shutdown_now_command() -> RunnerCommand {
    RunnerCommand::Shutdown { timeout: Duration::ZERO, done: oneshot::channel().0 }
}

async fn sleep_until_or_forever(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Notifies the runner when the task of a check ends, however it ends.
struct FinishGuard {
    monitor_index: u32,
    finished_sender: mpsc::Sender<u32>,
}

impl Drop for FinishGuard {
    fn drop(&mut self) {
        // The channel has room for every check that may run; an error means that the runner has ended.
        let _ = self.finished_sender.try_send(self.monitor_index);
    }
}

/// Runs a check, unless a blackout suppresses it: then a first check has no result.
async fn run_unless_suppressed(
    assignment: &Assignment,
    planned_at: Timestamp,
    cx: &ExecutionContext,
    cancel: &CancellationToken,
) -> Option<CheckResult> {
    // An injected store error means nothing to a check.
    let _ = fault_point("check").await;
    let now = cx.clock.now();
    let blackout_reason =
        cx.blackout_lookup.as_ref().filter(|_| cx.trigger != CheckTrigger::OnDemand).and_then(|blackouts| {
            // A blackout suppresses runs that were planned in it, and runs that would start in it.
            blackouts.blackout_at(assignment, planned_at).or_else(|| blackouts.blackout_at(assignment, now))
        });
    match blackout_reason {
        Some(_) if cx.trigger == CheckTrigger::First => None,
        Some(reason) => Some(suppressed_by_blackout_result(assignment, planned_at, now, reason)),
        None => Some(run_check(assignment, planned_at, cx, cancel).await),
    }
}

/// Delivers the missed series, one after the other.
pub struct MissedRunDelivery {
    receiver: mpsc::Receiver<MissedRunSeries>,
    delivery: ResultDelivery,
    /// The series that is being delivered.
    current: Option<MissedRunSeries>,
    heartbeat: TaskHeartbeat,
    /// The shutdown of the runner waits for it.
    _tracked: TaskTrackerToken,
}

impl SupervisedTask for MissedRunDelivery {
    fn heartbeat(&self) -> &TaskHeartbeat {
        &self.heartbeat
    }

    fn run(&mut self) -> TaskFuture<'_> {
        Box::pin(async move {
            loop {
                if self.current.is_none() {
                    self.current = self.receiver.recv().await;
                }
                let Some(series) = &self.current else { return };
                // How long it may take is up to the sink, which has a heartbeat of its own.
                let _ = fault_point("missed_runs").await;
                self.delivery.deliver_result(series.to_result(), series.slots.first).await;
                self.current = None;
            }
        })
    }
}

#[derive(Clone)]
struct ResultDelivery {
    sink: Arc<dyn ResultSink>,
    metrics: Arc<Metrics>,
}

impl ResultDelivery {
    /// Delivers `result`; the check was due at this location at `location_start_at`.
    async fn deliver_result(&self, result: CheckResult, location_start_at: Timestamp) {
        self.metrics.record_result_due_at(&result, location_start_at);
        let monitor_id = result.monitor_id;
        if AssertUnwindSafe(self.sink.deliver(result)).catch_unwind().await.is_err() {
            tracing::error!(
                monitor_id = monitor_id.0,
                "the result sink panicked; this is a bug in Vigie, please report it"
            );
        }
    }
}
