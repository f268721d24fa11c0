//! The locations that one process hosts, each with its own network, limits and health.

use std::collections::BTreeMap;

use super::concurrency::{ConcurrencySettings, read_concurrency};
use super::egress::read_networks_by_account;
use super::setting_type::{parse_endpoint, parse_name_server};
use super::settings_reader::{SettingsReader, null_node};
use crate::domain::{Location, LocationId};
use crate::net::{EgressPolicy, Endpoint, NameServers, NetConfig, SourceBinding, UpstreamProxy};
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::Node;

/// A location that this process hosts.
#[derive(Clone, Debug)]
pub struct HostedLocation {
    /// Id, name and region of the location.
    pub location: Location,
    /// Network of the location.
    pub net: NetConfig,
    /// HTTP proxy for outgoing TCP connections of checks.
    pub proxy: Option<UpstreamProxy>,
    /// Proxies that monitors refer to, by id; the same at every location.
    pub proxies: BTreeMap<i64, UpstreamProxy>,
    /// Limits of concurrent checks there.
    pub concurrency: ConcurrencySettings,
    /// Whether it verifies failures of monitors that do not run there.
    pub can_verify: bool,
    /// Targets that it should always reach; without any, no failure counts as one of the location.
    pub connectivity_targets: Vec<Endpoint>,
}

/// Reads the entries of `locations`.
pub(super) fn read_other_locations(reader: &mut SettingsReader<'_>) -> Vec<HostedLocation> {
    let first_location_id = reader.int("location.id");
    let networks_by_account = read_networks_by_account(reader);
    let mut other_locations = Vec::new();
    for (index, entry) in reader.entries_reporting_duplicates("locations") {
        let int = |name: &str| entry.get(name).and_then(|node| node.to_json().as_i64());
        let id = int("id").unwrap_or_default();
        if id == first_location_id {
            let position = entry.get("id").map_or(entry.position, |node| node.position);
            let path = format!("locations[{index}].id");
            let message = format!("`{path}` is already the id of the location in `location`");
            reader.add_error(ValidationErrorKind::DuplicateField, &path, position, message);
        }
        let proxy = read_proxy(reader, &format!("locations[{index}]"), |name| entry.get(name).cloned());
        let mut location = HostedLocation { proxy, ..read_location(reader, &entry, LocationId(id)) };
        location.net.egress_policy = location.net.egress_policy.with_accounts(networks_by_account.clone());
        other_locations.push(location);
    }
    other_locations
}

/// Reads the proxy of the location at `path` with its credentials; `value_of` returns values by name.
pub(super) fn read_proxy(
    reader: &mut SettingsReader<'_>,
    path: &str,
    value_of: impl Fn(&str) -> Option<Node>,
) -> Option<UpstreamProxy> {
    let text = |field_name: &str| value_of(field_name).as_ref().and_then(Node::as_text).map(str::to_owned);
    let position_of = |field_name: &str| value_of(field_name).map(|node| node.position).unwrap_or_default();
    let (username_field, password_field) = ("proxy_username", "proxy_password_file");
    for (dependent, needed) in [(username_field, "proxy"), (password_field, username_field)] {
        if text(dependent).is_some() && text(needed).is_none() {
            let message = format!("`{path}.{dependent}` needs `{path}.{needed}` as well");
            reader.add_error(
                ValidationErrorKind::MissingField,
                &format!("{path}.{dependent}"),
                position_of(dependent),
                message,
            );
        }
    }
    let login_name = text(username_field);
    if login_name.as_ref().is_some_and(|login_name| login_name.contains(':')) {
        // The end of the name would be ambiguous (RFC 7617, section 2).
        let message = format!("`{path}.{username_field}` must be a text without a colon");
        reader.add_error(
            ValidationErrorKind::Format,
            &format!("{path}.{username_field}"),
            position_of(username_field),
            message,
        );
    }
    let password = value_of(password_field)
        .map(|node| reader.read_secret_file(&format!("{path}.{password_field}"), &node));
    let proxy = UpstreamProxy::from(parse_endpoint(&text("proxy")?)?);
    Some(match login_name {
        Some(login_name) => proxy.with_credentials(&login_name, &password.unwrap_or_default().0),
        None => proxy,
    })
}

fn read_location(reader: &SettingsReader<'_>, entry: &Node, id: LocationId) -> HostedLocation {
    let int = |name: &str| entry.get(name).and_then(|node| node.to_json().as_i64());
    let limit = |name: &str, default: usize| {
        int(name).and_then(|limit| usize::try_from(limit).ok()).unwrap_or(default)
    };
    let defaults = read_concurrency(reader);
    let name = entry.get("name").and_then(Node::as_text).unwrap_or_default().to_owned();
    HostedLocation {
        location: Location { id, name, region_code: int("region").unwrap_or_default() },
        net: read_net_config(|name| entry.get(name).unwrap_or_else(|| null_node())),
        proxy: None,
        proxies: BTreeMap::new(),
        concurrency: ConcurrencySettings {
            total: limit("total", defaults.total),
            light: limit("light", defaults.light),
            heavy: limit("heavy", defaults.heavy),
            per_target: limit("per_target", defaults.per_target),
            queue_capacity: limit("queue", defaults.queue_capacity),
            drain_timeout: defaults.drain_timeout,
        },
        can_verify: entry.get("verifies").is_some_and(|node| node.to_json() == true),
        connectivity_targets: entry.get("connectivity_targets").map(read_endpoints).unwrap_or_default(),
    }
}

/// Reads the network settings of one location, without the trust settings. Each value is already checked, and their
/// combination cannot fail.
pub(super) fn read_net_config<'a>(value_of: impl Fn(&str) -> &'a Node) -> NetConfig {
    let text = |name: &str| value_of(name).as_text().map(str::to_owned);
    let texts = |name: &str| -> Vec<String> {
        value_of(name).items().iter().filter_map(Node::as_text).map(str::to_owned).collect()
    };
    let servers: Vec<_> = texts("name_servers").iter().filter_map(|text| parse_name_server(text)).collect();
    let defaults = NetConfig::default();
    NetConfig {
        name_servers: if servers.is_empty() { NameServers::System } else { NameServers::Explicit(servers) },
        control_name: text("control_name").unwrap_or(defaults.control_name),
        egress_policy: EgressPolicy::parse(&texts("egress_allow"), &texts("egress_deny")).unwrap_or_default(),
        source_binding: SourceBinding {
            ipv4: text("source_ipv4").and_then(|text| text.parse().ok()),
            ipv6: text("source_ipv6").and_then(|text| text.parse().ok()),
            interface: text("interface"),
        },
        trust_config: defaults.trust_config,
    }
}

/// Returns the hosts and ports in the list `node`.
pub(super) fn read_endpoints(node: &Node) -> Vec<Endpoint> {
    node.items().iter().filter_map(Node::as_text).filter_map(parse_endpoint).collect()
}
