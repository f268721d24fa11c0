//! Properties of a project, suite, case or step.

/// Names with values, in order; names are compared without case, as SoapUI does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PropertyMap(Vec<Property>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Property {
    name: String,
    value: String,
    /// Whether the value has parts of a response.
    is_from_response: bool,
}

impl PropertyMap {
    fn find(&self, name: &str) -> Option<&Property> {
        self.0.iter().find(|property| property.name.eq_ignore_ascii_case(name))
    }

    /// Returns the value of `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.find(name).map(|property| property.value.as_str())
    }

    /// Whether the value of `name` has parts of a response.
    pub(crate) fn is_from_response(&self, name: &str) -> bool {
        self.find(name).is_some_and(|property| property.is_from_response)
    }

    /// Sets `name`, which is added when there is none.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.set_property(name, value, false);
    }

    /// Sets `name` to `value`, whose parts of responses are escaped, if it has some.
    pub(crate) fn set_property(&mut self, name: &str, value: String, is_from_response: bool) {
        match self.0.iter_mut().find(|property| property.name.eq_ignore_ascii_case(name)) {
            Some(property) => (property.value, property.is_from_response) = (value, is_from_response),
            None => self.0.push(Property { name: name.to_owned(), value, is_from_response }),
        }
    }

    /// Returns names and values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|property| (property.name.as_str(), property.value.as_str()))
    }

    /// Returns the size of all names and values, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(|property| property.name.len() + property.value.len()).sum()
    }

    /// Returns the number of properties.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_case() {
        let mut properties = PropertyMap::default();
        properties.set("Token", "1".to_owned());
        properties.set("TOKEN", "2".to_owned());
        assert_eq!((properties.get("token"), properties.len()), (Some("2"), 1));
        assert_eq!(properties.get("other"), None);
        properties.set_property("token", "3".to_owned(), true);
        assert!(properties.is_from_response("Token") && properties.bytes() == 6);
    }
}
