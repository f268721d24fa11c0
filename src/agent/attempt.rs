//! One attempt: bounded in time, cancellable, its panics contained.

use crate::sync::{Mutex, MutexGuard};
use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::assignment::Assignment;
use super::connectivity::Connectivity;
use super::contract::Silence;
use super::pulse::Pulse;
use crate::clock::Clock;
use crate::domain::{Failure, FailureKind, Fault, MonitorId, Observation, Phase, Timestamp};
use crate::net::{Deadline, Net};
use crate::probe::Context;

/// Where attempts are made.
#[derive(Clone)]
pub struct Place {
    /// The network of this location.
    pub net: Arc<Net>,
    /// For wall time.
    pub clock: Arc<dyn Clock>,
    /// Tells whether this process stood still; `None` where nobody beats it, as on a terminal.
    pub pulse: Option<Arc<Pulse>>,
    /// Tells whether this location can reach anything; `None` where nobody named what it should reach.
    pub connectivity: Option<Arc<Connectivity>>,
    /// Tells when monitors rest; `None` where they never do.
    pub silence: Option<Arc<dyn Silence>>,
    /// Whether HTTP exchanges are kept of checks that pass too.
    pub record: bool,
    /// When the objects of pages were loaded last, by the checks that were made here.
    pub full_pages: Arc<FullPages>,
    /// Whether the check was asked for out of the schedule, as to verify a failure: then a full page is due.
    pub on_order: bool,
}

/// When the objects of each page were loaded last. Remembers only what happened since the start of this process;
/// what was before stands in the assignments.
#[derive(Debug, Default)]
pub struct FullPages(Mutex<HashMap<MonitorId, Timestamp>>);

impl FullPages {
    /// Start of the last check of `monitor` that loaded them.
    #[must_use]
    pub fn last(&self, monitor: MonitorId) -> Option<Timestamp> {
        self.lock().get(&monitor).copied()
    }

    /// Notes that the check of `monitor` that began at `started_at` did.
    pub fn note(&self, monitor: MonitorId, started_at: Timestamp) {
        self.lock().insert(monitor, started_at);
    }

    /// Forgets a monitor that is gone.
    pub fn forget(&self, monitor: MonitorId) {
        self.lock().remove(&monitor);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<MonitorId, Timestamp>> {
        self.0.lock()
    }
}

/// Makes one attempt of `assignment`. It ends at its timeout even when the probe does not keep it, and at
/// once when `cancel` is set; a panic of the probe becomes a failure of ours.
///
/// A failure while this process stood still says nothing of the target and is laid at our door: peers give
/// up on a connection that nobody reads, and timeouts run out unwatched.
pub async fn attempt(assignment: &Assignment, place: &Place, cancel: &CancellationToken) -> Observation {
    let (began, started_at) = (Instant::now(), place.clock.now());
    let deadline = Deadline { at: began + assignment.timeout, timeout: assignment.timeout };
    let bounded = AssertUnwindSafe(bounded(assignment, place, cancel, deadline));
    let mut observation = match bounded.catch_unwind().await {
        Ok(observation) => observation,
        Err(payload) => panicked(assignment, payload.as_ref()),
    };
    let total = began.elapsed();
    if observation.total.is_zero() {
        observation.total = total;
    }
    if let Some(failure) = observation.failure.take() {
        let stood_still = total > assignment.timeout + OVERDUE || place.stood_still_since(started_at);
        let why = "Vigie itself stood still meanwhile";
        observation.failure = Some(if stood_still { excuse(failure, why) } else { failure });
    }
    observation
}

/// What a probe that keeps its deadline gets to report on it, before the engine ends the attempt itself.
const GRACE: Duration = Duration::from_millis(100);

/// An attempt that ended this much after its timeout was not watched: the process stood still.
const OVERDUE: Duration = Duration::from_secs(2);

impl Place {
    /// A place on `net` that knows nothing of itself.
    #[must_use]
    pub fn new(net: Arc<Net>, clock: Arc<dyn Clock>) -> Self {
        Self {
            net,
            clock,
            pulse: None,
            connectivity: None,
            silence: None,
            record: false,
            full_pages: Arc::default(),
            on_order: false,
        }
    }

    fn stood_still_since(&self, start: Timestamp) -> bool {
        self.pulse.as_ref().is_some_and(|pulse| pulse.stood_still(start, self.clock.now()))
    }
}

async fn bounded(
    assignment: &Assignment,
    place: &Place,
    cancel: &CancellationToken,
    deadline: Deadline,
) -> Observation {
    let cx = Context::new(&place.net, deadline, cancel, place.clock.as_ref());
    let last = || place.full_pages.last(assignment.monitor_id).or(assignment.full_page_at);
    let full_page_at = if place.on_order { None } else { last() };
    let cx = Context { record: place.record, full_page_at, ..cx };
    tokio::select! {
        biased;
        // The probe first: what it reports itself, on time or on being cancelled, says more.
        ended = tokio::time::timeout_at(deadline.at + GRACE, assignment.probe.attempt(cx)) => {
            ended.unwrap_or_else(|_| Observation::failed(overran(deadline.timeout)))
        }
        () = cancel.cancelled() => Observation::failed(Failure::new(
            Phase::Prepare,
            FailureKind::Cancelled,
            "Vigie is shutting down, or the monitor was removed",
        )),
    }
}

fn overran(timeout: Duration) -> Failure {
    let detail = format!("the attempt did not end within {} s", timeout.as_secs_f64());
    Failure::new(Phase::Prepare, FailureKind::TimedOut, detail)
}

fn panicked(assignment: &Assignment, payload: &(dyn Any + Send)) -> Observation {
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
    Observation::failed(Failure::new(Phase::Prepare, FailureKind::Panicked, "the log has the particulars"))
}

/// Lays `failure` at our door, and says why.
pub(super) fn excuse(mut failure: Failure, why: &str) -> Failure {
    if failure.fault != Fault::Ours {
        failure.detail.push_str("; ");
        failure.detail.push_str(why);
    }
    failure.blamed_on(Fault::Ours)
}
