//! What the control plane knows of a host or of pushes, as a location judges it.

use serde::{Deserialize, Serialize};

/// What the control plane knows of a `hostagent` monitor at the time of a check. Durations are measured by its clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportedState {
    /// Time since the last report or push; since it is awaited, when there was none. In microseconds.
    pub silent_us: u64,
    /// From how many microseconds of silence on it is overdue.
    pub overdue_after_us: u64,
    /// Whether there was a report or push.
    pub was_reported: bool,
    /// Name or address of the host, which is pinged when it is silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Page of metrics that the location reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics_url: Option<String>,
    /// The series that thresholds are about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<SeriesReadings>,
    /// The last push; only for a monitor that is pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<PushedState>,
    /// Version of the agent of the host.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent_version: String,
}

/// The values of a series at the last runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesReadings {
    /// The metric with its labels.
    pub series: String,
    /// The value at this run, then at the runs before it, as far as they are known.
    pub values: Vec<f64>,
}

/// The last push.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushedState {
    /// Whether it said that it failed.
    pub is_down: bool,
    /// Text of the sender.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Duration that the sender measured, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// Exit code of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Last lines of the job.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Since when the job runs, in microseconds; `None` when none runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_us: Option<u64>,
}

/// Why the control plane does not tell the state of a monitor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportedStateError {
    /// The monitor lacks something: its host, its token.
    #[error("{0}")]
    NotConfigured(String),
    /// The control plane or the way to it does not work now.
    #[error("{0}")]
    Unavailable(String),
}
