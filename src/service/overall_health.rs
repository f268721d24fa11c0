//! The overall health of a monitor for people: what the alert engine found over all locations, or why it does not run.

use std::sync::{Arc, OnceLock};

use crate::alerting::MonitorHealth;
use crate::domain::{MonitorId, Timestamp};
use crate::schema::Monitor;

/// Knows the health of monitors according to their settled runs.
pub trait HealthLookup: Send + Sync {
    /// Returns the health of a monitor; unknown for one that is not planned.
    fn health(&self, monitor: MonitorId) -> MonitorHealth;

    /// Returns the monitors with an open outage.
    fn down_monitors(&self) -> Vec<MonitorId>;
}

/// Overall health of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverallHealth {
    /// Planned, with the health of its last settled runs.
    Active(MonitorHealth),
    /// Paused until a time.
    Paused,
    /// `enabled` is false.
    Disabled,
}

impl OverallHealth {
    /// Every value.
    pub const ALL: [Self; 7] = [
        Self::Active(MonitorHealth::Up),
        Self::Active(MonitorHealth::Failing),
        Self::Active(MonitorHealth::Down),
        Self::Active(MonitorHealth::Unknown),
        Self::Active(MonitorHealth::BlackedOut),
        Self::Paused,
        Self::Disabled,
    ];

    /// Returns its stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active(MonitorHealth::Up) => "up",
            Self::Active(MonitorHealth::Failing) => "failing",
            Self::Active(MonitorHealth::Down) => "down",
            Self::Active(MonitorHealth::Unknown) => "unknown",
            Self::Active(MonitorHealth::BlackedOut) => "blacked_out",
            Self::Paused => "paused",
            Self::Disabled => "disabled",
        }
    }

    /// Whether an outage is open, or runs fail that are not an outage yet.
    #[must_use]
    pub const fn is_failing(self) -> bool {
        matches!(self, Self::Active(MonitorHealth::Failing | MonitorHealth::Down))
    }

    fn from_monitor(monitor: &Monitor, health: MonitorHealth, now: Timestamp) -> Self {
        match () {
            () if !monitor.enabled() => Self::Disabled,
            () if monitor.paused_until(now).is_some() => Self::Paused,
            () => Self::Active(health),
        }
    }
}

/// Supplies the overall health of monitors, once a lookup is set.
#[derive(Default)]
pub(super) struct OverallHealthSource(OnceLock<Arc<dyn HealthLookup>>);

impl OverallHealthSource {
    /// Sets the lookup; only the first call has an effect.
    pub(super) fn set_lookup(&self, lookup: Arc<dyn HealthLookup>) {
        let _ = self.0.set(lookup);
    }

    /// Returns the health of `monitor`; unknown without a lookup.
    pub(super) fn get(&self, monitor: &Monitor, now: Timestamp) -> OverallHealth {
        let health = self.0.get().map_or(MonitorHealth::Unknown, |lookup| lookup.health(monitor.id));
        OverallHealth::from_monitor(monitor, health, now)
    }

    /// Returns the monitors with an open outage; `None` without a lookup.
    pub(super) fn down_monitors(&self) -> Option<Vec<MonitorId>> {
        self.0.get().map(|lookup| lookup.down_monitors())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<_> = OverallHealth::ALL.map(OverallHealth::as_str).into();
        assert_eq!(names.len(), OverallHealth::ALL.len());
    }
}
