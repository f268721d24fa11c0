//! The health of a monitor.

use serde::{Deserialize, Serialize};

use crate::domain::Timestamp;

/// Health of a monitor as displayed: up, failing, down, unknown or blacked out. Disabled and paused monitors
/// are recognised by the monitor itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonitorHealth {
    /// No run is resolved yet, or the last ones had no conclusive result.
    #[default]
    Unknown,
    /// The last resolved run passed.
    Up,
    /// Fewer locations fail than the mode requires, or a failure is being verified.
    Failing,
    /// An episode is open.
    Down,
    /// The last run fell into a blackout.
    BlackedOut,
}

/// Health after a first check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstCheckHealth {
    /// Time of the change that caused the check.
    pub(super) planned_at: Timestamp,
    /// The health.
    pub(super) health: MonitorHealth,
}

impl MonitorHealth {
    /// Ranks the health at one location: the highest is that of all.
    pub(super) const fn rank(self) -> u8 {
        match self {
            Self::Failing | Self::Down => 2,
            Self::Up => 1,
            Self::Unknown | Self::BlackedOut => 0,
        }
    }
}
