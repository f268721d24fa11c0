//! First checks in the runner.

use std::sync::Arc;
use std::time::Duration;

use vigie::agent::{AdmissionLimits, Assignment, BlackoutLookup, ExecutionContext, start_runner};
use vigie::clock::FakeClock;
use vigie::domain::{CheckTrigger, FailureKind, MonitorId, Outcome, Timestamp};
use vigie::telemetry::Metrics;

use crate::agent::kit::{
    self, AttemptStep, MINUTE, NOON, ScriptedProbe, TestRunner, assignment, put, within,
};

/// A blackout of the first monitor that never ends.
struct FirstIsDark;

impl BlackoutLookup for FirstIsDark {
    fn blackout_at(&self, assignment: &Assignment, _: Timestamp) -> Option<String> {
        (assignment.monitor_id == MonitorId(1)).then(|| "blackout 7 of the monitor".to_owned())
    }
}

#[tokio::test]
async fn the_result_of_a_first_check_goes_to_the_sink_with_its_time() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let probe = ScriptedProbe::new(&[AttemptStep::Fail(FailureKind::ConnectRefused)]);
    bench.runner.apply_changes(vec![put(assignment(1, probe))]).await.unwrap();
    let change = NOON + Duration::from_secs(3);
    bench.advance(Duration::from_secs(5)).await;
    assert_eq!(within(bench.runner.request_first_check(MonitorId(1), change)).await, Ok(true));
    let first = bench.sink.wait_for(1).await.remove(0);
    assert_eq!(
        (first.trigger, first.outcome, first.planned_at),
        (CheckTrigger::First, Outcome::Error, change)
    );
    assert_eq!(first.started_at, NOON + Duration::from_secs(5));
    bench.advance(MINUTE).await;
    let planned = bench.sink.wait_for(2).await.remove(1);
    assert_eq!((planned.trigger, planned.planned_at), (CheckTrigger::Schedule, NOON + MINUTE));
    assert_eq!(within(bench.runner.request_first_check(MonitorId(2), change)).await, Ok(false));
}

#[tokio::test]
async fn there_is_none_in_a_blackout() {
    let (clock, sink) = (Arc::new(FakeClock::new(NOON)), kit::sink());
    let cx = ExecutionContext { blackout_lookup: Some(Arc::new(FirstIsDark)), ..kit::context(clock.clone()) };
    let runner = start_runner(AdmissionLimits::default(), cx, sink.clone(), Arc::new(Metrics::default()));
    let bench = TestRunner { clock, sink, runner };
    let (dark, lit) = (ScriptedProbe::new(&[AttemptStep::Pass]), ScriptedProbe::new(&[AttemptStep::Pass]));
    bench
        .runner
        .apply_changes(vec![put(assignment(1, dark.clone())), put(assignment(2, lit))])
        .await
        .unwrap();
    for id in [1, 2] {
        assert_eq!(within(bench.runner.request_first_check(MonitorId(id), NOON)).await, Ok(true));
    }
    bench.sink.wait_for(1).await;
    while within(bench.runner.current_stats()).await.unwrap().running_checks > 0 {
        tokio::task::yield_now().await;
    }
    let monitors: Vec<_> = bench.sink.results.borrow().iter().map(|result| result.monitor_id).collect();
    assert_eq!((monitors, dark.attempts()), (vec![MonitorId(2)], 0));
}
