//! Facts of a check of a host: the values that thresholds are about, and the last push.

use serde::{Deserialize, Serialize};

/// Facts of a check of what a host reports or a job pushes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Time since the last report or push, by the clock of the server, in microseconds; for a page of metrics, 0.
    pub report_age_us: u64,
    /// Version of the agent of the host.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host_agent_version: String,
    /// Values that thresholds are about, the worst first; at most 50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_values: Vec<HostValue>,
    /// Text of the sender of the last push.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub push_message: String,
    /// Duration that came with the last push, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_duration_us: Option<u64>,
    /// Exit code that came with the last push.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_exit_code: Option<i32>,
    /// Since when a job runs whose end was not pushed yet, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_running_us: Option<u64>,
}

/// A value of a series, and its bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostValue {
    /// The metric with its labels.
    pub series: String,
    /// The value.
    pub value: f64,
    /// Bound of a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<f64>,
    /// Bound of an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// What it is.
    pub level: HostValueLevel,
}

/// How bad a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostValueLevel {
    /// Within its bounds, or not beyond them for long enough.
    Ok,
    /// Beyond the bound of a warning.
    Warning,
    /// Beyond the bound of an error.
    Error,
}
