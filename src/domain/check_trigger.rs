//! What caused a check.

use serde::{Deserialize, Serialize};

/// What caused a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckTrigger {
    /// A planned run.
    #[default]
    Schedule,
    /// The creation of the monitor, or a change of what it checks (behaviour.md 3, first check).
    First,
    /// A request: a test on demand, or a second look at a failure. Such a check is no result of the monitor.
    OnDemand,
}

impl CheckTrigger {
    /// Every trigger.
    pub const ALL: [Self; 3] = [Self::Schedule, Self::First, Self::OnDemand];

    /// Returns the stable name, used by JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::First => "first",
            Self::OnDemand => "on_demand",
        }
    }

    /// Whether the check is that of a planned run.
    #[must_use]
    pub const fn is_schedule(self) -> bool {
        matches!(self, Self::Schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_json() {
        for trigger in CheckTrigger::ALL {
            assert_eq!(serde_json::to_value(trigger).unwrap(), trigger.name());
        }
    }
}
