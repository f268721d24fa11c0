use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use vigie::agent::{StallDetector, run_check};
use vigie::clock::{FakeClock, SystemClock};
use vigie::domain::{CheckId, FailureKind, Fault, LocationId, MonitorId, Outcome, RunId, Status};

use crate::agent::kit::{AttemptStep, NOON, ScriptedProbe, assignment, context, within};
use FailureKind::{Cancelled, ConnectRefused, NoSocketLeft, Panicked, ProbeUnsupported, TimedOut};

// row: 2.1 retry_on_failure
#[tokio::test]
async fn the_first_attempt_and_retry_decide_the_outcome() {
    /// Steps, retry, attempts made, outcome, status, warning status.
    type Case<'a> = (&'a [AttemptStep], bool, usize, Outcome, u16, Option<u16>);
    use AttemptStep::{Fail, Panic, Pass};
    let cases: &[Case<'_>] = &[
        (&[Pass], true, 1, Outcome::Ok, 0, None),
        (&[Pass], false, 1, Outcome::Ok, 0, None),
        (&[Fail(ConnectRefused), Pass], false, 1, Outcome::Error, 1, None),
        (&[Fail(ConnectRefused), Pass], true, 2, Outcome::Warning, 0, Some(1)),
        (&[Fail(ConnectRefused)], true, 2, Outcome::Error, 1, None),
        (&[Fail(NoSocketLeft)], true, 2, Outcome::Unknown, 21, None),
        (&[Fail(NoSocketLeft), Pass], true, 2, Outcome::Warning, 0, Some(21)),
        (&[Fail(NoSocketLeft), Fail(ConnectRefused)], true, 2, Outcome::Error, 1, None),
        (&[Fail(ConnectRefused), Fail(NoSocketLeft)], true, 2, Outcome::Error, 1, None),
        (&[Fail(ProbeUnsupported)], false, 1, Outcome::Unknown, 95, None),
        (&[Fail(Cancelled), Pass], true, 1, Outcome::Unknown, 21, None),
        (&[Panic], false, 1, Outcome::Unknown, 21, None),
        (&[Panic, Pass], true, 2, Outcome::Warning, 0, Some(21)),
        (&[Fail(ConnectRefused), Panic], true, 2, Outcome::Error, 1, None),
    ];
    for (steps, retry, attempts, outcome, status, warning_status) in cases {
        let probe = ScriptedProbe::new(steps);
        let mut assigned = assignment(7, probe.clone());
        assigned.retries_failure = *retry;
        let result =
            run_check(&assigned, NOON, &context(Arc::new(SystemClock)), &CancellationToken::new()).await;
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
async fn the_duration_of_a_result_is_that_of_its_attempts() {
    let took = Duration::from_micros(1234);
    for (steps, total_us) in [
        (&[AttemptStep::PassWithTotal(took)][..], 1234),
        (&[AttemptStep::Fail(ConnectRefused), AttemptStep::PassWithTotal(took)], 1234),
        (&[AttemptStep::PassWithTotal(Duration::ZERO)], 1_000_000),
    ] {
        let mut assigned = assignment(7, ScriptedProbe::new(steps));
        assigned.retries_failure = true;
        let result =
            run_check(&assigned, NOON, &context(Arc::new(SystemClock)), &CancellationToken::new()).await;
        assert_eq!(result.duration_us, total_us, "{steps:?}");
        assert_eq!(result.attempts.iter().map(|attempt| attempt.duration_us).sum::<u64>(), total_us);
    }
}

#[tokio::test]
async fn a_result_carries_the_identity_of_its_run() {
    let assigned = assignment(7, ScriptedProbe::new(&[AttemptStep::Pass]));
    let clock = FakeClock::new(NOON + Duration::from_millis(3));
    let result = run_check(&assigned, NOON, &context(Arc::new(clock)), &CancellationToken::new()).await;
    let run_id = RunId::new(MonitorId(7), NOON);
    assert_eq!((result.run_id, result.check_id), (run_id, CheckId::new(run_id, LocationId(1))));
    assert_eq!(result.lateness(), Some(Duration::from_millis(3)));
    assert_eq!((result.planned_at, &*result.monitor_name, result.missed), (NOON, "monitor 7", None));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_ignores_its_deadline_is_aborted() {
    let mut assigned = assignment(7, ScriptedProbe::new(&[AttemptStep::Hang]));
    assigned.retries_failure = true;
    let started = tokio::time::Instant::now();
    let result = run_check(&assigned, NOON, &context(Arc::new(SystemClock)), &CancellationToken::new()).await;
    assert_eq!(
        (result.outcome, result.status, result.attempts.len()),
        (Outcome::Error, Status::TIMED_OUT, 2)
    );
    assert!(result.attempts.iter().all(|attempt| attempt.failure.as_ref().unwrap().kind == TimedOut));
    assert!(started.elapsed() < Duration::from_millis(10_300), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_cancelled_check_is_unknown_and_ends_at_once() {
    let probe = ScriptedProbe::new(&[AttemptStep::Wait]);
    let mut assigned = assignment(7, probe.clone());
    assigned.retries_failure = true;
    let (cx, cancel) = (context(Arc::new(SystemClock)), CancellationToken::new());
    let checking = run_check(&assigned, NOON, &cx, &cancel);
    let cancelling = async {
        probe.wait_for_running(1).await;
        cancel.cancel();
    };
    let (result, ()) = within(futures::future::join(checking, cancelling)).await;
    assert_eq!((result.outcome, result.attempts.len()), (Outcome::Unknown, 1));
    assert_eq!(result.attempts[0].failure.as_ref().unwrap().kind, Cancelled);
}

#[tokio::test]
async fn the_message_of_a_panic_is_not_in_the_result() {
    let assigned = assignment(7, ScriptedProbe::new(&[AttemptStep::Panic]));
    let result = run_check(&assigned, NOON, &context(Arc::new(SystemClock)), &CancellationToken::new()).await;
    let failure = result.attempts[0].failure.as_ref().unwrap();
    assert_eq!((failure.kind, failure.fault), (Panicked, Fault::Vigie));
    assert!(!serde_json::to_string(&result).unwrap().contains("scripted"));
}

#[tokio::test]
async fn a_failure_during_a_stall_is_an_own_fault() {
    let clock = Arc::new(FakeClock::new(NOON));
    let mut cx = context(clock.clone());
    cx.stall_detector = Some(Arc::new(StallDetector::new(NOON)));
    let assigned = assignment(7, ScriptedProbe::new(&[AttemptStep::Fail(ConnectRefused)]));
    let result = run_check(&assigned, NOON, &cx, &CancellationToken::new()).await;
    assert_eq!(result.outcome, Outcome::Error);
    // A minute without a heartbeat: the process was suspended.
    clock.advance(Duration::from_mins(1));
    let result = run_check(&assigned, NOON, &cx, &CancellationToken::new()).await;
    assert_eq!((result.outcome, result.status), (Outcome::Unknown, Status::INTERNAL));
    assert!(result.reasons[0].contains("stalled"), "{:?}", result.reasons);
}
