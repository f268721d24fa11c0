//! One check: attempts, verdict, result.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::assignment::Assignment;
use super::attempt::{mark_own_fault, run_attempt};
use super::execution_context::ExecutionContext;
use crate::domain::{
    Attempt, Capture, CheckResult, FailureKind, Observation, Outcome, Status, Timestamp, Verdict,
};
use crate::evaluate as judge;

/// Runs the check that was planned at `planned_at`: one attempt, and at once a second one when the first
/// failed and the monitor wants a retry (behaviour.md 3). A cancelled attempt is not retried. An error while this
/// location reached nothing at all turns unknown (behaviour.md 5).
pub async fn run_check(
    assignment: &Assignment,
    planned_at: Timestamp,
    cx: &ExecutionContext,
    cancel: &CancellationToken,
) -> CheckResult {
    let started_at = cx.clock.now();
    let mut observations = Vec::with_capacity(1);
    let mut starts = Vec::with_capacity(1);
    let mut captures = Vec::new();
    for number in 1..=2 {
        starts.push(if number == 1 { started_at } else { cx.clock.now() });
        let mut observation = run_attempt(assignment, cx, cancel).await;
        captures.extend(std::mem::take(&mut observation.captures).into_iter().map(|file| (number, file)));
        let again = assignment.retry && should_retry(&observation);
        observations.push(observation);
        if !again {
            break;
        }
    }
    let total: Duration = observations.iter().map(|observation| observation.total).sum();
    let mut verdict = judge::evaluate_attempts(&observations);
    if verdict.outcome == Outcome::Error
        && cx.was_isolated(assignment, &observations, started_at, cancel).await
    {
        for failure in observations.iter_mut().filter_map(|observation| observation.failure.as_mut()) {
            *failure = mark_own_fault(failure.clone(), ISOLATED_REASON);
        }
        verdict = judge::evaluate_attempts(&observations);
    }
    let numbered = (1_u8..).zip(starts).zip(&observations);
    let attempts =
        numbered.map(|((number, start), seen)| Attempt::from_observation(number, start, seen)).collect();
    let captures = number_captures(captures, observations.len());
    let last = observations.pop().unwrap_or_default();
    if last.details.page.is_some() && !cx.is_on_demand {
        cx.full_pages.record(assignment.monitor_id, started_at);
    }
    CheckResult {
        total_us: u64::try_from(total.as_micros()).unwrap_or(u64::MAX),
        address: last.address,
        attempts,
        facts: last.facts,
        details: last.details,
        captures,
        ..CheckResult::without_attempts(assignment.check_of(), planned_at, started_at, verdict)
    }
}

/// Said of failures while no own-connectivity target of the location answered either.
const ISOLATED_REASON: &str = "the location itself reached nothing at that time";

/// The record of a run that was planned at `planned_at` and not made, since the monitor rested for `reason`.
#[must_use]
pub fn blackout_result(
    assignment: &Assignment,
    planned_at: Timestamp,
    now: Timestamp,
    reason: String,
) -> CheckResult {
    let (outcome, status) = (Outcome::Blackout, Status::OK);
    let verdict = Verdict { outcome, status, warning_status: None, reasons: vec![reason] };
    CheckResult::without_attempts(assignment.check_of(), planned_at, now, verdict)
}

/// The captures of all attempts; where there were two, each says which one it is of.
fn number_captures(captures: Vec<(u8, Capture)>, attempts: usize) -> Vec<Capture> {
    let name = |(number, mut capture): (u8, Capture)| {
        if attempts > 1 {
            capture.name = format!("attempt-{number}-{}", capture.name);
        }
        capture
    };
    captures.into_iter().map(name).collect()
}

fn should_retry(observation: &Observation) -> bool {
    observation.failure.as_ref().is_some_and(|failure| failure.kind != FailureKind::Cancelled)
}
