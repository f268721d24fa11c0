//! The location that a person looks at: the list of monitors starts with it, and forms check from it.

use std::sync::Arc;

use super::preferences::Preferences;
use crate::domain::{Location, LocationId};
use crate::texts::Locale;

/// The location that a person looks at, of those that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LocationSwitch {
    locations: Arc<[Location]>,
    chosen: Option<LocationId>,
}

impl LocationSwitch {
    /// Returns the switch of somebody with these preferences. A location that does not exist is no choice.
    pub(super) fn new(locations: Arc<[Location]>, preferences: &Preferences) -> Self {
        let chosen = preferences.location.filter(|id| locations.iter().any(|location| location.id == *id));
        Self { locations, chosen }
    }

    /// Returns the location that is looked at; `None` for all of them.
    pub(super) fn chosen(&self) -> Option<LocationId> {
        self.chosen
    }

    /// Returns those that there are to choose from: none where there is but one.
    pub(super) fn choices(&self) -> &[Location] {
        if self.locations.len() > 1 { &self.locations } else { &[] }
    }

    /// Whether `location` is looked at.
    pub(super) fn is_at(&self, location: &Location) -> bool {
        self.chosen == Some(location.id)
    }

    /// Returns the name of what is looked at.
    pub(super) fn name<'a>(&'a self, t: &Locale) -> &'a str {
        let location = self.locations.iter().find(|location| self.is_at(location));
        location.map_or_else(|| t.text("all locations"), |location| location.name.as_str())
    }
}
