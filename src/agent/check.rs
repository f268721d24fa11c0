//! One check: attempts, verdict, result.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::assignment::Assignment;
use super::attempt::{attribute_to_vigie, run_attempt};
use super::execution_context::ExecutionContext;
use crate::domain::{
    Attempt, CapturedFile, CheckResult, CheckTrigger, Failure, FailureKind, Observation, Outcome, Phase,
    Status, Timestamp, Verdict,
};
use crate::evaluate;
use crate::probe::new_trace_id;

/// Runs the check that was planned for `planned_at`: one attempt, and at once a second one if the first failed and the
/// monitor has a retry (behaviour.md 3). A cancelled attempt is not retried. An error becomes unknown if this location
/// could not reach any own-connectivity target at that time (behaviour.md 5).
pub async fn run_check(
    assignment: &Assignment,
    planned_at: Timestamp,
    cx: &ExecutionContext,
    cancel: &CancellationToken,
) -> CheckResult {
    let started_at = cx.clock.now();
    let mut observations = Vec::with_capacity(1);
    let mut attempt_starts = Vec::with_capacity(1);
    let mut captures = Vec::new();
    let trace_id = new_trace_id();
    for attempt_number in 1..=2 {
        attempt_starts.push(if attempt_number == 1 { started_at } else { cx.clock.now() });
        let mut observation = run_attempt(assignment, cx, trace_id, cancel).await;
        captures.extend(
            std::mem::take(&mut observation.captures).into_iter().map(|capture| (attempt_number, capture)),
        );
        let must_retry = assignment.retries_failure && is_retryable(&observation);
        observations.push(observation);
        if !must_retry {
            break;
        }
    }
    let total: Duration = observations.iter().map(|observation| observation.duration).sum();
    let mut verdict = evaluate::evaluate_attempts(&observations);
    if verdict.outcome == Outcome::Error
        && cx.failed_due_to_isolation(assignment, &observations, started_at, cancel).await
    {
        for failure in observations.iter_mut().filter_map(|observation| observation.failure.as_mut()) {
            *failure = attribute_to_vigie(failure.clone(), ISOLATED_REASON);
        }
        verdict = evaluate::evaluate_attempts(&observations);
    }
    let numbered = (1_u8..).zip(attempt_starts).zip(&observations);
    let attempts = numbered
        .map(|((attempt_number, start), observation)| {
            Attempt::from_observation(attempt_number, start, observation)
        })
        .collect();
    let captures = prefix_attempt_numbers(captures, observations.len());
    let last_observation = observations.pop().unwrap_or_default();
    if last_observation.details.page_load.is_some() && cx.trigger.is_schedule() {
        cx.full_page_times.record_load(assignment.monitor_id, started_at);
    }
    CheckResult {
        trigger: cx.trigger,
        duration_us: u64::try_from(total.as_micros()).unwrap_or(u64::MAX),
        address: last_observation.address,
        attempts,
        facts: last_observation.facts,
        details: last_observation.details,
        captures,
        ..CheckResult::without_attempts(assignment.check_metadata(), planned_at, started_at, verdict)
    }
}

/// The reason added to failures that occurred while no own-connectivity target of the location could be reached.
const ISOLATED_REASON: &str = "the location itself reached nothing at that time";

/// Returns the record of a run planned at `planned_at` that was suppressed by a blackout for `reason`.
#[must_use]
pub fn suppressed_by_blackout_result(
    assignment: &Assignment,
    planned_at: Timestamp,
    now: Timestamp,
    reason: String,
) -> CheckResult {
    let (outcome, status) = (Outcome::Blackout, Status::OK);
    let verdict = Verdict { outcome, status, warning_status: None, reasons: vec![reason] };
    CheckResult::without_attempts(assignment.check_metadata(), planned_at, now, verdict)
}

/// Returns the record of a check that panicked outside of its attempts, which is an error of Vigie.
#[must_use]
pub fn panicked_result(
    assignment: &Assignment,
    (planned_at, trigger): (Timestamp, CheckTrigger),
    now: Timestamp,
) -> CheckResult {
    let failure = Failure::new(Phase::Prepare, FailureKind::Panicked, "see the log for details");
    let observation = Observation::from_failure(failure);
    let verdict = evaluate::evaluate_attempts(std::slice::from_ref(&observation));
    CheckResult {
        trigger,
        attempts: vec![Attempt::from_observation(1, now, &observation)],
        ..CheckResult::without_attempts(assignment.check_metadata(), planned_at, now, verdict)
    }
}

/// Returns the captures of all attempts; if there were two, the name of each has its attempt number.
fn prefix_attempt_numbers(captures: Vec<(u8, CapturedFile)>, attempt_count: usize) -> Vec<CapturedFile> {
    let with_number = |(number, mut capture): (u8, CapturedFile)| {
        if attempt_count > 1 {
            capture.name = format!("attempt-{number}-{}", capture.name);
        }
        capture
    };
    captures.into_iter().map(with_number).collect()
}

/// Whether the attempt failed, other than by being cancelled or by what is the same a moment later: the findings of a
/// security scan, whose second scan would double its traffic, the last report of a host, the last push.
fn is_retryable(observation: &Observation) -> bool {
    let never_retried = [
        FailureKind::Cancelled,
        FailureKind::SecurityFindings,
        FailureKind::HostValueBeyondBound,
        FailureKind::PushedDown,
    ];
    observation.failure.as_ref().is_some_and(|failure| !never_retried.contains(&failure.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_and_cancelled_attempts_are_not_retried() {
        let is_retried =
            |kind| is_retryable(&Observation::from_failure(Failure::new(Phase::Connect, kind, "x")));
        assert!(is_retried(FailureKind::ConnectRefused) && is_retried(FailureKind::NotConfigured));
        assert!(!is_retried(FailureKind::SecurityFindings) && !is_retried(FailureKind::Cancelled));
        assert!(!is_retryable(&Observation::default()));
    }
}
