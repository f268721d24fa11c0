use std::time::Duration;

use vigie::agent::{AdmissionLimits, AssignmentChange, RunOrderError};
use vigie::domain::{CheckResult, FailureKind, MissedReason, MonitorId, Outcome, Revision, Status};

use crate::engine::kit::{Bench, MINUTE, NOON, Scripted, Step, assignment, put, within};

fn ran(results: &[CheckResult]) -> Vec<i64> {
    results.iter().filter(|r| r.missed.is_none()).map(|r| minutes(r.planned_at)).collect()
}

fn minutes(time: vigie::domain::Timestamp) -> i64 {
    (time.as_micros() - NOON.as_micros()) / 60_000_000
}

#[tokio::test]
async fn a_monitor_runs_at_each_of_its_slots_and_says_when() {
    let bench = Bench::new(AdmissionLimits::default());
    bench.runner.apply(vec![put(assignment(1, Scripted::new(&[Step::Pass])))]).await.unwrap();
    for minute in 1..=5 {
        bench.pass(MINUTE).await;
        bench.sink.until(minute).await;
    }
    let results = bench.sink.until(5).await;
    assert_eq!(ran(&results), [1, 2, 3, 4, 5]);
    assert!(
        results.iter().all(|r| r.outcome == Outcome::Ok && r.lateness().unwrap() < Duration::from_secs(1))
    );
}

#[tokio::test]
async fn after_a_suspend_the_passed_slots_are_one_record_and_the_newest_still_runs() {
    let bench = Bench::new(AdmissionLimits::default());
    let mut assigned = assignment(1, Scripted::new(&[Step::Pass]));
    assigned.offset = Some(Duration::from_secs(10));
    bench.runner.apply(vec![put(assigned)]).await.unwrap();
    bench.clock.advance(Duration::from_secs(10 * 60 + 30));
    let results = bench.sink.until(1).await;
    let missed = results[0].missed.unwrap();
    assert_eq!(
        (results[0].outcome, missed.reason, missed.slots),
        (Outcome::Missed, MissedReason::Paused, 10)
    );
    assert_eq!((minutes(results[0].planned_at), minutes(missed.last_planned_at)), (0, 9));
    bench.pass(Duration::from_secs(39)).await;
    let results = bench.sink.until(2).await;
    assert_eq!((results[1].outcome, minutes(results[1].planned_at)), (Outcome::Ok, 10));
    assert!(results[1].lateness().unwrap() > Duration::from_secs(20));
}

