//! What single accounts may connect to.

use std::collections::BTreeMap;

use super::settings_reader::SettingsReader;
use crate::domain::CustomerId;
use crate::net::IpNetwork;
use crate::syntax::node::Node;

/// Reads the networks that are allowed to single accounts, at every location.
pub(super) fn read_networks_by_account(
    reader: &mut SettingsReader<'_>,
) -> BTreeMap<CustomerId, Vec<IpNetwork>> {
    let entries = reader.entries_reporting_duplicates("egress.accounts");
    let accounts = entries.iter().filter_map(|(_, entry)| {
        let account = entry.get("account")?.to_json().as_i64()?;
        let networks = entry.get("allow")?.items().iter().filter_map(Node::as_text);
        Some((CustomerId(account), networks.filter_map(|text| text.parse().ok()).collect()))
    });
    accounts.collect()
}
