//! One attempt: bounded in time, cancellable, its panics contained.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::assignment::Assignment;
use super::execution_context::ExecutionContext;
use crate::domain::{Failure, FailureKind, Fault, Observation, Phase};
use crate::net::Deadline;
use crate::probe::ProbeContext;

/// Makes one attempt of `assignment`. It ends at its timeout even when the probe does not keep it, and at
/// once when `cancel` is set; a panic of the probe becomes a failure of ours.
///
/// A failure while this process stood still says nothing of the target and is laid at our door: peers give
/// up on a connection that nobody reads, and timeouts run out unwatched.
pub async fn run_attempt(
    assignment: &Assignment,
    cx: &ExecutionContext,
    cancel: &CancellationToken,
) -> Observation {
    let (started, started_at) = (Instant::now(), cx.clock.now());
    let deadline = Deadline { at: started + assignment.timeout, timeout: assignment.timeout };
    let bounded = AssertUnwindSafe(run_bounded(assignment, cx, cancel, deadline));
    let mut observation = match bounded.catch_unwind().await {
        Ok(observation) => observation,
        Err(payload) => panic_observation(assignment, payload.as_ref()),
    };
    let total = started.elapsed();
    if observation.total.is_zero() {
        observation.total = total;
    }
    if let Some(failure) = observation.failure.take() {
        let stood_still = total > assignment.timeout + STALL_MARGIN || cx.stalled_since(started_at);
        let reason = "Vigie itself stood still meanwhile";
        observation.failure = Some(if stood_still { mark_own_fault(failure, reason) } else { failure });
    }
    observation
}

/// What a probe that keeps its deadline gets to report on it, before the engine ends the attempt itself.
const GRACE: Duration = Duration::from_millis(100);

/// An attempt that ended this much after its timeout was not watched: the process stood still.
const STALL_MARGIN: Duration = Duration::from_secs(2);

async fn run_bounded(
    assignment: &Assignment,
    place: &ExecutionContext,
    cancel: &CancellationToken,
    deadline: Deadline,
) -> Observation {
    let cx = ProbeContext::new(&place.net, deadline, cancel, place.clock.as_ref());
    let last = || place.full_pages.last_loaded_at(assignment.monitor_id).or(assignment.full_page_at);
    let full_page_at = if place.is_on_demand { None } else { last() };
    let cx = ProbeContext { record_exchanges: place.record_exchanges, full_page_at, ..cx };
    tokio::select! {
        biased;
        // The probe first: what it reports itself, on time or on being cancelled, says more.
        ended = tokio::time::timeout_at(deadline.at + GRACE, assignment.probe.attempt(cx)) => {
            ended.unwrap_or_else(|_| Observation::from_failure(timeout_failure(deadline.timeout)))
        }
        () = cancel.cancelled() => Observation::from_failure(Failure::new(
            Phase::Prepare,
            FailureKind::Cancelled,
            "Vigie is shutting down, or the monitor was removed",
        )),
    }
}

fn timeout_failure(timeout: Duration) -> Failure {
    let detail = format!("the attempt did not end within {} s", timeout.as_secs_f64());
    Failure::new(Phase::Prepare, FailureKind::TimedOut, detail)
}

fn panic_observation(assignment: &Assignment, payload: &(dyn Any + Send)) -> Observation {
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    tracing::error!(
        monitor_id = assignment.monitor_id.0,
        "type" = assignment.kind.name(),
        panic = message,
        "a probe panicked; this is a defect of Vigie"
    );
    // The message may hold anything, so it stays in the log.
    Observation::from_failure(Failure::new(
        Phase::Prepare,
        FailureKind::Panicked,
        "the log has the particulars",
    ))
}

/// Lays `failure` at our door, and says why.
pub(super) fn mark_own_fault(mut failure: Failure, reason: &str) -> Failure {
    if failure.fault != Fault::Ours {
        failure.detail.push_str("; ");
        failure.detail.push_str(reason);
    }
    failure.with_fault(Fault::Ours)
}
