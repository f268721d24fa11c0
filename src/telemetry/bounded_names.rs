//! Names that users choose, as labels of metrics: only the first ones have a series of their own.

use std::collections::HashSet;
use std::sync::Arc;

use crate::sync::RwLock;

/// The label of all names beyond the first ones.
const OTHER: &str = "other";
/// Longest label, in characters.
const MAX_LABEL_CHARS: usize = 100;

/// The names that have a series of their own.
#[derive(Debug)]
pub(super) struct BoundedNames {
    max_names: usize,
    names: RwLock<HashSet<Arc<str>>>,
}

impl BoundedNames {
    pub(super) fn new(max_names: usize) -> Self {
        Self { max_names, names: RwLock::new(HashSet::new()) }
    }

    /// Returns the label of `name`: itself, or `other` once there are too many names.
    pub(super) fn label(&self, name: &str) -> Arc<str> {
        let end = name.char_indices().nth(MAX_LABEL_CHARS).map_or(name.len(), |(at, _)| at);
        let name = &name[..end];
        if let Some(known) = self.names.read().get(name) {
            return Arc::clone(known);
        }
        let mut names = self.names.write();
        if names.len() >= self.max_names && !names.contains(name) {
            return OTHER.into();
        }
        let name: Arc<str> = name.into();
        names.insert(Arc::clone(&name));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_names_are_counted_as_other() {
        let names = BoundedNames::new(2);
        let labels = ["a", "b", "c", "a", "d"].map(|name| names.label(name).to_string());
        assert_eq!(labels, ["a", "b", "other", "a", "other"]);
        let long = "é".repeat(1000);
        assert_eq!(BoundedNames::new(1).label(&long).chars().count(), MAX_LABEL_CHARS);
    }
}
