//! The header fields of a message, stored as one string: a result has many fields and most are never read.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names and values in their order; in JSON a list of pairs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HeaderList {
    /// All names and values, concatenated.
    text: String,
    /// End offsets of each name and of the value after it.
    end_offsets: Vec<(u32, u32)>,
}

impl HeaderList {
    /// Creates an empty list with capacity for `fields` fields and `bytes` bytes of text.
    #[must_use]
    pub fn with_capacity(fields: usize, bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), end_offsets: Vec::with_capacity(fields) }
    }

    /// Adds a field. Ignores a field that would make the text 4 GiB or longer.
    pub fn push(&mut self, name: &str, value: &str) {
        let name_end = self.text.len() + name.len();
        if let (Ok(name_end), Ok(end)) = (u32::try_from(name_end), u32::try_from(name_end + value.len())) {
            self.text.push_str(name);
            self.text.push_str(value);
            self.end_offsets.push((name_end, end));
        }
    }

    /// Iterates over the fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        self.end_offsets.iter().map(move |&(name_end, end)| {
            let field_start = std::mem::replace(&mut start, end as usize);
            let slice =
                |field_start: usize, to: u32| self.text.get(field_start..to as usize).unwrap_or_default();
            (slice(field_start, name_end), slice(name_end as usize, end))
        })
    }

    /// Whether the list has no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end_offsets.is_empty()
    }

    /// Returns the first value of the field `name`, ignoring case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(field_name, _)| field_name.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Replaces each value by what `replace` returns for it. Calls it with the whole text first: a text that it leaves
    /// unchanged must not contain a value that it would change.
    pub fn map_values(&mut self, replace: impl Fn(&str) -> Cow<'_, str>) {
        if matches!(replace(&self.text), Cow::Borrowed(_)) {
            return;
        }
        let mut replaced = Self::with_capacity(self.end_offsets.len(), self.text.len());
        self.iter().for_each(|(name, value)| replaced.push(name, &replace(value)));
        *self = replaced;
    }
}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for HeaderList {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let mut list = Self::default();
        fields.into_iter().for_each(|(name, value)| list.push(name.as_ref(), value.as_ref()));
        list
    }
}

impl fmt::Debug for HeaderList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for HeaderList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for HeaderList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<(String, String)>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_as_they_went_in() {
        let fields = [("Host", "a"), ("X-Empty", ""), ("", "b"), ("x-é", "ü"), ("host", "c")];
        let list: HeaderList = fields.into_iter().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), fields);
        assert_eq!((list.get("HOST"), list.get("x-empty"), list.get("y")), (Some("a"), Some(""), None));
        let json = serde_json::to_string(&list).unwrap();
        assert_eq!(json, r#"[["Host","a"],["X-Empty",""],["","b"],["x-é","ü"],["host","c"]]"#);
        assert_eq!(serde_json::from_str::<HeaderList>(&json).unwrap(), list);
        assert!(HeaderList::default().is_empty() && !list.is_empty());
    }

    #[test]
    fn values_are_replaced_and_names_are_not() {
        let mut list: HeaderList = [("secret", "a secret"), ("b", "c")].into_iter().collect();
        list.map_values(|text| {
            if text.contains("secret") { text.replace("secret", "*").into() } else { text.into() }
        });
        assert_eq!(list.iter().collect::<Vec<_>>(), [("secret", "a *"), ("b", "c")]);
    }
}
