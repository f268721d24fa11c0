//! The runner that an agent is made of: one task that owns the schedule, and one short task for each check.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agenda::{Agenda, Start};
use super::backlog::MissedSeries;
use super::check::{check, silenced};
use super::contract::ResultSink;
use super::gate::Limits;
use super::handle::{Change, Command, RunnerHandle, Snapshot};
use super::place::Place;
use super::pulse::Pulse;
use crate::domain::{CheckResult, Timestamp};
use crate::probe::Weight;
use crate::telemetry::{Metrics, SchedulerLoad};

/// Starts a runner without monitors on the current tokio runtime.
pub fn start(limits: Limits, place: Place, sink: Arc<dyn ResultSink>, metrics: Arc<Metrics>) -> RunnerHandle {
    let now = place.clock.now();
    let pulse = Arc::new(Pulse::new(now));
    let (commands, received) = mpsc::channel(COMMANDS);
    let (ended_to, ended) = mpsc::channel(limits.total.max(1));
    let (courier, missed) = mpsc::channel(MISSED);
    let tracker = TaskTracker::new();
    let delivery = Delivery { sink, metrics: Arc::clone(&metrics) };
    tracker.spawn(carry(missed, delivery.clone()));
    let runner = Runner {
        agenda: Agenda::new(limits, now),
        place: Place { pulse: Some(Arc::clone(&pulse)), ..place },
        pulse,
        delivery,
        metrics,
        commands: received,
        ended_to,
        ended,
        courier,
        running: HashMap::new(),
        cancel: CancellationToken::new(),
        tracker,
        applying: None,
        stopping: None,
        deserted: false,
        shown_at: None,
        load: SchedulerLoad::default(),
    };
    tokio::spawn(runner.run());
    RunnerHandle { commands }
}

/// Commands that wait at most.
const COMMANDS: usize = 64;

/// Missed series on their way to the sink; those behind them wait in the backlog and are merged there.
const MISSED: usize = 16;

/// The longest sleep: a suspended host and a stepped clock are noticed within it.
const LOOK_UP: Duration = Duration::from_secs(1);

/// Changes that are made between two looks at the timers.
const CHANGES: usize = 1024;

/// Time between two updates of the gauges.
const SHOW: Duration = Duration::from_millis(250);

struct Runner {
    agenda: Agenda,
    place: Place,
    pulse: Arc<Pulse>,
    delivery: Delivery,
    metrics: Arc<Metrics>,
    commands: mpsc::Receiver<Command>,
    ended_to: mpsc::Sender<u32>,
    ended: mpsc::Receiver<u32>,
    courier: mpsc::Sender<MissedSeries>,
    /// What cancels each running check.
    running: HashMap<u32, CancellationToken>,
    cancel: CancellationToken,
    tracker: TaskTracker,
    applying: Option<Applying>,
    stopping: Option<Stopping>,
    /// Whether every handle was dropped.
    deserted: bool,
    shown_at: Option<Instant>,
    /// What was shown then.
    load: SchedulerLoad,
}

struct Applying {
    changes: std::vec::IntoIter<Change>,
    done: oneshot::Sender<()>,
}

struct Stopping {
    cancel_at: Instant,
    done: Vec<oneshot::Sender<()>>,
}

impl Runner {
    async fn run(mut self) {
        let (mut starts, mut ended, mut command) = (Vec::new(), Vec::new(), None);
        loop {
            let now = self.place.clock.now();
            if let Some(gap) = self.pulse.beat(now) {
                tracing::warn!(gap_s = gap.as_secs(), "this process or its clock stood still or jumped");
            }
            // The timers first: what ends or is asked for now must find every slot where it belongs.
            let more_due = self.agenda.tick(now, &mut starts);
            for index in ended.drain(..) {
                self.running.remove(&index);
                self.agenda.finished(index, now, &mut starts);
            }
            if let Some(command) = command.take() {
                self.carry_out(command, now);
            }
            self.apply_some(now);
            self.agenda.admit(now, &mut starts);
            for start in starts.drain(..) {
                self.spawn(start);
            }
            self.show();
            if self.is_done() {
                break;
            }
            let busy = more_due || self.applying.is_some();
            let wait = self.agenda.next_wake().map_or(LOOK_UP, |wake| wake.since(now).min(LOOK_UP));
            let cancel_at = self.stopping.as_ref().map(|stopping| stopping.cancel_at);
            tokio::select! {
                () = tokio::task::yield_now(), if busy => {}
                _ = self.ended.recv_many(&mut ended, CHANGES) => {}
                received = self.commands.recv(), if self.applying.is_none() && !self.deserted => {
                    self.deserted = received.is_none();
                    command = Some(received.unwrap_or_else(all_handles_dropped));
                }
                Ok(permit) = self.courier.reserve(), if self.agenda.owes_missed() => {
                    if let Some(series) = self.agenda.take_missed() {
                        permit.send(series);
                    }
                }
                () = at(cancel_at), if !self.cancel.is_cancelled() => self.cancel.cancel(),
                () = self.place.clock.sleep(wait), if !busy => {}
            }
        }
        self.hand_over().await;
    }

