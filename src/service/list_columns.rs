//! The columns of the list of monitors. State and name are always shown.

/// A column of choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The id.
    Id,
    /// The key in its file.
    Key,
    /// The type.
    Type,
    /// The address.
    Target,
    /// When it ran last.
    LastRun,
    /// How long the last run took.
    Duration,
    /// The phases of the last run.
    Phases,
    /// A bar for each of the last 24 hours.
    Day,
    /// The mean duration in each of the last 24 hours.
    DayDurations,
    /// Why it is in its state.
    Reason,
    /// Since when.
    Since,
}

impl Column {
    /// Every column in its order, with its name in addresses and its heading.
    pub const ALL: [(Self, &'static str, &'static str); 11] = [
        (Self::Id, "id", "Id"),
        (Self::Key, "key", "Key"),
        (Self::Type, "type", "Type"),
        (Self::Target, "target", "Target"),
        (Self::LastRun, "last-run", "Last run"),
        (Self::Duration, "duration", "Duration"),
        (Self::Phases, "phases", "Phases"),
        (Self::Day, "day", "24 hours"),
        (Self::DayDurations, "day-durations", "Durations, 24 hours"),
        (Self::Reason, "reason", "Reason"),
        (Self::Since, "since", "Since"),
    ];
    /// What is shown when nobody has chosen.
    const DEFAULT: [Self; 6] =
        [Self::Type, Self::LastRun, Self::Duration, Self::Phases, Self::Reason, Self::Since];

    /// Parses its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known, _)| *known == name).map(|(column, ..)| column)
    }
}

/// The columns that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns(Vec<Column>);

impl Default for Columns {
    fn default() -> Self {
        Self(Column::DEFAULT.to_vec())
    }
}

impl Columns {
    /// Reads names; unknown ones are ignored.
    #[must_use]
    pub fn from_names<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let named: Vec<_> = names.filter_map(Column::parse).collect();
        let all = Column::ALL.into_iter().map(|(column, ..)| column);
        Self(all.filter(|column| named.contains(column)).collect())
    }

    /// Returns their names, separated by commas; `None` for the default.
    #[must_use]
    pub fn names(&self) -> Option<String> {
        if *self == Self::default() {
            return None;
        }
        let names: Vec<_> = self.described().map(|(_, name, _)| name).collect();
        // So that a choice of no column is one, too.
        Some(if names.is_empty() { "none".to_owned() } else { names.join(",") })
    }

    /// Whether `column` is shown.
    #[must_use]
    pub fn contains(&self, column: Column) -> bool {
        self.0.contains(&column)
    }

    /// Returns the columns with their names and headings.
    pub fn described(&self) -> impl Iterator<Item = (Column, &'static str, &'static str)> {
        Column::ALL.into_iter().filter(|(column, ..)| self.contains(*column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_survives_its_names() {
        assert_eq!(Columns::default().names(), None);
        let chosen = Columns::from_names(["since", "odd", "id"].into_iter());
        assert_eq!(chosen.names().as_deref(), Some("id,since"));
        let none = Columns::from_names(["none"].into_iter());
        assert_eq!((none.names().as_deref(), none.described().count()), (Some("none"), 0));
    }
}
