//! The signals of OpenTelemetry.

use crate::telemetry::OTLP_SIGNALS;

/// A signal of OpenTelemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtlpSignal {
    /// Values of each result.
    Metrics,
    /// A log record of each failed check.
    Logs,
    /// The spans of each failed check.
    Traces,
}

impl OtlpSignal {
    /// Every signal.
    pub const ALL: [Self; 3] = [Self::Metrics, Self::Logs, Self::Traces];
    /// Their names, in the same order: in settings, and in the paths of requests.
    pub const NAMES: [&str; 3] = OTLP_SIGNALS;

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the name of its items.
    #[must_use]
    pub const fn item_name(self) -> &'static str {
        match self {
            Self::Metrics => "data points",
            Self::Logs => "log records",
            Self::Traces => "spans",
        }
    }
}

/// The signals that are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtlpSignals {
    /// Whether metrics are.
    pub metrics: bool,
    /// Whether logs are.
    pub logs: bool,
    /// Whether traces are.
    pub traces: bool,
}

impl OtlpSignals {
    /// Every signal.
    pub const ALL: Self = Self { metrics: true, logs: true, traces: true };

    /// Whether `signal` is exported.
    #[must_use]
    pub const fn contains(self, signal: OtlpSignal) -> bool {
        match signal {
            OtlpSignal::Metrics => self.metrics,
            OtlpSignal::Logs => self.logs,
            OtlpSignal::Traces => self.traces,
        }
    }

    /// Whether anything about failed checks is exported beside their metrics.
    #[must_use]
    pub const fn describes_failures(self) -> bool {
        self.logs || self.traces
    }
}
