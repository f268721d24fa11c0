//! What is known of the metrics of hosts: the newest report, and the history in spans of three lengths.

use std::time::Duration;

use super::id::HostId;
use super::time::Timestamp;

/// Most series of a report.
pub const MAX_REPORT_SERIES: usize = 400;

/// A value of a series, such as `disk_used_percent{mount="/"}`.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesValue {
    /// The metric with its labels in canonical form.
    pub series: String,
    /// The value, a finite number.
    pub value: f64,
}

/// A report of a host, its times by the clock of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct HostReport {
    /// The host.
    pub host_id: HostId,
    /// Number of the report, by which one that arrives twice is found.
    pub sequence: u64,
    /// When the values were measured.
    pub measured_at: Timestamp,
    /// When the report arrived.
    pub received_at: Timestamp,
    /// Version of the program that sent it.
    pub agent_version: String,
    /// Operating system and kernel.
    pub system: String,
    /// The values, sorted by series, each once.
    pub values: Vec<SeriesValue>,
    /// Seconds between two reports of the host, which decide how many of them the history keeps.
    pub interval_s: u32,
}

/// What the list of hosts shows of the newest report of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSummary {
    /// The host.
    pub host_id: HostId,
    /// When the values were measured, by the clock of the server.
    pub measured_at: Timestamp,
    /// When the report arrived.
    pub received_at: Timestamp,
    /// Version of the program that sent it.
    pub agent_version: String,
    /// Operating system and kernel.
    pub system: String,
}

/// How long a row of the history covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostSpan {
    /// One report.
    Report,
    /// Five minutes; longer for hosts with many series.
    Block,
    /// One hour.
    Hour,
}

impl HostSpan {
    /// Every span, the shortest first.
    pub const ALL: [Self; 3] = [Self::Report, Self::Block, Self::Hour];

    /// Returns its name in the API.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Block => "block",
            Self::Hour => "hour",
        }
    }

    /// Returns the span named `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.name() == name)
    }

    /// Returns how long its rows are kept.
    #[must_use]
    pub const fn retention(self) -> Duration {
        match self {
            Self::Report => Duration::from_hours(48),
            Self::Block => Duration::from_hours(14 * 24),
            Self::Hour => Duration::from_hours(400 * 24),
        }
    }
}

/// A row of the history of a host, with statistics of each series.
#[derive(Clone, Debug, PartialEq)]
pub struct HostHistoryRow {
    /// When the report was measured, or the span starts.
    pub start: Timestamp,
    /// The statistics, sorted by series.
    pub values: Vec<SeriesStatistics>,
}

/// The values of a series within a span. They have a precision of a thousandth.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesStatistics {
    /// The metric with its labels.
    pub series: String,
    /// The least value.
    pub min: f64,
    /// The mean of the values.
    pub mean: f64,
    /// The greatest value.
    pub max: f64,
}

/// Which rows of the history of a host to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostHistoryQuery {
    /// The host.
    pub host_id: HostId,
    /// How long the rows cover.
    pub span: HostSpan,
    /// Rows from this time on.
    pub from: Timestamp,
    /// Rows before this time.
    pub until: Timestamp,
}
