//! The location that a person looks at: the list of monitors starts with it, and forms check from it.

use std::sync::Arc;

use super::preferences::Preferences;
use crate::domain::{Location, LocationId};
use crate::service::ListQuery;
use crate::texts::Locale;

/// The location that a person looks at, of those that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LocationSwitch {
    locations: Arc<[Location]>,
    chosen: Option<LocationId>,
}

impl LocationSwitch {
    /// Returns the switch of somebody with these preferences. A location that does not exist is no choice, and where there
    /// is but one, there is none.
    pub(super) fn new(locations: Arc<[Location]>, preferences: &Preferences) -> Self {
        let is_choice = |id: &LocationId| locations.iter().any(|location| location.id == *id);
        let chosen = preferences.location.filter(|id| locations.len() > 1 && is_choice(id));
        Self { locations, chosen }
    }

    /// Returns the location that is looked at; `None` for all of them.
    pub(super) fn chosen(&self) -> Option<LocationId> {
        self.chosen
    }

    /// Returns the path of the list of all monitors, wherever they are checked.
    pub(super) fn path_of_all(&self) -> String {
        ListQuery { at_all_locations: self.chosen.is_some(), ..ListQuery::parse("") }.to_path()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_counts_only_among_several() {
        let location = |id| Location { id: LocationId(id), name: format!("l{id}"), region_code: 1 };
        let mut preferences = Preferences::default();
        preferences.set("location", "2");
        let of =
            |ids: &[i64]| LocationSwitch::new(ids.iter().map(|id| location(*id)).collect(), &preferences);
        let switch = of(&[1, 2]);
        assert_eq!((switch.chosen(), switch.name(&Locale::default())), (Some(LocationId(2)), "l2"));
        assert_eq!(switch.path_of_all(), "/?location=all");
        for ids in [&[2][..], &[1, 3], &[]] {
            let switch = of(ids);
            assert_eq!((switch.chosen(), switch.path_of_all()), (None, "/".to_owned()), "{ids:?}");
        }
        assert!(of(&[2]).choices().is_empty());
    }
}
