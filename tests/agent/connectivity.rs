//! Own connectivity of a location, and blackouts of monitors.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use vigie::agent::{
    AdmissionLimits, Assignment, BlackoutLookup, ConnectivityDetector, ExecutionContext, run_check,
    start_runner,
};
use vigie::clock::SystemClock;
use vigie::domain::{
    CheckResult, Failure, FailureKind, Fault, MissedReason, Observation, Outcome, Phase, Status, Timestamp,
};
use vigie::net::{EgressPolicy, Endpoint, Net, NetConfig};
use vigie::probe::{AttemptFuture, Probe, ProbeContext};
use vigie::telemetry::Metrics;

use crate::agent::kit::{self, AttemptStep, MINUTE, NOON, ScriptedProbe, assignment, put, within};

/// A probe whose checks of the target at an address fail.
struct FailingProbe(SocketAddr, &'static str);

impl Probe for FailingProbe {
    fn attempt<'a>(&'a self, _: ProbeContext<'a>) -> AttemptFuture<'a> {
        let failure = Failure::new(Phase::Connect, FailureKind::ConnectRefused, "scripted");
        let observation = Observation { address: Some(self.0), ..Observation::from_failure(failure) };
        Box::pin(std::future::ready(observation))
    }

    fn target_host(&self) -> Option<&str> {
        Some(self.1)
    }
}

/// Starts a listener; returns its endpoint and the number of connections so far.
async fn listening_endpoint() -> (Endpoint, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::<AtomicUsize>::default());
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (Endpoint::new("127.0.0.1", port), count)
}

/// Returns an endpoint at which nothing listens.
fn closed_endpoint() -> Endpoint {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    Endpoint::new("127.0.0.1", listener.local_addr().unwrap().port())
}

fn context(targets: Vec<Endpoint>) -> ExecutionContext {
    let net = Arc::new(Net::new(&NetConfig::default()).unwrap());
    let clock = Arc::new(SystemClock);
    let connectivity = ConnectivityDetector::new(targets, Arc::clone(&net), clock.clone()).map(Arc::new);
    ExecutionContext { connectivity_detector: connectivity, ..ExecutionContext::new(net, clock) }
}

async fn run(probe: Arc<dyn Probe>, cx: &ExecutionContext) -> CheckResult {
    within(run_check(&assignment(1, probe), NOON, cx, &CancellationToken::new())).await
}

fn remote_probe() -> Arc<FailingProbe> {
    Arc::new(FailingProbe("192.0.2.1:80".parse().unwrap(), "far.test"))
}

#[tokio::test]
async fn a_failure_at_an_isolated_location_is_unknown() {
    let cx = context(vec![closed_endpoint(), closed_endpoint()]);
    let is_isolated = || cx.connectivity_detector.as_ref().unwrap().is_isolated();
    assert!(!is_isolated(), "nobody asked yet");
    let result = run(remote_probe(), &cx).await;
    assert_eq!((result.outcome, result.status), (Outcome::Unknown, Status::INTERNAL));
    assert!(is_isolated());
    assert!(result.reasons[0].contains("the location itself reached nothing"), "{:?}", result.reasons);
    let failure = result.attempts[0].failure.as_ref().unwrap();
    assert_eq!((failure.kind, failure.fault), (FailureKind::ConnectRefused, Fault::Vigie));
}

#[tokio::test]
async fn a_failure_is_an_error_if_a_connectivity_target_is_reached() {
    let (alive, _) = listening_endpoint().await;
    for targets in [vec![closed_endpoint(), alive], Vec::new()] {
        let cx = context(targets);
        let result = run(remote_probe(), &cx).await;
        assert_eq!((result.outcome, result.status), (Outcome::Error, Status::CONNECT_FAILED));
        assert!(cx.connectivity_detector.is_none_or(|connectivity| !connectivity.is_isolated()));
    }
}

#[tokio::test]
async fn a_target_denied_by_egress_does_not_count_as_isolation() {
    let egress = EgressPolicy::parse(&[], &["127.0.0.0/8".to_owned()]).unwrap();
    let net = Arc::new(Net::new(&NetConfig { egress_policy: egress, ..NetConfig::default() }).unwrap());
    let clock = Arc::new(SystemClock);
    let connectivity =
        ConnectivityDetector::new(vec![closed_endpoint()], Arc::clone(&net), clock.clone()).map(Arc::new);
    let result = run(
        remote_probe(),
        &ExecutionContext { connectivity_detector: connectivity, ..ExecutionContext::new(net, clock) },
    )
    .await;
    assert_eq!(result.outcome, Outcome::Error);
}

