//! One attempt: bounded in time, cancellable, with its panics contained.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::assignment::Assignment;
use super::execution_context::ExecutionContext;
use crate::domain::{Failure, FailureKind, Fault, Observation, Phase, TraceId};
use crate::net::Deadline;
use crate::probe::ProbeContext;

/// Makes one attempt of `assignment`. It ends at its timeout even when the probe ignores it, and at once when `cancel`
/// is cancelled. A panic of the probe counts as an error of Vigie.
///
/// `trace_id` is the trace of its requests, the same in all attempts of a check.
///
/// A failure while this process stalled says nothing about the target and counts as Vigie's error: peers give up on a
/// connection that is not read, and responses in time are read too late.
pub async fn run_attempt(
    assignment: &Assignment,
    cx: &ExecutionContext,
    trace_id: TraceId,
    cancel: &CancellationToken,
) -> Observation {
    let (started, started_at) = (Instant::now(), cx.clock.now());
    let deadline = Deadline { at: started + assignment.attempt_timeout, timeout: assignment.attempt_timeout };
    let attempt = AssertUnwindSafe(run_until_deadline(assignment, cx, trace_id, cancel, deadline));
    let mut observation = match attempt.catch_unwind().await {
        Ok(observation) => observation,
        Err(_) => panic_observation(assignment),
    };
    let total = started.elapsed();
    if observation.duration.is_zero() {
        observation.duration = total;
    }
    if let Some(failure) = observation.failure.take() {
        let stalled = total > assignment.attempt_timeout + STALL_MARGIN || cx.was_stalled_since(started_at);
        let reason = "Vigie itself stalled meanwhile";
        observation.failure = Some(if stalled { attribute_to_vigie(failure, reason) } else { failure });
    }
    observation
}

/// Extra time for a probe to report its timeout itself, before the agent ends the attempt.
const TIMEOUT_REPORT_GRACE: Duration = Duration::from_millis(100);

/// If an attempt ends this long after its timeout, the process stalled.
const STALL_MARGIN: Duration = Duration::from_secs(2);

/// Runs the probe; ends it shortly after `deadline` or at `cancel`, whatever it does.
async fn run_until_deadline(
    assignment: &Assignment,
    execution_context: &ExecutionContext,
    trace_id: TraceId,
    cancel: &CancellationToken,
    deadline: Deadline,
) -> Observation {
    let net = execution_context.net.with_egress_principal(assignment.egress_principal);
    let cx = ProbeContext::new(&net, deadline, cancel, execution_context.clock.as_ref());
    let last_loaded_at = || {
        execution_context
            .full_page_times
            .last_loaded_at(assignment.monitor_id)
            .or(assignment.last_full_page_at)
    };
    let full_page_at = if execution_context.trigger.is_schedule() { last_loaded_at() } else { None };
    let cx = ProbeContext {
        record_exchanges: execution_context.record_exchanges,
        last_full_page_at: full_page_at,
        trace_id,
        ..cx
    };
    tokio::select! {
        biased;
        // Poll the probe first: its own report of a timeout or cancellation has more details.
        result = tokio::time::timeout_at(deadline.at + TIMEOUT_REPORT_GRACE, assignment.probe.attempt(cx)) => {
            result.unwrap_or_else(|_| Observation::from_failure(timeout_failure(deadline.timeout)))
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

fn panic_observation(assignment: &Assignment) -> Observation {
    // The panic hook has logged the message, with the secrets of the monitor masked.
    tracing::error!(
        monitor_id = assignment.monitor_id.0,
        "type" = assignment.monitor_type.name(),
        "probe panicked: bug in Vigie"
    );
    // The message may hold anything, so only the log has it.
    Observation::from_failure(Failure::new(Phase::Prepare, FailureKind::Panicked, "see the log for details"))
}

/// Marks `failure` as an error of Vigie itself, not of the target, and adds the reason.
pub(super) fn attribute_to_vigie(mut failure: Failure, reason: &str) -> Failure {
    if failure.fault != Fault::Vigie {
        failure.detail.push_str("; ");
        failure.detail.push_str(reason);
    }
    failure.with_fault(Fault::Vigie)
}
