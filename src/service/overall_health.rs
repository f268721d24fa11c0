//! How a monitor is, in one word for people: what its watch says of its runs over all locations, or why it does
//! not run.

use std::sync::{Arc, OnceLock};

use crate::alerting::MonitorHealth;
use crate::domain::{MonitorId, Timestamp};
use crate::schema::Monitor;

/// Answers how a monitor is by what was settled of its runs.
pub type HealthLookup = Arc<dyn Fn(MonitorId) -> MonitorHealth + Send + Sync>;

/// How a monitor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverallHealth {
    /// Planned, and as its last settled runs say.
    Active(MonitorHealth),
    /// It rests until a time.
    Paused,
    /// `enabled` is false.
    Disabled,
}

impl OverallHealth {
    /// Every situation.
    pub const ALL: [Self; 7] = [
        Self::Active(MonitorHealth::Up),
        Self::Active(MonitorHealth::Failing),
        Self::Active(MonitorHealth::Down),
        Self::Active(MonitorHealth::Unknown),
        Self::Active(MonitorHealth::BlackedOut),
        Self::Paused,
        Self::Disabled,
    ];

    /// Its stable word.
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

    /// Whether a pill of an outcome beside it leaves open what this says: an outage, or a failure that is none.
    #[must_use]
    pub const fn is_failing(self) -> bool {
        matches!(self, Self::Active(MonitorHealth::Failing | MonitorHealth::Down))
    }

    fn new(monitor: &Monitor, health: MonitorHealth, now: Timestamp) -> Self {
        match () {
            () if !monitor.enabled() => Self::Disabled,
            () if monitor.paused_until(now).is_some() => Self::Paused,
            () => Self::Active(health),
        }
    }
}

/// Knows how monitors are, once somebody told where to ask.
#[derive(Default)]
pub(super) struct OverallHealthSource(OnceLock<HealthLookup>);

impl OverallHealthSource {
    /// Asks `of` from now on; the first one stays.
    pub(super) fn set_lookup(&self, of: HealthLookup) {
        let _ = self.0.set(of);
    }

    /// How `monitor` is; unknown while nobody watches.
    pub(super) fn get(&self, monitor: &Monitor, now: Timestamp) -> OverallHealth {
        let health = self.0.get().map_or(MonitorHealth::Unknown, |of| of(monitor.id));
        OverallHealth::new(monitor, health, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_situations_apart() {
        let words: std::collections::BTreeSet<_> = OverallHealth::ALL.map(OverallHealth::as_str).into();
        assert_eq!(words.len(), OverallHealth::ALL.len());
    }
}
