//! One check: attempts, verdict, result.

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Assignment, Place, attempt};
use crate::judge;
use crate::model::{Attempt, Capture, CheckId, CheckResult, FailureKind, Observation, RunId, Timestamp};

/// Runs the check that was planned at `planned_at`: one attempt, and at once a second one when the first
/// failed and the monitor wants a retry (behaviour.md 3). A cancelled attempt is not retried.
pub async fn check(
    assignment: &Assignment,
    planned_at: Timestamp,
    place: &Place,
    cancel: &CancellationToken,
) -> CheckResult {
    let (began, started_at) = (Instant::now(), place.clock.now());
    let mut observations = Vec::with_capacity(1);
    let mut attempts = Vec::with_capacity(1);
    let mut captures = Vec::new();
    for number in 1..=2 {
        let attempt_started_at = if number == 1 { started_at } else { place.clock.now() };
        let mut observation = attempt(assignment, place, cancel).await;
        captures.extend(std::mem::take(&mut observation.captures).into_iter().map(|file| (number, file)));
        attempts.push(Attempt::of(number, attempt_started_at, &observation));
        let again = assignment.retry && is_worth_another(&observation);
        observations.push(observation);
        if !again {
            break;
        }
    }
    let captures = named(captures, observations.len());
    let verdict = judge::verdict(&observations);
    let last = observations.pop().unwrap_or_default();
    let run_id = RunId::of(assignment.monitor_id, planned_at);
    CheckResult {
        check_id: CheckId::of(run_id, assignment.location),
        run_id,
        monitor_id: assignment.monitor_id,
        monitor_name: Arc::clone(&assignment.name),
        revision: assignment.revision,
        kind: assignment.kind,
        location_id: assignment.location,
        planned_at,
        started_at,
        outcome: verdict.outcome,
        status: verdict.status,
        warning_status: verdict.warning_status,
        status_text: verdict.status.text().to_owned(),
        reasons: verdict.reasons,
        total_us: u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX),
        address: last.address,
        attempts,
        facts: last.facts,
        captures,
        verification: None,
        missed: None,
    }
}

/// The captures of all attempts; where there were two, each says which one it is of.
fn named(captures: Vec<(u8, Capture)>, attempts: usize) -> Vec<Capture> {
    let name = |(number, mut capture): (u8, Capture)| {
        if attempts > 1 {
            capture.name = format!("attempt-{number}-{}", capture.name);
        }
        capture
    };
    captures.into_iter().map(name).collect()
}

fn is_worth_another(observation: &Observation) -> bool {
    observation.failure.as_ref().is_some_and(|failure| failure.kind != FailureKind::Cancelled)
}
