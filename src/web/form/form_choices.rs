//! What a person can choose in a form: things of the account that fields refer to by their ids.

use crate::domain::Location;
use crate::service::AccountChoices;

/// What a person chooses from: value and label.
pub(super) type Choices = Vec<(String, String)>;

/// What a person can choose in a form.
#[derive(Clone, Debug, Default)]
pub(super) struct FormChoices {
    locations: Choices,
    properties: Choices,
    property_values: Choices,
}

impl FormChoices {
    /// Returns the choices of an account.
    pub(super) fn new(locations: &[Location], account: &AccountChoices) -> Self {
        let properties = &account.properties;
        let to_values = |property: &crate::service::PropertyChoice| -> Choices {
            let name = property.name.clone();
            property.values.iter().map(|(id, value)| (id.to_string(), format!("{name}: {value}"))).collect()
        };
        Self {
            locations: locations
                .iter()
                .map(|location| (location.id.to_string(), location.name.clone()))
                .collect(),
            properties: properties
                .iter()
                .map(|property| (property.id.to_string(), property.name.clone()))
                .collect(),
            property_values: properties.iter().flat_map(to_values).collect(),
        }
    }

    /// Returns the choices for the input `path`; `None` when its field says all about its values.
    pub(super) fn of(&self, path: &str) -> Option<Choices> {
        let (list, member) = path.split_once('[').map_or((path, ""), |(list, rest)| {
            (list, rest.split_once("].").map_or("", |(_, member)| member))
        });
        let choices = match (list, member) {
            ("home_location", "") | ("locations", "id") => &self.locations,
            ("custom_properties", "id") => &self.properties,
            ("custom_properties", "value_id") => &self.property_values,
            _ => return None,
        };
        Some(choices.clone())
    }
}
