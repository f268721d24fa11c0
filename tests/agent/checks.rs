use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use vigie::agent::{StallDetector, run_check};
use vigie::clock::{FakeClock, SystemClock};
use vigie::domain::{CheckId, FailureKind, Fault, LocationId, MonitorId, Outcome, RunId, Status};

use crate::engine::kit::{NOON, Scripted, Step, assignment, place, within};
use FailureKind::{Cancelled, ConnectRefused, NoSocket, Panicked, TimedOut, Unsupported};

#[tokio::test]
async fn a_check_makes_the_attempts_that_its_first_one_asks_for() {
    /// Steps, retry, attempts made, outcome, status, warning status.
    type Case<'a> = (&'a [Step], bool, usize, Outcome, u16, Option<u16>);
    use Step::{Fail, Panic, Pass};
    let cases: &[Case<'_>] = &[
        (&[Pass], true, 1, Outcome::Ok, 0, None),
        (&[Pass], false, 1, Outcome::Ok, 0, None),
        (&[Fail(ConnectRefused), Pass], false, 1, Outcome::Error, 1, None),
        (&[Fail(ConnectRefused), Pass], true, 2, Outcome::Warning, 0, Some(1)),
        (&[Fail(ConnectRefused)], true, 2, Outcome::Error, 1, None),
        (&[Fail(NoSocket)], true, 2, Outcome::Unknown, 21, None),
        (&[Fail(NoSocket), Pass], true, 2, Outcome::Warning, 0, Some(21)),
        (&[Fail(NoSocket), Fail(ConnectRefused)], true, 2, Outcome::Error, 1, None),
        (&[Fail(ConnectRefused), Fail(NoSocket)], true, 2, Outcome::Error, 1, None),
        (&[Fail(Unsupported)], false, 1, Outcome::Unknown, 95, None),
        (&[Fail(Cancelled), Pass], true, 1, Outcome::Unknown, 21, None),
        (&[Panic], false, 1, Outcome::Unknown, 21, None),
        (&[Panic, Pass], true, 2, Outcome::Warning, 0, Some(21)),
        (&[Fail(ConnectRefused), Panic], true, 2, Outcome::Error, 1, None),
    ];
    for (steps, retry, attempts, outcome, status, warning_status) in cases {
        let probe = Scripted::new(steps);
        let mut assigned = assignment(7, probe.clone());
        assigned.retry = *retry;
        let result =
            run_check(&assigned, NOON, &place(Arc::new(SystemClock)), &CancellationToken::new()).await;
        assert_eq!((probe.attempts(), result.attempts.len()), (*attempts, *attempts), "{steps:?}");
        assert_eq!(
            (result.outcome, result.status, result.warning_status),
            (*outcome, Status(*status), warning_status.map(Status)),
            "{steps:?}"
        );
        let numbers: Vec<u8> = result.attempts.iter().map(|attempt| attempt.number).collect();
        assert_eq!(numbers, [1, 2][..*attempts]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_took_what_its_attempts_took_and_not_the_objects_of_a_page() {
    let took = Duration::from_micros(1234);
    for (steps, total_us) in [
        (&[Step::Aside(took)][..], 1234),
        (&[Step::Fail(ConnectRefused), Step::Aside(took)], 1234),
        (&[Step::Aside(Duration::ZERO)], 1_000_000),
    ] {
        let mut assigned = assignment(7, Scripted::new(steps));
        assigned.retry = true;
        let result =
            run_check(&assigned, NOON, &place(Arc::new(SystemClock)), &CancellationToken::new()).await;
        assert_eq!(result.total_us, total_us, "{steps:?}");
        assert_eq!(result.attempts.iter().map(|attempt| attempt.total_us).sum::<u64>(), total_us);
    }
}

#[tokio::test]
async fn a_result_carries_the_identity_of_its_run() {
    let assigned = assignment(7, Scripted::new(&[Step::Pass]));
    let clock = FakeClock::new(NOON + Duration::from_millis(3));
    let result = run_check(&assigned, NOON, &place(Arc::new(clock)), &CancellationToken::new()).await;
    let run_id = RunId::new(MonitorId(7), NOON);
    assert_eq!((result.run_id, result.check_id), (run_id, CheckId::new(run_id, LocationId(1))));
    assert_eq!(result.lateness(), Some(Duration::from_millis(3)));
    assert_eq!((result.planned_at, &*result.monitor_name, result.missed), (NOON, "monitor 7", None));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_ignores_its_deadline_is_ended_at_it() {
    let mut assigned = assignment(7, Scripted::new(&[Step::Hang]));
    assigned.retry = true;
    let started = tokio::time::Instant::now();
    let result = run_check(&assigned, NOON, &place(Arc::new(SystemClock)), &CancellationToken::new()).await;
    assert_eq!(
        (result.outcome, result.status, result.attempts.len()),
        (Outcome::Error, Status::TIMED_OUT, 2)
    );
    assert!(result.attempts.iter().all(|attempt| attempt.failure.as_ref().unwrap().kind == TimedOut));
    assert!(started.elapsed() < Duration::from_millis(10_300), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_cancelled_check_is_unknown_and_ends_at_once() {
    let probe = Scripted::new(&[Step::Wait]);
    let mut assigned = assignment(7, probe.clone());
    assigned.retry = true;
    let (cx, cancel) = (place(Arc::new(SystemClock)), CancellationToken::new());
    let checking = run_check(&assigned, NOON, &cx, &cancel);
    let cancelling = async {
        probe.until_going(1).await;
        cancel.cancel();
    };
    let (result, ()) = within(futures::future::join(checking, cancelling)).await;
    assert_eq!((result.outcome, result.attempts.len()), (Outcome::Unknown, 1));
    assert_eq!(result.attempts[0].failure.as_ref().unwrap().kind, Cancelled);
}

#[tokio::test]
async fn a_panic_says_nothing_of_its_message_in_the_result() {
    let assigned = assignment(7, Scripted::new(&[Step::Panic]));
    let result = run_check(&assigned, NOON, &place(Arc::new(SystemClock)), &CancellationToken::new()).await;
    let failure = result.attempts[0].failure.as_ref().unwrap();
    assert_eq!((failure.kind, failure.fault), (Panicked, Fault::Ours));
    assert!(!serde_json::to_string(&result).unwrap().contains("scripted"));
}

#[tokio::test]
async fn a_failure_while_the_process_stood_still_is_ours() {
    let clock = Arc::new(FakeClock::new(NOON));
    let mut cx = place(clock.clone());
    cx.stall_detector = Some(Arc::new(StallDetector::new(NOON)));
    let assigned = assignment(7, Scripted::new(&[Step::Fail(ConnectRefused)]));
    let result = run_check(&assigned, NOON, &cx, &CancellationToken::new()).await;
    assert_eq!(result.outcome, Outcome::Error);
    // A minute without a beat: the process was suspended.
    clock.advance(Duration::from_mins(1));
    let result = run_check(&assigned, NOON, &cx, &CancellationToken::new()).await;
    assert_eq!((result.outcome, result.status), (Outcome::Unknown, Status::INTERNAL));
    assert!(result.reasons[0].contains("stood still"), "{:?}", result.reasons);
}
