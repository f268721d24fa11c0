//! What a probe is: its context, its result, its weight.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::settings::ProbeSettings;
use crate::clock::Clock;
use crate::domain::{MonitorType, Observation, Timestamp};
use crate::net::{Deadline, Net};
use crate::schema::MonitorDocument;

/// The future of one attempt.
pub type AttemptFuture<'a> = Pin<Box<dyn Future<Output = Observation> + Send + 'a>>;

/// How much of the host one check takes; each class has a limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// Sockets and a little memory.
    Light,
    /// A browser.
    Heavy,
}

impl Weight {
    /// The stable word, used by metrics and settings.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Heavy => "heavy",
        }
    }
}

/// What an attempt may use.
#[derive(Clone, Copy)]
pub struct ProbeContext<'a> {
    /// The network of this location.
    pub net: &'a Net,
    /// When the attempt has to be over. The engine enforces it too; a probe that keeps it reports better.
    pub deadline: Deadline,
    /// Set when the process shuts down or the monitor is gone.
    pub cancel: &'a CancellationToken,
    /// For wall time, as certificate dates need.
    pub clock: &'a dyn Clock,
    /// Whether HTTP exchanges are kept of an attempt that passes too, and more of their bodies.
    pub record_exchanges: bool,
    /// Start of the last full page check of this monitor here, as far as it is known.
    pub full_page_at: Option<Timestamp>,
}

impl<'a> ProbeContext<'a> {
    /// What every attempt needs; nothing is recorded beyond that.
    #[must_use]
    pub const fn new(
        net: &'a Net,
        deadline: Deadline,
        cancel: &'a CancellationToken,
        clock: &'a dyn Clock,
    ) -> Self {
        Self { net, deadline, cancel, clock, record_exchanges: false, full_page_at: None }
    }
}

/// A checked monitor of one kind, ready to be attempted any number of times. Holds settings only.
pub trait Probe: Send + Sync + 'static {
    /// One attempt over cold connections. Never fails: what went wrong stands in the observation.
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a>;

    /// The host that is asked, for the limit per target; `None` when there is no single one.
    fn target(&self) -> Option<&str>;

    /// How long one attempt may take as a whole; `timeout` is that of the monitor.
    fn time_limit(&self, timeout: Duration) -> Duration {
        timeout
    }
}

/// Builds the probe of a validated document.
pub type BuildProbe = fn(&MonitorDocument, &ProbeSettings) -> Arc<dyn Probe>;

/// The types that share what a descriptor says.
pub type MonitorTypes = &'static [MonitorType];
