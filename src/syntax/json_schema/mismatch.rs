//! Where and why a value does not match.

use std::fmt::Write as _;

use serde_json::Value;

/// The first place where a value does not match.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// JSON pointer in the value; empty is the value itself.
    pub pointer: String,
    /// Keyword of the schema that it violates; empty when the search for the place would be too costly.
    pub keyword: String,
    /// What the keyword expects, without the value.
    pub expectation: String,
}

impl Mismatch {
    /// Returns the place as a JSONPath from the value on, such as `$.items[3]["unit price"]`.
    #[must_use]
    pub fn json_path(&self, value: &Value) -> String {
        let mut path = "$".to_owned();
        let mut current = Some(value);
        for segment in self.pointer.split('/').skip(1) {
            let name = segment.replace("~1", "/").replace("~0", "~");
            let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let is_array = current.is_some_and(Value::is_array);
            let _ = match (is_array, is_identifier) {
                (true, _) => write!(path, "[{name}]"),
                (false, true) => write!(path, ".{name}"),
                (false, false) => write!(path, "[{}]", Value::from(name.as_str())),
            };
            current = current.and_then(|value| match value {
                Value::Array(items) => items.get(name.parse::<usize>().ok()?),
                value => value.get(&name),
            });
        }
        path
    }

    /// Returns the value at the place.
    #[must_use]
    pub fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.pointer(&self.pointer)
    }
}
