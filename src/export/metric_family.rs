//! The metrics of monitors: their names, units and help texts.

/// A metric of monitors. All series of one stand together, as `OpenMetrics` requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricFamily {
    /// Whether the last check passed.
    Up,
    /// Outcome of the last check, or why there is none.
    Outcome,
    /// Whether an outage is open.
    OutageOpen,
    /// When the certificate expires.
    CertificateEnd,
    /// What is left of the error budgets of agreements.
    SlaBudget,
    /// Duration of the last check.
    Duration,
    /// Status code of the last check.
    Status,
    /// Failed steps of the last check.
    StepsFailed,
    /// Duration of the last check by phase.
    PhaseDuration,
    /// Durations of all checks since the server started.
    CheckDuration,
}

/// Names of all metrics of the page.
pub const METRIC_NAMES: [&str; 12] = [
    "vigie_monitor_up",
    "vigie_monitor_outcome",
    "vigie_monitor_outage_open",
    "vigie_monitor_certificate_end_timestamp_seconds",
    "vigie_monitor_sla_budget_ratio",
    "vigie_monitor_duration_seconds",
    "vigie_monitor_status",
    "vigie_monitor_steps_failed",
    "vigie_monitor_phase_duration_seconds",
    "vigie_monitor_check_duration_seconds",
    "vigie_monitor_series_left_out",
    "vigie_monitors_exported",
];

impl MetricFamily {
    /// Every metric in the order of the page, which is that of their importance: at the limit of the series of a monitor,
    /// the last ones are left out. The histograms come last and do not count.
    pub const ALL: [Self; 10] = [
        Self::Up,
        Self::Outcome,
        Self::OutageOpen,
        Self::CertificateEnd,
        Self::SlaBudget,
        Self::Duration,
        Self::Status,
        Self::StepsFailed,
        Self::PhaseDuration,
        Self::CheckDuration,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        METRIC_NAMES[self as usize]
    }

    /// Returns its unit, which its name ends in; `None` for a number without one.
    pub(super) const fn unit(self) -> Option<&'static str> {
        match self {
            Self::CertificateEnd | Self::Duration | Self::PhaseDuration | Self::CheckDuration => {
                Some("seconds")
            }
            Self::SlaBudget => Some("ratio"),
            Self::Up | Self::Outcome | Self::OutageOpen | Self::Status | Self::StepsFailed => None,
        }
    }

    /// Returns its type in `OpenMetrics`.
    pub(super) const fn metric_type(self) -> &'static str {
        match self {
            Self::CheckDuration => "histogram",
            _ => "gauge",
        }
    }

    /// Returns its help text.
    pub(super) const fn help(self) -> &'static str {
        match self {
            Self::Up => "1 when the last check passed, 0 when it failed; no series when that is not known",
            Self::Outcome => "1, with the outcome of the last check in a label, or why the monitor has none",
            Self::OutageOpen => "1 while the monitor has an open outage, otherwise 0",
            Self::CertificateEnd => "When the certificate that the target showed expires, Unix time",
            Self::SlaBudget => {
                "What is left of the error budget of the month; below 0 when the goal is missed"
            }
            Self::Duration => "Duration of the last check",
            Self::Status => "Status code of the last check",
            Self::StepsFailed => "Failed steps of the last check",
            Self::PhaseDuration => "Duration of the last check by phase",
            Self::CheckDuration => "Durations of checks since the server started",
        }
    }

    /// Returns the lines above its series.
    pub(super) fn header(self) -> String {
        header(self.name(), self.metric_type(), self.unit(), self.help())
    }
}

/// Name of the number of series that were left out.
pub(super) const SERIES_LEFT_OUT: &str = METRIC_NAMES[10];
/// Name of the number of monitors on the page.
pub(super) const PAGE_MONITORS: &str = METRIC_NAMES[11];

/// Returns the lines above the series of a metric.
pub(super) fn header(name: &str, metric_type: &str, unit: Option<&str>, help: &str) -> String {
    let unit = unit.map(|unit| format!("# UNIT {name} {unit}\n")).unwrap_or_default();
    format!("# TYPE {name} {metric_type}\n{unit}# HELP {name} {help}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_in_its_unit_and_is_used_once() {
        for family in MetricFamily::ALL {
            let name = family.name();
            assert!(family.unit().is_none_or(|unit| name.ends_with(&format!("_{unit}"))), "{name}");
            assert_eq!(METRIC_NAMES.iter().filter(|other| **other == name).count(), 1);
            assert_eq!(MetricFamily::ALL[family as usize], family);
        }
    }
}
