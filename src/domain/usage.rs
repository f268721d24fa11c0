//! Usage: how many checks an account ran.

/// What usage is counted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UsageGrouping {
    /// By billing plan.
    #[default]
    Plan,
    /// By monitor type.
    Type,
    /// By location.
    Location,
    /// By monitor.
    Monitor,
}

impl UsageGrouping {
    /// Names of all groupings, in their order.
    pub const NAMES: [&str; 4] = ["plan", "type", "location", "monitor"];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns the grouping with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Plan, Self::Type, Self::Location, Self::Monitor]
            .into_iter()
            .find(|grouping| grouping.name() == name)
    }
}
