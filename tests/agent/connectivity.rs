//! What a location knows of itself and of monitors that rest.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use vigie::agent::{
    AdmissionLimits, Assignment, BlackoutLookup, Connectivity, ExecutionContext, run_check, start_runner,
};
use vigie::clock::SystemClock;
use vigie::domain::{
    CheckResult, Failure, FailureKind, Fault, MissedReason, Observation, Outcome, Phase, Status, Timestamp,
};
use vigie::net::{EgressPolicy, Endpoint, Net, NetConfig};
use vigie::probe::{AttemptFuture, Probe, ProbeContext};
use vigie::telemetry::Metrics;

use crate::engine::kit::{self, MINUTE, NOON, Scripted, Step, assignment, put, within};

/// A failing check of the target at an address.
struct Failing(SocketAddr, &'static str);

impl Probe for Failing {
    fn attempt<'a>(&'a self, _: ProbeContext<'a>) -> AttemptFuture<'a> {
        let failure = Failure::new(Phase::Connect, FailureKind::ConnectRefused, "scripted");
        let observation = Observation { address: Some(self.0), ..Observation::from_failure(failure) };
        Box::pin(std::future::ready(observation))
    }

    fn target(&self) -> Option<&str> {
        Some(self.1)
    }
}

/// Something to reach, which counts who comes.
async fn reachable() -> (Endpoint, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::<AtomicUsize>::default());
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (Endpoint::new("127.0.0.1", port), count)
}

/// A port at which nothing listens.
fn refusing() -> Endpoint {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    Endpoint::new("127.0.0.1", listener.local_addr().unwrap().port())
}

fn place(targets: Vec<Endpoint>) -> ExecutionContext {
    let net = Arc::new(Net::new(&NetConfig::default()).unwrap());
    let clock = Arc::new(SystemClock);
    let connectivity = Connectivity::new(targets, Arc::clone(&net), clock.clone()).map(Arc::new);
    ExecutionContext { connectivity, ..ExecutionContext::new(net, clock) }
}

async fn checked(probe: Arc<dyn Probe>, cx: &ExecutionContext) -> CheckResult {
    within(run_check(&assignment(1, probe), NOON, cx, &CancellationToken::new())).await
}

fn far() -> Arc<Failing> {
    Arc::new(Failing("192.0.2.1:80".parse().unwrap(), "far.test"))
}

#[tokio::test]
async fn a_failure_of_a_location_that_reaches_nothing_is_unknown() {
    let cx = place(vec![refusing(), refusing()]);
    let cut_off = || cx.connectivity.as_ref().unwrap().is_isolated();
    assert!(!cut_off(), "nobody asked yet");
    let result = checked(far(), &cx).await;
    assert_eq!((result.outcome, result.status), (Outcome::Unknown, Status::INTERNAL));
    assert!(cut_off());
    assert!(result.reasons[0].contains("the location itself reached nothing"), "{:?}", result.reasons);
    let failure = result.attempts[0].failure.as_ref().unwrap();
    assert_eq!((failure.kind, failure.fault), (FailureKind::ConnectRefused, Fault::Ours));
}

#[tokio::test]
async fn a_failure_stays_an_error_while_one_target_answers_or_none_is_named() {
    let (alive, _) = reachable().await;
    for targets in [vec![refusing(), alive], Vec::new()] {
        let cx = place(targets);
        let result = checked(far(), &cx).await;
        assert_eq!((result.outcome, result.status), (Outcome::Error, Status::CONNECT_FAILED));
        assert!(cx.connectivity.is_none_or(|connectivity| !connectivity.is_isolated()));
    }
}

#[tokio::test]
async fn a_target_that_the_egress_policy_denies_excuses_nothing() {
    let egress = EgressPolicy::parse(&[], &["127.0.0.0/8".to_owned()]).unwrap();
    let net = Arc::new(Net::new(&NetConfig { egress, ..NetConfig::default() }).unwrap());
    let clock = Arc::new(SystemClock);
    let connectivity = Connectivity::new(vec![refusing()], Arc::clone(&net), clock.clone()).map(Arc::new);
    let result =
        checked(far(), &ExecutionContext { connectivity, ..ExecutionContext::new(net, clock) }).await;
    assert_eq!(result.outcome, Outcome::Error);
}

