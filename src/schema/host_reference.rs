//! How a monitor refers to a host: by its id or its name.

use std::collections::BTreeMap;

/// Returns the id of the host that `reference` means; an id goes before a name that looks like one.
#[must_use]
pub fn find_host_id(hosts: &BTreeMap<i64, String>, reference: &str) -> Option<i64> {
    let id = reference.parse().ok().filter(|id| hosts.contains_key(id));
    id.or_else(|| hosts.iter().find(|(_, name)| *name == reference).map(|(id, _)| *id))
}
