//! Scripted probes, a sink that can be blocked, and a runner on a fake clock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use vigie::agent::{
    AdmissionLimits, Assignment, AssignmentChange, ExecutionContext, RunnerHandle, start_runner,
};
use vigie::bus::contract::{BusFuture, ResultSink};
use vigie::clock::{Clock, FakeClock};
use vigie::domain::{
    CheckResult, CustomerId, EgressPrincipal, Failure, FailureKind, LocationId, MonitorId, MonitorType,
    Observation, Phase, Revision, Timestamp,
};
use vigie::net::{Net, NetConfig};
use vigie::probe::{AttemptFuture, ConcurrencyClass, Probe, ProbeContext};
use vigie::schedule::LocationRotation;
use vigie::telemetry::Metrics;

pub const NOON: Timestamp = Timestamp::from_seconds(1_795_176_000);
pub const MINUTE: Duration = Duration::from_mins(1);

/// The behaviour of one attempt.
#[derive(Clone, Copy, Debug)]
pub enum AttemptStep {
    Pass,
    Fail(FailureKind),
    Panic,
    /// Never ends and ignores its deadline.
    Hang,
    /// Passes after a second and reports the given total, as a probe does that leaves out work such as the objects of a
    /// page. Zero reports none.
    PassWithTotal(Duration),
    /// Passes once the test adds a permit to the gate of the probe.
    Wait,
}

/// A probe that executes its steps in turn and repeats the last one.
pub struct ScriptedProbe {
    steps: Vec<AttemptStep>,
    attempts: AtomicUsize,
    pub gate: Semaphore,
    pub running: watch::Sender<usize>,
}

impl ScriptedProbe {
    pub fn new(steps: &[AttemptStep]) -> Arc<Self> {
        Arc::new(Self {
            steps: steps.to_vec(),
            attempts: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            running: watch::Sender::new(0),
        })
    }

    pub fn attempts(&self) -> usize {
        self.attempts.load(Ordering::SeqCst)
    }

    /// Waits until exactly `count` attempts are in progress.
    pub async fn wait_for_running(&self, count: usize) {
        let mut running = self.running.subscribe();
        within(async { running.wait_for(|&running| running == count).await.map(drop).unwrap() }).await;
    }
}

impl Probe for ScriptedProbe {
    fn attempt<'a>(&'a self, _: ProbeContext<'a>) -> AttemptFuture<'a> {
        let number = self.attempts.fetch_add(1, Ordering::SeqCst);
        let step = self.steps[number.min(self.steps.len() - 1)];
        Box::pin(async move {
            match step {
                AttemptStep::Pass => Observation::default(),
                AttemptStep::Fail(kind) => {
                    Observation::from_failure(Failure::new(Phase::Connect, kind, "scripted"))
                }
                AttemptStep::Panic => panic!("scripted panic"),
                AttemptStep::Hang => std::future::pending().await,
                AttemptStep::PassWithTotal(total) => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Observation { duration: total, ..Observation::default() }
                }
                AttemptStep::Wait => {
                    let _going = RunningGuard::new(&self.running);
                    self.gate.acquire().await.unwrap().forget();
                    Observation::default()
                }
            }
        })
    }

    fn target_host(&self) -> Option<&str> {
        None
    }
}

struct RunningGuard<'a>(&'a watch::Sender<usize>);

impl<'a> RunningGuard<'a> {
    fn new(running: &'a watch::Sender<usize>) -> Self {
        running.send_modify(|running| *running += 1);
        Self(running)
    }
}

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

/// Returns an assignment that runs every minute on the full minute.
pub fn assignment(id: i64, probe: Arc<dyn Probe>) -> Assignment {
    Assignment {
        monitor_id: MonitorId(id),
        customer_id: CustomerId(1),
        egress_principal: EgressPrincipal::Operator,
        revision: Revision(1),
        monitor_name: format!("monitor {id}").into(),
        billing_plancode: "basic".into(),
        monitor_type: MonitorType::Tcp,
        interval: MINUTE,
        schedule_offset: Some(Duration::ZERO),
        location_rotation: LocationRotation::default(),
        attempt_timeout: Duration::from_secs(5),
        retries_failure: false,
        location_id: LocationId(1),
        probe,
        concurrency_class: ConcurrencyClass::Light,
        allows_unscheduled_checks: true,
        last_planned_at: None,
        last_full_page_at: None,
    }
}

pub fn put(assignment: Assignment) -> AssignmentChange {
    AssignmentChange::Upsert(Arc::new(assignment))
}

pub fn context(clock: Arc<dyn Clock>) -> ExecutionContext {
    ExecutionContext::new(Arc::new(Net::new(&NetConfig::default()).unwrap()), clock)
}

/// Stores the results; blocks while it is held.
pub struct Sink {
    pub results: watch::Sender<Vec<CheckResult>>,
    held: watch::Sender<bool>,
    panics: Mutex<usize>,
}

impl Sink {
    pub fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    /// Makes the next `count` deliveries panic.
    pub fn panic(&self, count: usize) {
        *self.panics.lock().unwrap() = count;
    }

    /// Waits until there are at least `count` results and returns all of them.
    pub async fn wait_for(&self, count: usize) -> Vec<CheckResult> {
        self.wait_until(|results| results.len() >= count).await
    }

    pub async fn wait_until(&self, enough: impl Fn(&[CheckResult]) -> bool) -> Vec<CheckResult> {
        let mut results = self.results.subscribe();
        within(async { results.wait_for(|results| enough(results)).await.unwrap().clone() }).await
    }
}

impl ResultSink for Sink {
    fn deliver(&self, result: CheckResult) -> BusFuture<'_, ()> {
        let mut held = self.held.subscribe();
        Box::pin(async move {
            held.wait_for(|held| !held).await.unwrap();
            let panics = {
                let mut panics = self.panics.lock().unwrap();
                let now = *panics > 0;
                *panics = panics.saturating_sub(1);
                now
            };
            assert!(!panics, "scripted panic of the sink");
            self.results.send_modify(|results| results.push(result));
        })
    }
}

/// A runner on a clock that the test advances.
pub struct TestRunner {
    pub clock: Arc<FakeClock>,
    pub sink: Arc<Sink>,
    pub runner: RunnerHandle,
}

impl TestRunner {
    /// Starts a runner at noon.
    pub fn new(limits: AdmissionLimits) -> Self {
        let clock = Arc::new(FakeClock::new(NOON));
        let sink = sink();
        let as_sink: Arc<dyn ResultSink> = sink.clone();
        let runner = start_runner(limits, context(clock.clone()), as_sink, Arc::new(Metrics::default()));
        Self { clock, sink, runner }
    }

    /// Advances the clock in steps of half a second, as a running process sees it.
    pub async fn advance(&self, time: Duration) {
        let step = Duration::from_millis(500);
        let mut left = time;
        while !left.is_zero() {
            self.clock.advance(step.min(left));
            left = left.saturating_sub(step);
            self.settle().await;
        }
    }

    /// Waits until the runner has seen the time and started what is due: it replies only after that.
    pub async fn settle(&self) {
        within(self.runner.current_stats()).await.unwrap();
    }
}

pub fn sink() -> Arc<Sink> {
    Arc::new(Sink {
        results: watch::Sender::default(),
        held: watch::Sender::new(false),
        panics: Mutex::new(0),
    })
}

/// Fails a test that would otherwise wait forever.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(MINUTE, future).await.expect("nothing came within a minute")
}
