//! The locations that one process hosts, each with a network, limits and health of its own.

use std::collections::BTreeMap;

use super::concurrency::{ConcurrencySettings, read_concurrency};
use super::setting_type::{parse_endpoint, parse_name_server};
use super::settings_reader::{SettingsReader, null_node};
use crate::domain::{Location, LocationId};
use crate::net::{EgressPolicy, Endpoint, NameServers, NetConfig, SourceBinding, UpstreamProxy};
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::Node;

/// A location that this process hosts.
#[derive(Clone, Debug)]
pub struct HostedLocation {
    /// What people see of it.
    pub location: Location,
    /// Its network.
    pub net: NetConfig,
    /// The HTTP proxy through which TCP connections of checks leave.
    pub proxy: Option<UpstreamProxy>,
    /// The proxies that monitors name, by id; the same at every location.
    pub proxies: BTreeMap<i64, UpstreamProxy>,
    /// How much runs there at once.
    pub concurrency: ConcurrencySettings,
    /// Whether it looks at failures of monitors that do not run there.
    pub verifies: bool,
    /// What it should always reach; none leaves every failure as it is.
    pub connectivity_targets: Vec<Endpoint>,
}

/// The entries of `locations`.
pub(super) fn read_other_locations(reader: &mut SettingsReader<'_>) -> Vec<HostedLocation> {
    let first = reader.number("location.id");
    let mut others = Vec::new();
    for (at, entry) in reader.entries("locations") {
        let number = |name: &str| entry.get(name).and_then(|node| node.to_json().as_i64());
        let id = number("id").unwrap_or_default();
        if id == first {
            let position = entry.get("id").map_or(entry.position, |node| node.position);
            let path = format!("locations[{at}].id");
            let message = format!("`{path}` is the number of the location of `location` already");
            reader.add_error(ValidationErrorKind::DuplicateField, &path, position, message);
        }
        let proxy = read_proxy(reader, &format!("locations[{at}]"), |name| entry.get(name).cloned());
        others.push(HostedLocation { proxy, ..read_location(reader, &entry, LocationId(id)) });
    }
    others
}

/// The proxy of the location at `path` with its login, out of the values that `of` knows by name.
pub(super) fn read_proxy(
    reader: &mut SettingsReader<'_>,
    path: &str,
    of: impl Fn(&str) -> Option<Node>,
) -> Option<UpstreamProxy> {
    let text = |name: &str| of(name).as_ref().and_then(Node::as_text).map(str::to_owned);
    let place = |name: &str| of(name).map(|node| node.position).unwrap_or_default();
    let (username, password) = ("proxy_username", "proxy_password_file");
    for (there, missing) in [(username, "proxy"), (password, username)] {
        if text(there).is_some() && text(missing).is_none() {
            let message = format!("`{path}.{there}` needs `{path}.{missing}` as well");
            reader.add_error(
                ValidationErrorKind::MissingField,
                &format!("{path}.{there}"),
                place(there),
                message,
            );
        }
    }
    let name = text(username);
    if name.as_ref().is_some_and(|name| name.contains(':')) {
        // Where it ends would not be known (RFC 7617, section 2).
        let message = format!("`{path}.{username}` must be a text without a colon");
        reader.add_error(
            ValidationErrorKind::Format,
            &format!("{path}.{username}"),
            place(username),
            message,
        );
    }
    let secret = of(password).map(|node| reader.read_secret_file(&format!("{path}.{password}"), &node));
    let proxy = UpstreamProxy::from(parse_endpoint(&text("proxy")?)?);
    Some(match name {
        Some(name) => proxy.with_credentials(&name, &secret.unwrap_or_default().0),
        None => proxy,
    })
}

fn read_location(reader: &SettingsReader<'_>, entry: &Node, id: LocationId) -> HostedLocation {
    let number = |name: &str| entry.get(name).and_then(|node| node.to_json().as_i64());
    let most =
        |name: &str, own: usize| number(name).and_then(|most| usize::try_from(most).ok()).unwrap_or(own);
    let engine = read_concurrency(reader);
    let name = entry.get("name").and_then(Node::as_text).unwrap_or_default().to_owned();
    HostedLocation {
        location: Location { id, name, region: number("region").unwrap_or_default() },
        net: read_net_config(|name| entry.get(name).unwrap_or_else(|| null_node())),
        proxy: None,
        proxies: BTreeMap::new(),
        concurrency: ConcurrencySettings {
            total: most("total", engine.total),
            light: most("light", engine.light),
            heavy: most("heavy", engine.heavy),
            per_target: most("per_target", engine.per_target),
            queue_capacity: most("queue", engine.queue_capacity),
            drain_timeout: engine.drain_timeout,
        },
        verifies: entry.get("verifies").is_some_and(|node| node.to_json() == true),
        connectivity_targets: entry.get("connectivity_targets").map(read_endpoints).unwrap_or_default(),
    }
}

/// The network that the settings `of` one location describe, without whom it trusts. Their values were checked
/// one by one; together they cannot fail.
pub(super) fn read_net_config<'a>(of: impl Fn(&str) -> &'a Node) -> NetConfig {
    let text = |name: &str| of(name).as_text().map(str::to_owned);
    let texts = |name: &str| -> Vec<String> {
        of(name).items().iter().filter_map(Node::as_text).map(str::to_owned).collect()
    };
    let servers: Vec<_> = texts("name_servers").iter().filter_map(|text| parse_name_server(text)).collect();
    let standard = NetConfig::default();
    NetConfig {
        name_servers: if servers.is_empty() { NameServers::System } else { NameServers::Explicit(servers) },
        control_name: text("control_name").unwrap_or(standard.control_name),
        egress: EgressPolicy::parse(&texts("egress_allow"), &texts("egress_deny")).unwrap_or_default(),
        source: SourceBinding {
            v4: text("source_ipv4").and_then(|text| text.parse().ok()),
            v6: text("source_ipv6").and_then(|text| text.parse().ok()),
            interface: text("interface"),
        },
        trust: standard.trust,
    }
}

/// The hosts with their ports that `node` lists.
pub(super) fn read_endpoints(node: &Node) -> Vec<Endpoint> {
    node.items().iter().filter_map(Node::as_text).filter_map(parse_endpoint).collect()
}
