//! Performance alerts of monitors.

use serde::Deserialize;

/// A performance alert of a monitor.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PerformanceAlertSettings {
    /// What the mean is compared with.
    #[serde(rename = "type")]
    pub kind: ThresholdKind,
    /// Static: mean seconds; dynamic: percent over the mean of the last days.
    pub threshold: f64,
    /// Dynamic: over the mean of so many days.
    pub days: u32,
    /// Minutes that the mean is taken over.
    pub window: u32,
    /// How bad it is.
    pub level: AlertLevel,
    /// The time of this step; without it of the whole check.
    pub step: Option<u32>,
    /// Whether it is evaluated.
    pub enabled: bool,
}

/// What a mean is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThresholdKind {
    /// A fixed time.
    Static,
    /// The mean of the last days.
    Dynamic,
}

/// How bad a performance alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertLevel {
    /// An error.
    Error,
    /// A warning.
    Warning,
}
