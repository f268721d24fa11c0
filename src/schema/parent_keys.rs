//! The keys of monitors under `depends_on` of an entry in a file.

use super::table::shared::MAX_PARENTS;
use crate::syntax::node::{Node, NodeValue, Position};

pub(super) const DEPENDS_ON_FIELD: &str = "depends_on";

/// A monitor that another one in a file depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentKey {
    /// Its key.
    pub key: String,
    /// Position in the file.
    pub position: Position,
}

/// Splits the keys off the `depends_on` of an entry, whose rest holds ids; `None` when it has no keys.
#[must_use]
pub fn split_parent_keys(entry: &Node) -> Option<(Node, Vec<ParentKey>)> {
    let parents = entry.get(DEPENDS_ON_FIELD).filter(|parents| parents.items().iter().any(is_key))?;
    // A list that is too long stays as it is, so that its length is an error.
    if parents.items().len() > MAX_PARENTS {
        return None;
    }
    let mut keys: Vec<ParentKey> = Vec::new();
    let mut entry = entry.clone();
    let NodeValue::Map(fields) = &mut entry.value else { return None };
    for (_, parents) in fields.iter_mut().filter(|(name, _)| name.name == DEPENDS_ON_FIELD) {
        let NodeValue::List(items) = &mut parents.value else { continue };
        keys = items.iter().filter_map(to_parent_key).collect();
        items.retain(|item| !is_key(item));
    }
    Some((entry, keys))
}

fn is_key(item: &Node) -> bool {
    item.as_text().is_some()
}

fn to_parent_key(item: &Node) -> Option<ParentKey> {
    Some(ParentKey { key: item.as_text()?.to_owned(), position: item.position })
}