#[tokio::test]
async fn successes_and_loopback_targets_need_no_connectivity_check() {
    let (alive, connections) = listening_endpoint().await;
    for targets in [vec![alive], vec![closed_endpoint()]] {
        let cx = context(targets);
        let passes = run(ScriptedProbe::new(&[AttemptStep::Pass]), &cx).await;
        assert_eq!(passes.outcome, Outcome::Ok);
        let flaky = ScriptedProbe::new(&[AttemptStep::Fail(FailureKind::TimedOut), AttemptStep::Pass]);
        let mut retried = assignment(1, flaky);
        retried.retries_failure = true;
        let retried = run_check(&retried, NOON, &cx, &CancellationToken::new()).await;
        assert_eq!(retried.outcome, Outcome::Warning);
        for (address, name) in [("127.0.0.1:1", "shop.test"), ("[::1]:1", "x"), ("[::ffff:127.0.0.1]:1", "x")]
        {
            let local = Arc::new(FailingProbe(address.parse().unwrap(), name));
            assert_eq!(run(local, &cx).await.outcome, Outcome::Error, "{address}");
        }
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0, "nobody was asked");
}

#[tokio::test]
async fn many_failures_share_a_few_connectivity_checks() {
    let (alive, connections) = listening_endpoint().await;
    let cx = context(vec![alive]);
    let checks = (0..500).map(|_| run(remote_probe(), &cx));
    let results = futures::future::join_all(checks).await;
    assert!(results.iter().all(|result| result.outcome == Outcome::Error));
    let connections = connections.load(Ordering::SeqCst);
    assert!((1..=20).contains(&connections), "{connections} questions for 500 failures");
}

/// A blackout from one time to another; counts the lookups.
struct BlackoutWindow(Timestamp, Timestamp, Mutex<usize>);

impl BlackoutLookup for BlackoutWindow {
    fn blackout_at(&self, _: &Assignment, at: Timestamp) -> Option<String> {
        *self.2.lock().unwrap() += 1;
        (self.0 <= at && at < self.1).then(|| "blackout 7 of the monitor".to_owned())
    }
}

#[tokio::test]
async fn runs_in_a_blackout_are_recorded_but_not_checked() {
    let (clock, sink) = (Arc::new(vigie::clock::FakeClock::new(NOON)), kit::sink());
    let blackout = Arc::new(BlackoutWindow(NOON + MINUTE * 2, NOON + MINUTE * 4, Mutex::default()));
    let cx = ExecutionContext { blackout_lookup: Some(blackout.clone()), ..kit::context(clock.clone()) };
    let runner = start_runner(AdmissionLimits::default(), cx, sink.clone(), Arc::new(Metrics::default()));
    let bench = kit::TestRunner { clock, sink, runner };
    let probe = ScriptedProbe::new(&[AttemptStep::Pass]);
    bench.runner.apply_changes(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    for minute in 1..=5 {
        bench.advance(MINUTE).await;
        bench.sink.wait_for(minute).await;
    }
    let results = bench.sink.wait_for(5).await;
    let outcomes: Vec<_> = results.iter().map(|result| result.outcome).collect();
    let (ok, in_blackout) = (Outcome::Ok, Outcome::Blackout);
    assert_eq!(outcomes, [ok, in_blackout, in_blackout, ok, ok]);
    assert_eq!((results[0].status_text.as_str(), results[1].status_text.as_str()), ("ok", "blackout"));
    assert_eq!((results[1].status, results[1].attempts.len(), probe.attempts()), (Status::OK, 0, 3));
    assert!(results.iter().all(|result| result.missed.is_none()));
    bench.runner.shutdown(Duration::ZERO).await;
    let lookups = *blackout.2.lock().unwrap();
    assert!(lookups >= 5, "{lookups}");
}

#[tokio::test]
async fn a_delayed_check_that_falls_into_a_blackout_is_not_made() {
    let (clock, sink) = (Arc::new(vigie::clock::FakeClock::new(NOON)), kit::sink());
    // The run is planned a second before the blackout.
    let blackout =
        Arc::new(BlackoutWindow(NOON + MINUTE + Duration::from_secs(1), NOON + MINUTE * 2, Mutex::default()));
    let cx = ExecutionContext { blackout_lookup: Some(blackout), ..kit::context(clock.clone()) };
    let runner = start_runner(
        AdmissionLimits { max_running: 1, ..AdmissionLimits::default() },
        cx,
        sink.clone(),
        Arc::default(),
    );
    let bench = kit::TestRunner { clock, sink, runner };
    let (slow, quick) = (ScriptedProbe::new(&[AttemptStep::Wait]), ScriptedProbe::new(&[AttemptStep::Pass]));
    let once = Arc::new(assignment(2, slow.clone()));
    let runner = bench.runner.clone();
    let order = tokio::spawn(async move { runner.run_assignment_now(once).await });
    slow.wait_for_running(1).await;
    bench.runner.apply_changes(vec![put(assignment(1, quick.clone()))]).await.unwrap();
    bench.advance(MINUTE + Duration::from_secs(5)).await;
    slow.gate.add_permits(1);
    assert_eq!(within(order).await.unwrap().unwrap().outcome, Outcome::Ok, "an order asks no blackout");
    let results = bench.sink.wait_for(1).await;
    assert_eq!((results[0].outcome, quick.attempts()), (Outcome::Blackout, 0));
    assert_eq!(results[0].planned_at, NOON + MINUTE);
    assert!(results[0].missed.is_none_or(|missed| missed.reason == MissedReason::Overload));
}
