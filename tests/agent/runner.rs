use std::time::Duration;

use vigie::agent::{AdmissionLimits, AssignmentChange, OnDemandRunError};
use vigie::domain::{CheckResult, FailureKind, MissedReason, MonitorId, Outcome, Revision, Status};

use crate::agent::kit::{AttemptStep, MINUTE, NOON, ScriptedProbe, TestRunner, assignment, put, within};

fn run_minutes(results: &[CheckResult]) -> Vec<i64> {
    results.iter().filter(|r| r.missed.is_none()).map(|r| minutes(r.planned_at)).collect()
}

fn minutes(time: vigie::domain::Timestamp) -> i64 {
    (time.as_micros() - NOON.as_micros()) / 60_000_000
}

#[tokio::test]
async fn a_monitor_runs_at_each_of_its_slots() {
    let bench = TestRunner::new(AdmissionLimits::default());
    bench
        .runner
        .apply_changes(vec![put(assignment(1, ScriptedProbe::new(&[AttemptStep::Pass])))])
        .await
        .unwrap();
    for minute in 1..=5 {
        bench.advance(MINUTE).await;
        bench.sink.wait_for(minute).await;
    }
    let results = bench.sink.wait_for(5).await;
    assert_eq!(run_minutes(&results), [1, 2, 3, 4, 5]);
    assert!(
        results.iter().all(|r| r.outcome == Outcome::Ok && r.lateness().unwrap() < Duration::from_secs(1))
    );
}

#[tokio::test]
async fn after_a_suspend_the_missed_slots_are_one_record_and_the_last_runs() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let mut assigned = assignment(1, ScriptedProbe::new(&[AttemptStep::Pass]));
    assigned.schedule_offset = Some(Duration::from_secs(10));
    bench.runner.apply_changes(vec![put(assigned)]).await.unwrap();
    bench.clock.advance(Duration::from_secs(10 * 60 + 30));
    let results = bench.sink.wait_for(1).await;
    let missed = results[0].missed.unwrap();
    assert_eq!(
        (results[0].outcome, missed.reason, missed.run_count),
        (Outcome::Missed, MissedReason::ProcessSuspended, 10)
    );
    assert_eq!((minutes(results[0].planned_at), minutes(missed.last_planned_at)), (0, 9));
    bench.advance(Duration::from_secs(39)).await;
    let results = bench.sink.wait_for(2).await;
    assert_eq!((results[1].outcome, minutes(results[1].planned_at)), (Outcome::Ok, 10));
    assert!(results[1].lateness().unwrap() > Duration::from_secs(20));
}

#[tokio::test]
async fn a_run_longer_than_its_interval_is_followed_by_the_queued_slot() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let probe = ScriptedProbe::new(&[AttemptStep::Wait]);
    bench.runner.apply_changes(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    bench.advance(MINUTE).await;
    probe.wait_for_running(1).await;
    bench.advance(Duration::from_secs(130)).await;
    // Slots 2 and 3 came due while slot 1 was running: 2 was skipped for 3.
    let results = bench.sink.wait_for(1).await;
    let missed = results[0].missed.unwrap();
    assert_eq!(
        (missed.reason, missed.run_count, minutes(results[0].planned_at)),
        (MissedReason::StillRunning, 1, 2)
    );
    assert_eq!(probe.attempts(), 1, "it must not overlap itself");
    probe.gate.add_permits(1);
    let results = bench.sink.wait_for(2).await;
    assert_eq!(run_minutes(&results), [1]);
    probe.wait_for_running(1).await;
    probe.gate.add_permits(1);
    assert_eq!(run_minutes(&bench.sink.wait_for(3).await), [1, 3]);
}

#[tokio::test]
async fn the_result_of_an_ordered_run_goes_only_to_its_caller() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let probe = ScriptedProbe::new(&[AttemptStep::Fail(FailureKind::NoSocketLeft), AttemptStep::Pass]);
    bench.runner.apply_changes(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    let result = within(bench.runner.run_now(MonitorId(1))).await.unwrap();
    assert_eq!(
        (result.outcome, result.status, result.planned_at),
        (Outcome::Unknown, Status::INTERNAL, NOON)
    );
    assert_eq!(within(bench.runner.run_now(MonitorId(2))).await.unwrap_err(), OnDemandRunError::NotPlanned);
    let once = std::sync::Arc::new(assignment(2, probe));
    assert_eq!(within(bench.runner.run_assignment_now(once)).await.unwrap().outcome, Outcome::Ok);
    assert_eq!(bench.runner.current_stats().await.unwrap().planned_monitors, 1);
    bench.advance(MINUTE).await;
    assert_eq!(
        run_minutes(&bench.sink.wait_for(1).await),
        [1],
        "the schedule goes on as if nothing had been ordered"
    );
}

