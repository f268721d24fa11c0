use std::time::Duration;

use vigie::agent::{AdmissionLimits, RunOrderError, RunnerStopped};
use vigie::domain::{FailureKind, MonitorId, Outcome};

use crate::engine::kit::{Bench, MINUTE, Scripted, Step, assignment, put, within};

#[tokio::test]
async fn shutdown_lets_running_checks_end_and_hands_their_results_over() {
    let bench = Bench::new(AdmissionLimits::default());
    let probe = Scripted::new(&[Step::Wait]);
    bench.runner.apply((1..=3).map(|id| put(assignment(id, probe.clone()))).collect()).await.unwrap();
    bench.pass(MINUTE).await;
    probe.until_going(3).await;
    let runner = bench.runner.clone();
    let stopping = tokio::spawn(async move { runner.shutdown(Duration::from_secs(30)).await });
    bench.sink.hold(true);
    probe.gate.add_permits(3);
    probe.until_going(0).await;
    assert!(!stopping.is_finished(), "results that nobody took are not handed over");
    bench.sink.hold(false);
    within(stopping).await.unwrap();
    let results = bench.sink.until(3).await;
    assert!(results.len() == 3 && results.iter().all(|r| r.outcome == Outcome::Ok));
    assert_eq!(bench.runner.stats().await, Err(RunnerStopped));
    assert_eq!(bench.runner.run_now(MonitorId(1)).await.unwrap_err(), RunOrderError::Stopped);
}

#[tokio::test]
async fn what_does_not_end_within_the_limit_is_cancelled_and_delivered_as_unknown() {
    let bench = Bench::new(AdmissionLimits::default());
    let probe = Scripted::new(&[Step::Wait]);
    bench.runner.apply((1..=3).map(|id| put(assignment(id, probe.clone()))).collect()).await.unwrap();
    bench.pass(MINUTE).await;
    probe.until_going(3).await;
    within(bench.runner.shutdown(Duration::from_millis(50))).await;
    let results = bench.sink.until(3).await;
    assert!(results.iter().all(|r| r.outcome == Outcome::Unknown));
    assert!(results.iter().all(|r| r.attempts[0].failure.as_ref().unwrap().kind == FailureKind::Cancelled));
}

#[tokio::test]
async fn missed_runs_that_wait_for_the_sink_are_handed_over_before_the_end() {
    let bench = Bench::new(AdmissionLimits::default());
    let probe = Scripted::new(&[Step::Pass]);
    bench.runner.apply((1..=300).map(|id| put(assignment(id, probe.clone()))).collect()).await.unwrap();
    bench.sink.hold(true);
    bench.clock.advance(MINUTE * 5 + Duration::from_secs(30));
    bench.settle().await;
    let runner = bench.runner.clone();
    let stopping = tokio::spawn(async move { runner.shutdown(Duration::ZERO).await });
    bench.sink.hold(false);
    within(stopping).await.unwrap();
    let results = bench.sink.until(300).await;
    assert!(results.iter().all(|r| r.outcome == Outcome::Missed && r.slots() == 4), "{:?}", results[0]);
}

#[tokio::test]
async fn a_runner_whose_handles_are_gone_cancels_and_delivers() {
    let Bench { clock, sink, runner } = Bench::new(AdmissionLimits::default());
    let probe = Scripted::new(&[Step::Wait]);
    runner.apply(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    clock.advance(MINUTE);
    clock.advance(Duration::from_millis(1));
    probe.until_going(1).await;
    drop(runner);
    assert_eq!(sink.until(1).await[0].outcome, Outcome::Unknown);
}