#[tokio::test]
async fn successes_and_loopback_targets_are_left_alone() {
    let (alive, asked) = reachable().await;
    for targets in [vec![alive], vec![refusing()]] {
        let cx = place(targets);
        let passes = checked(Scripted::new(&[Step::Pass]), &cx).await;
        assert_eq!(passes.outcome, Outcome::Ok);
        let again = Scripted::new(&[Step::Fail(FailureKind::TimedOut), Step::Pass]);
        let mut retried = assignment(1, again);
        retried.retry = true;
        let retried = run_check(&retried, NOON, &cx, &CancellationToken::new()).await;
        assert_eq!(retried.outcome, Outcome::Warning);
        for (address, name) in [("127.0.0.1:1", "shop.test"), ("[::1]:1", "x"), ("[::ffff:127.0.0.1]:1", "x")]
        {
            let near = Arc::new(Failing(address.parse().unwrap(), name));
            assert_eq!(checked(near, &cx).await.outcome, Outcome::Error, "{address}");
        }
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nobody was asked");
}

#[tokio::test]
async fn many_failures_at_once_ask_the_targets_a_few_times() {
    let (alive, asked) = reachable().await;
    let cx = place(vec![alive]);
    let checks = (0..500).map(|_| checked(far(), &cx));
    let results = futures::future::join_all(checks).await;
    assert!(results.iter().all(|result| result.outcome == Outcome::Error));
    let asked = asked.load(Ordering::SeqCst);
    assert!((1..=20).contains(&asked), "{asked} questions for 500 failures");
}

/// Rests from one time to another, and remembers who asked.
struct Rest(Timestamp, Timestamp, Mutex<usize>);

impl BlackoutLookup for Rest {
    fn blackout_at(&self, _: &Assignment, at: Timestamp) -> Option<String> {
        *self.2.lock().unwrap() += 1;
        (self.0 <= at && at < self.1).then(|| "blackout 7 of the monitor".to_owned())
    }
}

#[tokio::test]
async fn runs_in_a_blackout_are_recorded_and_not_made_and_those_beside_it_are() {
    let (clock, sink) = (Arc::new(vigie::clock::FakeClock::new(NOON)), kit::sink());
    let rest = Arc::new(Rest(NOON + MINUTE * 2, NOON + MINUTE * 4, Mutex::default()));
    let cx = ExecutionContext { blackouts: Some(rest.clone()), ..kit::place(clock.clone()) };
    let runner = start_runner(AdmissionLimits::default(), cx, sink.clone(), Arc::new(Metrics::default()));
    let bench = kit::Bench { clock, sink, runner };
    let probe = Scripted::new(&[Step::Pass]);
    bench.runner.apply(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    for minute in 1..=5 {
        bench.pass(MINUTE).await;
        bench.sink.until(minute).await;
    }
    let results = bench.sink.until(5).await;
    let outcomes: Vec<_> = results.iter().map(|result| result.outcome).collect();
    let (ok, dark) = (Outcome::Ok, Outcome::Blackout);
    assert_eq!(outcomes, [ok, dark, dark, ok, ok]);
    assert_eq!((results[1].status, results[1].attempts.len(), probe.attempts()), (Status::OK, 0, 3));
    assert!(results.iter().all(|result| result.missed.is_none()));
    bench.runner.shutdown(Duration::ZERO).await;
    let asked = *rest.2.lock().unwrap();
    assert!(asked >= 5, "{asked}");
}

#[tokio::test]
async fn a_check_that_starts_late_into_a_blackout_is_not_made() {
    let (clock, sink) = (Arc::new(vigie::clock::FakeClock::new(NOON)), kit::sink());
    // The run is planned a second before it.
    let rest = Arc::new(Rest(NOON + MINUTE + Duration::from_secs(1), NOON + MINUTE * 2, Mutex::default()));
    let cx = ExecutionContext { blackouts: Some(rest), ..kit::place(clock.clone()) };
    let runner = start_runner(
        AdmissionLimits { total: 1, ..AdmissionLimits::default() },
        cx,
        sink.clone(),
        Arc::default(),
    );
    let bench = kit::Bench { clock, sink, runner };
    let (slow, quick) = (Scripted::new(&[Step::Wait]), Scripted::new(&[Step::Pass]));
    let once = Arc::new(assignment(2, slow.clone()));
    let runner = bench.runner.clone();
    let order = tokio::spawn(async move { runner.run_once(once).await });
    slow.until_going(1).await;
    bench.runner.apply(vec![put(assignment(1, quick.clone()))]).await.unwrap();
    bench.pass(MINUTE + Duration::from_secs(5)).await;
    slow.gate.add_permits(1);
    assert_eq!(within(order).await.unwrap().unwrap().outcome, Outcome::Ok, "an order asks no blackout");
    let results = bench.sink.until(1).await;
    assert_eq!((results[0].outcome, quick.attempts()), (Outcome::Blackout, 0));
    assert_eq!(results[0].planned_at, NOON + MINUTE);
    assert!(results[0].missed.is_none_or(|missed| missed.reason == MissedReason::Overload));
}
