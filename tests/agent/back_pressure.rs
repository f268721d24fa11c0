use vigie::agent::AdmissionLimits;
use vigie::domain::{MissedReason, MonitorId};

use crate::engine::kit::{Bench, MINUTE, Scripted, Step, assignment, put, within};

#[tokio::test]
async fn while_the_sink_is_full_places_stay_taken_and_no_slot_is_lost_from_the_count() {
    let bench = Bench::new(AdmissionLimits { total: 2, ..AdmissionLimits::default() });
    bench.sink.hold(true);
    let monitors = 5_i64;
    let changes = (1..=monitors).map(|id| put(assignment(id, Scripted::new(&[Step::Pass])))).collect();
    bench.runner.apply(changes).await.unwrap();
    let minutes = 60_u32;
    for _ in 0..minutes {
        bench.pass(MINUTE).await;
    }
    let snapshot = bench.runner.stats().await.unwrap();
    assert_eq!(snapshot.in_flight, 2, "a check whose result is not taken keeps its place");
    bench.sink.hold(false);
    // All slots but those that are waiting run, or are counted as missed.
    let slots =
        |r: &[vigie::domain::CheckResult]| r.iter().map(vigie::domain::CheckResult::slots).sum::<u32>();
    let expected = minutes * u32::try_from(monitors).unwrap();
    let results = bench.sink.until_that(|r| slots(r) >= expected).await;
    assert_eq!(slots(&results), expected);
    assert!(results.len() < 60, "missed runs that wait are merged: {}", results.len());
    let reasons: Vec<_> = results.iter().filter_map(|r| r.missed).map(|missed| missed.reason).collect();
    assert!(reasons.contains(&MissedReason::StillRunning) && reasons.contains(&MissedReason::Overload));
}

#[tokio::test]
async fn a_sink_that_panics_costs_its_result_but_no_place() {
    let bench = Bench::new(AdmissionLimits { total: 1, ..AdmissionLimits::default() });
    bench.runner.apply(vec![put(assignment(1, Scripted::new(&[Step::Pass])))]).await.unwrap();
    bench.sink.panic(1);
    bench.pass(MINUTE).await;
    within(async {
        while bench.runner.stats().await.unwrap().in_flight > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    bench.pass(MINUTE).await;
    assert_eq!(bench.sink.until(1).await[0].monitor_id, MonitorId(1));
}