    fn carry_out(&mut self, command: Command, now: Timestamp) {
        match command {
            Command::Apply { .. } if self.stopping.is_some() => {}
            Command::Apply { changes, done } => {
                self.applying = Some(Applying { changes: changes.into_iter(), done });
            }
            Command::Order { monitor_id, reply } => self.agenda.order(monitor_id, now, reply),
            Command::OrderOnce { assignment, reply } => self.agenda.order_once(assignment, now, reply),
            Command::Snapshot(reply) => {
                // Whoever asked may have gone.
                let _ = reply.send(self.snapshot());
            }
            Command::Shutdown { limit, done } => self.stop(limit, done),
        }
    }

    fn apply_some(&mut self, now: Timestamp) {
        let Some(mut applying) = self.applying.take() else { return };
        for change in applying.changes.by_ref().take(CHANGES) {
            match change {
                Change::Put(assignment) => self.agenda.put(assignment, now),
                Change::Remove { monitor_id, cancel } => {
                    self.place.full_pages.forget(monitor_id);
                    let index = self.agenda.remove(monitor_id);
                    if let Some(token) = index.filter(|_| cancel).and_then(|index| self.running.get(&index)) {
                        token.cancel();
                    }
                }
            }
        }
        if applying.changes.len() > 0 {
            self.applying = Some(applying);
        } else {
            // A plan that is there is shown at once, before the first of its checks can be seen.
            self.shown_at = None;
            let _ = applying.done.send(());
        }
    }

    fn spawn(&mut self, start: Start) {
        let Start { index, assignment, planned_at, due_at, reply } = start;
        let cancel = self.cancel.child_token();
        self.running.insert(index, cancel.clone());
        let place = Place { on_order: reply.is_some(), ..self.place.clone() };
        let delivery = self.delivery.clone();
        let ended = Ended { index, to: self.ended_to.clone() };
        self.tracker.spawn(async move {
            // Held to the end: the place is freed once the result was taken, or when anything panics.
            let _ended = ended;
            let now = place.clock.now();
            let rest = place.silence.as_ref().filter(|_| reply.is_none()).and_then(|silence| {
                // A run that was planned in a blackout, or would fall into one, is part of it.
                silence.rests(&assignment, planned_at).or_else(|| silence.rests(&assignment, now))
            });
            let result = match rest {
                Some(reason) => silenced(&assignment, planned_at, now, reason),
                None => check(&assignment, planned_at, &place, &cancel).await,
            };
            match reply {
                Some(reply) => drop(reply.send(Ok(result))),
                None => delivery.deliver(result, due_at).await,
            }
        });
    }

    fn stop(&mut self, limit: Duration, done: oneshot::Sender<()>) {
        self.agenda.stop();
        let cancel_at = Instant::now() + limit;
        let stopping = self.stopping.get_or_insert(Stopping { cancel_at, done: Vec::new() });
        stopping.cancel_at = stopping.cancel_at.min(cancel_at);
        stopping.done.push(done);
    }

    fn is_done(&self) -> bool {
        self.stopping.is_some() && self.agenda.in_flight() == 0 && !self.agenda.owes_missed()
    }

    /// Waits until the sink took everything, and says so to those who asked for the end.
    async fn hand_over(self) {
        self.metrics.record_load(self.load, SchedulerLoad::default());
        drop((self.courier, self.commands));
        self.tracker.close();
        self.tracker.wait().await;
        for done in self.stopping.into_iter().flat_map(|stopping| stopping.done) {
            let _ = done.send(());
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            planned: self.agenda.planned(),
            in_flight: self.agenda.in_flight(),
            queued: self.agenda.queued(),
        }
    }

    fn show(&mut self) {
        if self.shown_at.is_some_and(|shown_at| shown_at.elapsed() < SHOW) {
            return;
        }
        self.shown_at = Some(Instant::now());
        let of = |weight| self.agenda.in_flight_of(weight);
        let load = SchedulerLoad {
            planned: self.agenda.planned(),
            queued: self.agenda.queued(),
            light: of(Weight::Light),
            heavy: of(Weight::Heavy),
        };
        self.metrics.record_load(self.load, load);
        self.load = load;
    }
}

fn all_handles_dropped() -> Command {
    Command::Shutdown { limit: Duration::ZERO, done: oneshot::channel().0 }
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Tells the runner that the task of a check is over, however it ended.
struct Ended {
    index: u32,
    to: mpsc::Sender<u32>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        // There is room for every check that may run; an error means that the runner is gone.
        let _ = self.to.try_send(self.index);
    }
}

/// Hands the missed series over, one after the other.
async fn carry(mut missed: mpsc::Receiver<MissedSeries>, delivery: Delivery) {
    while let Some(series) = missed.recv().await {
        delivery.deliver(series.record(), series.slots.first).await;
    }
}

#[derive(Clone)]
struct Delivery {
    sink: Arc<dyn ResultSink>,
    metrics: Arc<Metrics>,
}

impl Delivery {
    /// `due_at` is when the check was due here.
    async fn deliver(&self, result: CheckResult, due_at: Timestamp) {
        self.metrics.record_result_due_at(&result, due_at);
        let monitor_id = result.monitor_id;
        if AssertUnwindSafe(self.sink.deliver(result)).catch_unwind().await.is_err() {
            tracing::error!(
                monitor_id = monitor_id.0,
                "the sink panicked on a result; this is a defect of Vigie"
            );
        }
    }
}
