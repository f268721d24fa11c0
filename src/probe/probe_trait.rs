//! The contract of a probe: its trait, context and weight.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::build_context::ProbeBuildContext;
use super::random::random_u128;
use crate::clock::Clock;
use crate::domain::{MonitorType, Observation, Timestamp, TraceId};
use crate::net::{Deadline, Net};
use crate::schema::MonitorDocument;

/// The future of one attempt.
pub type AttemptFuture<'a> = Pin<Box<dyn Future<Output = Observation> + Send + 'a>>;

/// How much of the host one check takes. Each class has its own concurrency limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConcurrencyClass {
    /// Sockets and a little memory.
    Light,
    /// A browser.
    Heavy,
}

impl ConcurrencyClass {
    /// Returns the stable name, used by metrics and settings.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Heavy => "heavy",
        }
    }
}

/// The environment of an attempt.
#[derive(Clone, Copy)]
pub struct ProbeContext<'a> {
    /// The network of this location.
    pub net: &'a Net,
    /// When the attempt must end. The agent enforces it too, but a probe that keeps it reports better.
    pub deadline: Deadline,
    /// Cancelled when the process shuts down or the monitor no longer exists.
    pub cancel: &'a CancellationToken,
    /// The wall clock, for instance for certificate dates.
    pub clock: &'a dyn Clock,
    /// Whether HTTP exchanges are also recorded for attempts that pass, with more of their bodies.
    pub record_exchanges: bool,
    /// Start of the last full page check of this monitor at this location, if known.
    pub last_full_page_at: Option<Timestamp>,
    /// The trace of requests, the same in all attempts of a check; for monitors with `trace_requests`.
    pub trace_id: TraceId,
}

impl<'a> ProbeContext<'a> {
    /// Creates a context that records no more than every attempt needs, with a trace of its own.
    #[must_use]
    pub fn new(
        net: &'a Net,
        deadline: Deadline,
        cancel: &'a CancellationToken,
        clock: &'a dyn Clock,
    ) -> Self {
        Self {
            net,
            deadline,
            cancel,
            clock,
            record_exchanges: false,
            last_full_page_at: None,
            trace_id: new_trace_id(),
        }
    }
}

/// Creates a trace for the requests of a check.
#[must_use]
pub fn new_trace_id() -> TraceId {
    TraceId::from_bits(random_u128())
}

/// A validated monitor, ready for any number of attempts. Holds settings only.
pub trait Probe: Send + Sync + 'static {
    /// Makes one attempt over new connections. Never fails: failures are recorded in the observation.
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a>;

    /// Returns the target host, for the concurrency limit per target; `None` when there is no single one.
    fn target_host(&self) -> Option<&str>;

    /// Returns the limit of one attempt as a whole; `timeout` is that of the monitor.
    fn time_limit(&self, timeout: Duration) -> Duration {
        timeout
    }
}

/// Builds the probe of a validated document.
pub type ProbeConstructor = fn(&MonitorDocument, &ProbeBuildContext) -> Arc<dyn Probe>;

/// The monitor types that share a descriptor.
pub type MonitorTypes = &'static [MonitorType];
