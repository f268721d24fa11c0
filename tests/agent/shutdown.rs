use std::time::Duration;

use vigie::agent::{AdmissionLimits, OnDemandRunError, RunnerStopped};
use vigie::domain::{FailureKind, MonitorId, Outcome};

use crate::agent::kit::{AttemptStep, MINUTE, ScriptedProbe, TestRunner, assignment, put, within};

#[tokio::test]
async fn shutdown_waits_for_running_checks_and_delivers_results() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let probe = ScriptedProbe::new(&[AttemptStep::Wait]);
    bench.runner.apply_changes((1..=3).map(|id| put(assignment(id, probe.clone()))).collect()).await.unwrap();
    bench.advance(MINUTE).await;
    probe.wait_for_running(3).await;
    let runner = bench.runner.clone();
    let stopping = tokio::spawn(async move { runner.shutdown(Duration::from_secs(30)).await });
    bench.sink.hold(true);
    probe.gate.add_permits(3);
    probe.wait_for_running(0).await;
    assert!(!stopping.is_finished(), "results that nobody took are not handed over");
    bench.sink.hold(false);
    within(stopping).await.unwrap();
    let results = bench.sink.wait_for(3).await;
    assert!(results.len() == 3 && results.iter().all(|r| r.outcome == Outcome::Ok));
    assert_eq!(bench.runner.current_stats().await, Err(RunnerStopped));
    assert_eq!(bench.runner.run_now(MonitorId(1)).await.unwrap_err(), OnDemandRunError::Stopped);
}

#[tokio::test]
async fn checks_beyond_the_drain_limit_are_cancelled_and_unknown() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let probe = ScriptedProbe::new(&[AttemptStep::Wait]);
    bench.runner.apply_changes((1..=3).map(|id| put(assignment(id, probe.clone()))).collect()).await.unwrap();
    bench.advance(MINUTE).await;
    probe.wait_for_running(3).await;
    within(bench.runner.shutdown(Duration::from_millis(50))).await;
    let results = bench.sink.wait_for(3).await;
    assert!(results.iter().all(|r| r.outcome == Outcome::Unknown));
    assert!(results.iter().all(|r| r.attempts[0].failure.as_ref().unwrap().kind == FailureKind::Cancelled));
}

#[tokio::test]
async fn queued_missed_runs_are_delivered_before_the_end() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let probe = ScriptedProbe::new(&[AttemptStep::Pass]);
    bench
        .runner
        .apply_changes((1..=300).map(|id| put(assignment(id, probe.clone()))).collect())
        .await
        .unwrap();
    bench.sink.hold(true);
    bench.clock.advance(MINUTE * 5 + Duration::from_secs(30));
    bench.settle().await;
    let runner = bench.runner.clone();
    let stopping = tokio::spawn(async move { runner.shutdown(Duration::ZERO).await });
    bench.sink.hold(false);
    within(stopping).await.unwrap();
    let results = bench.sink.wait_for(300).await;
    assert!(results.iter().all(|r| r.outcome == Outcome::Missed && r.run_count() == 4), "{:?}", results[0]);
}

#[tokio::test]
async fn dropping_the_handles_cancels_checks_and_delivers_results() {
    let TestRunner { clock, sink, runner } = TestRunner::new(AdmissionLimits::default());
    let probe = ScriptedProbe::new(&[AttemptStep::Wait]);
    runner.apply_changes(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    clock.advance(MINUTE);
    clock.advance(Duration::from_millis(1));
    probe.wait_for_running(1).await;
    drop(runner);
    assert_eq!(sink.wait_for(1).await[0].outcome, Outcome::Unknown);
}
