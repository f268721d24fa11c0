use vigie::agent::AdmissionLimits;
use vigie::domain::{MissedReason, MonitorId};

use crate::agent::kit::{AttemptStep, MINUTE, ScriptedProbe, TestRunner, assignment, put, within};

#[tokio::test]
async fn a_blocked_sink_keeps_permits_and_every_slot_is_counted() {
    let bench = TestRunner::new(AdmissionLimits { max_running: 2, ..AdmissionLimits::default() });
    bench.sink.hold(true);
    let monitors = 5_i64;
    let changes =
        (1..=monitors).map(|id| put(assignment(id, ScriptedProbe::new(&[AttemptStep::Pass])))).collect();
    bench.runner.apply_changes(changes).await.unwrap();
    let minutes = 60_u32;
    for _ in 0..minutes {
        bench.advance(MINUTE).await;
    }
    let snapshot = bench.runner.current_stats().await.unwrap();
    assert_eq!(snapshot.running_checks, 2, "a check whose result is not taken keeps its place");
    bench.sink.hold(false);
    // Every slot is run or counted as missed.
    let slots =
        |r: &[vigie::domain::CheckResult]| r.iter().map(vigie::domain::CheckResult::run_count).sum::<u32>();
    let expected = minutes * u32::try_from(monitors).unwrap();
    let results = bench.sink.wait_until(|r| slots(r) >= expected).await;
    assert_eq!(slots(&results), expected);
    assert!(results.len() < 60, "missed runs that wait are merged: {}", results.len());
    let reasons: Vec<_> = results.iter().filter_map(|r| r.missed).map(|missed| missed.reason).collect();
    assert!(reasons.contains(&MissedReason::StillRunning) && reasons.contains(&MissedReason::Overload));
}

#[tokio::test]
async fn a_panicking_sink_loses_its_result_but_no_permit() {
    let bench = TestRunner::new(AdmissionLimits { max_running: 1, ..AdmissionLimits::default() });
    bench
        .runner
        .apply_changes(vec![put(assignment(1, ScriptedProbe::new(&[AttemptStep::Pass])))])
        .await
        .unwrap();
    bench.sink.panic(1);
    bench.advance(MINUTE).await;
    within(async {
        while bench.runner.current_stats().await.unwrap().running_checks > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    bench.advance(MINUTE).await;
    assert_eq!(bench.sink.wait_for(1).await[0].monitor_id, MonitorId(1));
}