#[tokio::test]
async fn a_run_that_outlasts_its_interval_is_followed_at_once_by_the_slot_that_waited() {
    let bench = Bench::new(AdmissionLimits::default());
    let probe = Scripted::new(&[Step::Wait]);
    bench.runner.apply(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    bench.pass(MINUTE).await;
    probe.until_going(1).await;
    bench.pass(Duration::from_secs(130)).await;
    // Slots 2 and 3 came while slot 1 was running: 2 was given up for 3.
    let results = bench.sink.until(1).await;
    let missed = results[0].missed.unwrap();
    assert_eq!(
        (missed.reason, missed.slots, minutes(results[0].planned_at)),
        (MissedReason::StillRunning, 1, 2)
    );
    assert_eq!(probe.attempts(), 1, "it must not overlap itself");
    probe.gate.add_permits(1);
    let results = bench.sink.until(2).await;
    assert_eq!(ran(&results), [1]);
    probe.until_going(1).await;
    probe.gate.add_permits(1);
    assert_eq!(ran(&bench.sink.until(3).await), [1, 3]);
}

#[tokio::test]
async fn an_order_comes_back_to_who_asked_and_to_nobody_else() {
    let bench = Bench::new(AdmissionLimits::default());
    let probe = Scripted::new(&[Step::Fail(FailureKind::NoSocket), Step::Pass]);
    bench.runner.apply(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    let result = within(bench.runner.run_now(MonitorId(1))).await.unwrap();
    assert_eq!(
        (result.outcome, result.status, result.planned_at),
        (Outcome::Unknown, Status::INTERNAL, NOON)
    );
    assert_eq!(within(bench.runner.run_now(MonitorId(2))).await.unwrap_err(), RunOrderError::NotPlanned);
    let once = std::sync::Arc::new(assignment(2, probe));
    assert_eq!(within(bench.runner.run_once(once)).await.unwrap().outcome, Outcome::Ok);
    assert_eq!(bench.runner.stats().await.unwrap().planned, 1);
    bench.pass(MINUTE).await;
    assert_eq!(ran(&bench.sink.until(1).await), [1], "the schedule goes on as if nothing had been ordered");
}

#[tokio::test]
async fn an_order_waits_for_the_running_check_of_its_monitor() {
    let bench = Bench::new(AdmissionLimits::default());
    let probe = Scripted::new(&[Step::Wait]);
    bench.runner.apply(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    bench.pass(MINUTE).await;
    probe.until_going(1).await;
    let runner = bench.runner.clone();
    let order = tokio::spawn(async move { runner.run_now(MonitorId(1)).await });
    bench.pass(Duration::from_secs(2)).await;
    assert_eq!(probe.attempts(), 1);
    probe.gate.add_permits(2);
    assert_eq!(within(order).await.unwrap().unwrap().outcome, Outcome::Ok);
    assert_eq!(ran(&bench.sink.until(1).await), [1]);
}

#[tokio::test]
async fn a_new_version_waits_for_the_running_check_of_the_old_one() {
    let bench = Bench::new(AdmissionLimits::default());
    let old = Scripted::new(&[Step::Wait]);
    bench.runner.apply(vec![put(assignment(1, old.clone()))]).await.unwrap();
    bench.pass(MINUTE).await;
    old.until_going(1).await;
    let new = Scripted::new(&[Step::Pass]);
    let mut assigned = assignment(1, new.clone());
    assigned.revision = Revision(2);
    bench.runner.apply(vec![put(assigned)]).await.unwrap();
    bench.pass(MINUTE).await;
    assert_eq!(new.attempts(), 0, "the two versions must not overlap");
    old.gate.add_permits(1);
    let results = bench.sink.until(2).await;
    assert_eq!(ran(&results), [1, 2]);
    assert_eq!([results[0].revision, results[1].revision], [Revision(1), Revision(2)]);
}

#[tokio::test]
async fn a_removed_monitor_runs_no_more_but_its_running_check_is_delivered() {
    for cancel in [false, true] {
        let bench = Bench::new(AdmissionLimits::default());
        let probe = Scripted::new(&[Step::Wait]);
        bench.runner.apply(vec![put(assignment(1, probe.clone()))]).await.unwrap();
        bench.pass(MINUTE).await;
        probe.until_going(1).await;
        bench
            .runner
            .apply(vec![AssignmentChange::Remove { monitor_id: MonitorId(1), cancel }])
            .await
            .unwrap();
        if !cancel {
            probe.gate.add_permits(1);
        }
        let expected = if cancel { Outcome::Unknown } else { Outcome::Ok };
        assert_eq!(bench.sink.until(1).await[0].outcome, expected);
        bench.pass(MINUTE * 3).await;
        let snapshot = bench.runner.stats().await.unwrap();
        assert_eq!((snapshot.planned, snapshot.in_flight, probe.attempts()), (0, 0, 1));
    }
}

#[tokio::test]
async fn a_hanging_and_a_panicking_monitor_do_not_disturb_the_others() {
    let bench = Bench::new(AdmissionLimits { total: 3, ..AdmissionLimits::default() });
    let changes = vec![
        put(assignment(1, Scripted::new(&[Step::Wait]))),
        put(assignment(2, Scripted::new(&[Step::Panic]))),
        put(assignment(3, Scripted::new(&[Step::Pass]))),
    ];
    bench.runner.apply(changes).await.unwrap();
    for minute in 1..=3 {
        bench.pass(MINUTE).await;
        bench.sink.until_that(|r| r.iter().filter(|r| r.monitor_id == MonitorId(3)).count() >= minute).await;
        bench.sink.until_that(|r| r.iter().filter(|r| r.monitor_id == MonitorId(2)).count() >= minute).await;
    }
    let results = bench.sink.until(6).await;
    let of = |id| results.iter().filter(move |r| r.monitor_id == MonitorId(id));
    assert!(of(2).all(|r| r.outcome == Outcome::Unknown) && of(3).all(|r| r.outcome == Outcome::Ok));
}