#[tokio::test]
async fn an_ordered_run_waits_for_the_running_check_of_its_monitor() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let probe = ScriptedProbe::new(&[AttemptStep::Wait]);
    bench.runner.apply_changes(vec![put(assignment(1, probe.clone()))]).await.unwrap();
    bench.advance(MINUTE).await;
    probe.wait_for_running(1).await;
    let runner = bench.runner.clone();
    let order = tokio::spawn(async move { runner.run_now(MonitorId(1)).await });
    bench.advance(Duration::from_secs(2)).await;
    assert_eq!(probe.attempts(), 1);
    probe.gate.add_permits(2);
    assert_eq!(within(order).await.unwrap().unwrap().outcome, Outcome::Ok);
    assert_eq!(run_minutes(&bench.sink.wait_for(1).await), [1]);
}

#[tokio::test]
async fn a_new_revision_waits_for_the_running_check_of_the_old_one() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let old = ScriptedProbe::new(&[AttemptStep::Wait]);
    bench.runner.apply_changes(vec![put(assignment(1, old.clone()))]).await.unwrap();
    bench.advance(MINUTE).await;
    old.wait_for_running(1).await;
    let new = ScriptedProbe::new(&[AttemptStep::Pass]);
    let mut assigned = assignment(1, new.clone());
    assigned.revision = Revision(2);
    bench.runner.apply_changes(vec![put(assigned)]).await.unwrap();
    bench.advance(MINUTE).await;
    assert_eq!(new.attempts(), 0, "the two versions must not overlap");
    old.gate.add_permits(1);
    let results = bench.sink.wait_for(2).await;
    assert_eq!(run_minutes(&results), [1, 2]);
    assert_eq!([results[0].revision, results[1].revision], [Revision(1), Revision(2)]);
}

#[tokio::test]
async fn the_running_check_of_a_removed_monitor_is_delivered() {
    for cancel in [false, true] {
        let bench = TestRunner::new(AdmissionLimits::default());
        let probe = ScriptedProbe::new(&[AttemptStep::Wait]);
        bench.runner.apply_changes(vec![put(assignment(1, probe.clone()))]).await.unwrap();
        bench.advance(MINUTE).await;
        probe.wait_for_running(1).await;
        bench
            .runner
            .apply_changes(vec![AssignmentChange::Remove {
                monitor_id: MonitorId(1),
                cancel_running: cancel,
            }])
            .await
            .unwrap();
        if !cancel {
            probe.gate.add_permits(1);
        }
        let expected = if cancel { Outcome::Unknown } else { Outcome::Ok };
        assert_eq!(bench.sink.wait_for(1).await[0].outcome, expected);
        bench.advance(MINUTE * 3).await;
        let snapshot = bench.runner.current_stats().await.unwrap();
        assert_eq!((snapshot.planned_monitors, snapshot.running_checks, probe.attempts()), (0, 0, 1));
    }
}

#[tokio::test]
async fn a_hanging_and_a_panicking_monitor_do_not_disturb_the_others() {
    let bench = TestRunner::new(AdmissionLimits { max_running: 3, ..AdmissionLimits::default() });
    let changes = vec![
        put(assignment(1, ScriptedProbe::new(&[AttemptStep::Wait]))),
        put(assignment(2, ScriptedProbe::new(&[AttemptStep::Panic]))),
        put(assignment(3, ScriptedProbe::new(&[AttemptStep::Pass]))),
    ];
    bench.runner.apply_changes(changes).await.unwrap();
    for minute in 1..=3 {
        bench.advance(MINUTE).await;
        bench.sink.wait_until(|r| r.iter().filter(|r| r.monitor_id == MonitorId(3)).count() >= minute).await;
        bench.sink.wait_until(|r| r.iter().filter(|r| r.monitor_id == MonitorId(2)).count() >= minute).await;
    }
    let results = bench.sink.wait_for(6).await;
    let results_of = |id| results.iter().filter(move |r| r.monitor_id == MonitorId(id));
    assert!(
        results_of(2).all(|r| r.outcome == Outcome::Unknown)
            && results_of(3).all(|r| r.outcome == Outcome::Ok)
    );
}

#[tokio::test]
async fn slots_of_seconds_run_and_are_missed_like_those_of_minutes() {
    let bench = TestRunner::new(AdmissionLimits::default());
    let mut assigned = assignment(1, ScriptedProbe::new(&[AttemptStep::Pass]));
    (assigned.interval, assigned.schedule_offset) = (Duration::from_secs(5), Some(Duration::from_secs(2)));
    bench.runner.apply_changes(vec![put(assigned)]).await.unwrap();
    for run in 1..=12 {
        bench.advance(Duration::from_secs(5)).await;
        bench.sink.wait_for(run).await;
    }
    let results = bench.sink.wait_for(12).await;
    let seconds: Vec<u64> = results.iter().map(|result| result.planned_at.since(NOON).as_secs()).collect();
    assert_eq!(seconds, (0..12).map(|run| 2 + 5 * run).collect::<Vec<_>>());
    assert!(results.iter().all(|result| result.outcome == Outcome::Ok));
    bench.clock.advance(Duration::from_mins(2));
    let results = bench.sink.wait_for(13).await;
    let missed = results[12].missed.unwrap();
    assert_eq!((missed.reason, missed.run_count), (MissedReason::ProcessSuspended, 23));
}
