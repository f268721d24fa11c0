//! What a person can choose in a form: things of the account that fields refer to by their ids.

use crate::domain::Location;
use crate::service::{AccountChoices, PropertyChoice};

/// What a person chooses from: value and label.
pub(super) type Choices = Vec<(String, String)>;

/// What a person can choose in a form, by field; `custom_properties.id` is a field of the items of a list.
#[derive(Clone, Debug, Default)]
pub(super) struct FormChoices {
    by_field: Vec<(&'static str, Choices)>,
    /// The field that decides what can be chosen in others.
    decided_by: Option<&'static str>,
}

/// Nothing to choose.
pub(super) static NO_CHOICES: FormChoices = FormChoices { by_field: Vec::new(), decided_by: None };

impl FormChoices {
    /// Returns the choices in forms of monitors.
    pub(super) fn of_monitors(locations: &[Location], account: &AccountChoices) -> Self {
        let to_values = |property: &PropertyChoice| -> Choices {
            let name = &property.name;
            property.values.iter().map(|(id, value)| (id.to_string(), format!("{name}: {value}"))).collect()
        };
        let locations: Choices =
            locations.iter().map(|location| (location.id.to_string(), location.name.clone())).collect();
        let properties =
            account.properties.iter().map(|property| (property.id.to_string(), property.name.clone()));
        Self {
            by_field: vec![
                ("home_location", locations.clone()),
                ("locations.id", locations),
                ("custom_properties.id", properties.collect()),
                ("custom_properties.value_id", account.properties.iter().flat_map(to_values).collect()),
            ],
            decided_by: None,
        }
    }

    /// Says that what can be chosen depends on `field`.
    pub(super) fn are_decided_by(&mut self, field: &'static str) {
        self.decided_by = Some(field);
    }

    /// Whether another value of `path` changes what can be chosen.
    pub(super) fn depend_on(&self, path: &str) -> bool {
        self.decided_by == Some(path)
    }

    /// Adds the choices for `field`.
    pub(super) fn add(&mut self, field: &'static str, choices: Choices) {
        self.by_field.push((field, choices));
    }

    /// Returns the recipients among the choices.
    pub(super) fn choices_of_recipient(&self) -> Option<&Choices> {
        self.of("recipients.id")
    }

    /// Returns the choices for the input `path`; `None` when its field says all about its values.
    pub(super) fn of(&self, path: &str) -> Option<&Choices> {
        let field = without_places(path);
        let (_, choices) = self.by_field.iter().find(|(known, _)| *known == field)?;
        Some(choices)
    }
}

/// Returns `path` without the places of items: `a.b` for `a[3].b`.
fn without_places(path: &str) -> String {
    let mut parts = path.split('[');
    let mut field = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        field.push_str(part.split_once(']').map_or(part, |(_, rest)| rest));
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_items_of_a_list_have_the_same_choices() {
        assert_eq!(without_places("a"), "a");
        assert_eq!(without_places("a[12].b[0].c"), "a.b.c");
        let mut choices = FormChoices::default();
        choices.add("monitors.id", vec![("1".to_owned(), "shop".to_owned())]);
        assert!(choices.of("monitors[7].id").is_some() && choices.of("monitors[7].step").is_none());
    }
}
