//! The five modes in which a monitor runs over its locations (interface.md 2.1 `mode`, behaviour.md 5).

use serde::{Deserialize, Serialize};

/// How many locations check a run, and which of their failures alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LocationMode {
    /// In parallel; alerts when any fails and another confirms.
    GlobalVerify,
    /// In parallel; alerts when the home location fails, verified.
    Primary,
    /// In parallel; alerts when any fails.
    GlobalNotify,
    /// One after another; alerts when two fail in the same run.
    RoundRobin,
    /// In parallel; alerts when as many fail as the account requires.
    MultiPop,
}

impl LocationMode {
    /// Every mode with its version 3 name.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::GlobalVerify, "Global Verify"),
        (Self::Primary, "Primary"),
        (Self::GlobalNotify, "Global Notify"),
        (Self::RoundRobin, "Round Robin"),
        (Self::MultiPop, "SLA (MultiPOP)"),
    ];

    /// Returns its version 3 name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(mode, _)| *mode == self).map_or("", |(_, name)| name)
    }

    /// Returns the mode with this version 3 name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, mode_name)| *mode_name == name).map(|(mode, _)| *mode)
    }

    /// Returns how many locations check a run when a monitor sets 0 (behaviour.md 1 `monitor_location_count`).
    #[must_use]
    pub fn default_location_count(self, pool_size: usize, is_rotating: bool) -> usize {
        match self {
            _ if !is_rotating => pool_size,
            Self::RoundRobin | Self::MultiPop => pool_size.min(2),
            _ => pool_size.min(1),
        }
    }
}
