//! How a monitor is, in one word for people: what its watch says of its runs over all locations, or why it does
//! not run.

use std::sync::{Arc, OnceLock};

use crate::alerting::Health;
use crate::domain::{MonitorId, Timestamp};
use crate::schema::Monitor;

/// Answers how a monitor is by what was settled of its runs.
pub type HealthLookup = Arc<dyn Fn(MonitorId) -> Health + Send + Sync>;

/// How a monitor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverallHealth {
    /// Planned, and as its last settled runs say.
    Active(Health),
    /// It rests until a time.
    Paused,
    /// `enabled` is false.
    Disabled,
}

impl OverallHealth {
    /// Every situation.
    pub const ALL: [Self; 7] = [
        Self::Active(Health::Up),
        Self::Active(Health::Failing),
        Self::Active(Health::Down),
        Self::Active(Health::Unknown),
        Self::Active(Health::BlackedOut),
        Self::Paused,
        Self::Disabled,
    ];

    /// Its stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active(Health::Up) => "up",
            Self::Active(Health::Failing) => "failing",
            Self::Active(Health::Down) => "down",
            Self::Active(Health::Unknown) => "unknown",
            Self::Active(Health::BlackedOut) => "blacked_out",
            Self::Paused => "paused",
            Self::Disabled => "disabled",
        }
    }

    /// Whether a pill of an outcome beside it leaves open what this says: an outage, or a failure that is none.
    #[must_use]
    pub const fn is_failing(self) -> bool {
        matches!(self, Self::Active(Health::Failing | Health::Down))
    }

    fn new(monitor: &Monitor, health: Health, now: Timestamp) -> Self {
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
        let health = self.0.get().map_or(Health::Unknown, |of| of(monitor.id));
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
