//! How a monitor is, in one word for people: what its watch says of its runs over all locations, or why it does
//! not run.

use std::sync::{Arc, OnceLock};

use crate::alerting::Health;
use crate::domain::{MonitorId, Timestamp};
use crate::schema::Monitor;

/// Answers how a monitor is by what was settled of its runs.
pub type HealthOf = Arc<dyn Fn(MonitorId) -> Health + Send + Sync>;

/// How a monitor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Situation {
    /// Planned, and as its last settled runs say.
    Watched(Health),
    /// It rests until a time.
    Paused,
    /// `enabled` is false.
    Disabled,
}

impl Situation {
    /// Every situation.
    pub const ALL: [Self; 7] = [
        Self::Watched(Health::Up),
        Self::Watched(Health::Failing),
        Self::Watched(Health::Down),
        Self::Watched(Health::Unknown),
        Self::Watched(Health::BlackedOut),
        Self::Paused,
        Self::Disabled,
    ];

    /// Its stable word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Watched(Health::Up) => "up",
            Self::Watched(Health::Failing) => "failing",
            Self::Watched(Health::Down) => "down",
            Self::Watched(Health::Unknown) => "unknown",
            Self::Watched(Health::BlackedOut) => "blacked_out",
            Self::Paused => "paused",
            Self::Disabled => "disabled",
        }
    }

    /// Whether a pill of an outcome beside it leaves open what this says: an outage, or a failure that is none.
    #[must_use]
    pub const fn is_news(self) -> bool {
        matches!(self, Self::Watched(Health::Failing | Health::Down))
    }

    fn of(monitor: &Monitor, health: Health, now: Timestamp) -> Self {
        match () {
            () if !monitor.enabled() => Self::Disabled,
            () if monitor.rests_until(now).is_some() => Self::Paused,
            () => Self::Watched(health),
        }
    }
}

/// Knows how monitors are, once somebody told where to ask.
#[derive(Default)]
pub(super) struct Situations(OnceLock<HealthOf>);

impl Situations {
    /// Asks `of` from now on; the first one stays.
    pub(super) fn ask(&self, of: HealthOf) {
        let _ = self.0.set(of);
    }

    /// How `monitor` is; unknown while nobody watches.
    pub(super) fn of(&self, monitor: &Monitor, now: Timestamp) -> Situation {
        let health = self.0.get().map_or(Health::Unknown, |of| of(monitor.id));
        Situation::of(monitor, health, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_situations_apart() {
        let words: std::collections::BTreeSet<_> = Situation::ALL.map(Situation::word).into();
        assert_eq!(words.len(), Situation::ALL.len());
    }
}
