//! What the settings of an agent say about its network, as it tells the control plane.

use std::net::IpAddr;

use crate::bus::contract::{AgentNetwork, MAX_NETWORK_ENTRIES};
use crate::net::NameServers;
use crate::settings::HostedLocation;

/// Returns the network of `location`, without logins of proxies.
pub(super) fn agent_network(location: &HostedLocation) -> AgentNetwork {
    let net = &location.net;
    let source = &net.source_binding;
    let addresses = source.ipv4.map(IpAddr::V4).into_iter().chain(source.ipv6.map(IpAddr::V6));
    let (egress_allow, egress_deny) = net.egress_policy.own_rules();
    AgentNetwork {
        source_addresses: addresses.collect(),
        interface: source.interface.clone().unwrap_or_default(),
        name_servers: match &net.name_servers {
            NameServers::System => Vec::new(),
            NameServers::Explicit(servers) => texts(servers),
        },
        proxy: location.proxy.as_ref().map_or_else(String::new, |proxy| proxy.endpoint().to_string()),
        proxy_ids: location.proxies.keys().copied().take(MAX_NETWORK_ENTRIES).collect(),
        egress_allow: texts(&egress_allow),
        egress_deny: texts(&egress_deny),
        connectivity_targets: texts(&location.connectivity_targets),
    }
}

fn texts(values: &[impl ToString]) -> Vec<String> {
    values.iter().take(MAX_NETWORK_ENTRIES).map(ToString::to_string).collect()
}
