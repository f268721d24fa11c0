//! Properties of a project, suite, case or step.

/// Names with values, in order; names are compared without case, as SoapUI does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PropertyMap(Vec<(String, String)>);

impl PropertyMap {
    /// Returns the value of `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Sets `name`, which is added when there is none.
    pub(crate) fn set(&mut self, name: &str, value: String) {
        match self.0.iter_mut().find(|(other, _)| other.eq_ignore_ascii_case(name)) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Returns names and values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
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
    }
}
