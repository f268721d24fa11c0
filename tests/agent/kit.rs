//! Scripted probes, a sink that can be held, and a runner on a clock that stands still.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use vigie::agent::{
    AdmissionLimits, Assignment, AssignmentChange, ExecutionContext, ResultSink, RunnerHandle, start_runner,
};
use vigie::clock::{Clock, FakeClock};
use vigie::domain::{
    CheckResult, CustomerId, Failure, FailureKind, LocationId, MonitorId, MonitorType, Observation, Phase,
    Revision, Timestamp,
};
use vigie::net::{Net, NetConfig};
use vigie::probe::{AttemptFuture, Probe, ProbeContext, Weight};
use vigie::schedule::LocationRotation;
use vigie::telemetry::Metrics;

pub const NOON: Timestamp = Timestamp::from_seconds(1_795_176_000);
pub const MINUTE: Duration = Duration::from_mins(1);

/// What one attempt does.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Pass,
    Fail(FailureKind),
    Panic,
    /// Never ends, and does not look at its deadline.
    Hang,
    /// Passes after a second, and says that it took so long without what it did beside, such as the objects of a
    /// page.
    Aside(Duration),
    /// Passes once the test opens the gate of the probe.
    Wait,
}

/// Does its steps in turn, the last one again and again.
pub struct Scripted {
    steps: Vec<Step>,
    attempts: AtomicUsize,
    pub gate: Semaphore,
    pub going: watch::Sender<usize>,
}

impl Scripted {
    pub fn new(steps: &[Step]) -> Arc<Self> {
        Arc::new(Self {
            steps: steps.to_vec(),
            attempts: AtomicUsize::new(0),
            gate: Semaphore::new(0),
            going: watch::Sender::new(0),
        })
    }

    pub fn attempts(&self) -> usize {
        self.attempts.load(Ordering::SeqCst)
    }

    /// Waits until `number` attempts are going.
    pub async fn until_going(&self, number: usize) {
        let mut going = self.going.subscribe();
        within(async { going.wait_for(|&going| going == number).await.map(drop).unwrap() }).await;
    }
}

impl Probe for Scripted {
    fn attempt<'a>(&'a self, _: ProbeContext<'a>) -> AttemptFuture<'a> {
        let number = self.attempts.fetch_add(1, Ordering::SeqCst);
        let step = self.steps[number.min(self.steps.len() - 1)];
        Box::pin(async move {
            match step {
                Step::Pass => Observation::default(),
                Step::Fail(kind) => Observation::from_failure(Failure::new(Phase::Connect, kind, "scripted")),
                Step::Panic => panic!("scripted panic"),
                Step::Hang => std::future::pending().await,
                Step::Aside(total) => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Observation { total, ..Observation::default() }
                }
                Step::Wait => {
                    let _going = Going::new(&self.going);
                    self.gate.acquire().await.unwrap().forget();
                    Observation::default()
                }
            }
        })
    }

    fn target(&self) -> Option<&str> {
        None
    }
}

struct Going<'a>(&'a watch::Sender<usize>);

impl<'a> Going<'a> {
    fn new(going: &'a watch::Sender<usize>) -> Self {
        going.send_modify(|going| *going += 1);
        Self(going)
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|going| *going -= 1);
    }
}

/// A minute's monitor on the full minute.
pub fn assignment(id: i64, probe: Arc<dyn Probe>) -> Assignment {
    Assignment {
        monitor_id: MonitorId(id),
        customer: CustomerId(1),
        revision: Revision(1),
        name: format!("monitor {id}").into(),
        kind: MonitorType::Tcp,
        interval: MINUTE,
        offset: Some(Duration::ZERO),
        share: LocationRotation::default(),
        timeout: Duration::from_secs(5),
        retry: false,
        location: LocationId(1),
        probe,
        weight: Weight::Light,
        last_planned_at: None,
        full_page_at: None,
    }
}

pub fn put(assignment: Assignment) -> AssignmentChange {
    AssignmentChange::Put(Arc::new(assignment))
}

pub fn place(clock: Arc<dyn Clock>) -> ExecutionContext {
    ExecutionContext::new(Arc::new(Net::new(&NetConfig::default()).unwrap()), clock)
}

/// Keeps what it is given; takes nothing while it is held.
pub struct Sink {
    pub results: watch::Sender<Vec<CheckResult>>,
    held: watch::Sender<bool>,
    panics: Mutex<usize>,
}

impl Sink {
    pub fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    /// Lets the next `number` deliveries panic.
    pub fn panic(&self, number: usize) {
        *self.panics.lock().unwrap() = number;
    }

    /// Waits until `number` results are there and answers all of them.
    pub async fn until(&self, number: usize) -> Vec<CheckResult> {
        self.until_that(|results| results.len() >= number).await
    }

    pub async fn until_that(&self, enough: impl Fn(&[CheckResult]) -> bool) -> Vec<CheckResult> {
        let mut results = self.results.subscribe();
        within(async { results.wait_for(|results| enough(results)).await.unwrap().clone() }).await
    }
}

impl ResultSink for Sink {
    fn deliver(&self, result: CheckResult) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
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

/// A runner on a clock that the test moves.
pub struct Bench {
    pub clock: Arc<FakeClock>,
    pub sink: Arc<Sink>,
    pub runner: RunnerHandle,
}

impl Bench {
    /// Starts at noon.
    pub fn new(limits: AdmissionLimits) -> Self {
        let clock = Arc::new(FakeClock::new(NOON));
        let sink = sink();
        let as_sink: Arc<dyn ResultSink> = sink.clone();
        let runner = start_runner(limits, place(clock.clone()), as_sink, Arc::new(Metrics::default()));
        Self { clock, sink, runner }
    }

    /// Lets time pass in steps of half a second, as a running process sees it.
    pub async fn pass(&self, time: Duration) {
        let step = Duration::from_millis(500);
        let mut left = time;
        while !left.is_zero() {
            self.clock.advance(step.min(left));
            left = left.saturating_sub(step);
            self.settle().await;
        }
    }

    /// Waits until the runner has seen the time and started what is due: an answer comes after that.
    pub async fn settle(&self) {
        within(self.runner.stats()).await.unwrap();
    }
}

pub fn sink() -> Arc<Sink> {
    Arc::new(Sink {
        results: watch::Sender::default(),
        held: watch::Sender::new(false),
        panics: Mutex::new(0),
    })
}

/// Fails a test that would wait forever.
pub async fn within<T>(waits: impl Future<Output = T>) -> T {
    tokio::time::timeout(MINUTE, waits).await.expect("nothing came within a minute")
}
