//! Performance alerts of monitors.

use serde::Deserialize;

/// A performance alert of a monitor.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PerformanceAlertSettings {
    /// What the mean is compared with.
    #[serde(rename = "type")]
    pub kind: ThresholdKind,
    /// Static: mean seconds; dynamic: percent above the mean of the last days.
    pub threshold: f64,
    /// Dynamic: number of days that the reference mean covers.
    #[serde(rename = "days")]
    pub reference_days: u32,
    /// Minutes that the mean covers.
    #[serde(rename = "window")]
    pub window_minutes: u32,
    /// Severity.
    pub level: AlertLevel,
    /// Step whose duration is compared; `None` for the whole check.
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

/// Severity of a performance alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertLevel {
    /// An error.
    Error,
    /// A warning.
    Warning,
}
