//! The settings of `hostagent`.

use serde::Deserialize;

/// What a host reports, or a job pushes.
#[derive(Clone, Debug, Deserialize)]
pub struct HostAgentSettings<'a> {
    /// Id or name of the host.
    pub host_id: Option<&'a str>,
    /// Bounds of its metrics.
    #[serde(borrow)]
    pub thresholds: Vec<ThresholdSettings<'a>>,
    /// Where values come from.
    pub report: ReportSource,
    /// Seconds after the interval within which a push must follow the last one.
    pub grace: u64,
}

/// Where the values of a host come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportSource {
    /// Its agent reports them.
    Agent,
    /// The location reads a page of metrics.
    Scrape,
    /// A job calls a URL.
    Push,
}

/// Bounds of a metric.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ThresholdSettings<'a> {
    /// The metric, or one of its series.
    pub metric: &'a str,
    /// From this value on it is a warning.
    pub warning: Option<f64>,
    /// From this value on it is an error.
    pub error: Option<f64>,
    /// Which side of the bounds is bad.
    pub direction: ThresholdDirection,
    /// Number of runs in a row.
    #[serde(rename = "for")]
    pub run_count: u32,
}

/// Which side of a bound is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThresholdDirection {
    /// Values above it.
    Above,
    /// Values below it.
    Below,
}
