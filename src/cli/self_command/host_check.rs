//! What this host has of that which checks need. Nothing is sent to the network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use super::host_limits;
use super::host_need::{Need, State};
use crate::browser::{BrowserKind, BrowserPool};
use crate::net::{NameServers, Net, PublicRoots, load_public_roots};
use crate::settings::{HostedLocation, Settings};

/// Looks at everything.
pub(super) async fn check(settings: &Settings, location: &HostedLocation) -> Vec<Need> {
    vec![
        ping(location).await,
        host_limits::clock(),
        name_servers(location),
        certificates(location),
        host_limits::open_files(),
        host_limits::disk(&settings.data_dir),
        ipv6(),
        browsers(settings),
    ]
}

async fn ping(location: &HostedLocation) -> Need {
    let net = match Net::new(&location.net) {
        Ok(net) => net,
        Err(error) => return Need::unmet("ping", State::Unknown, &format!("no network: {error}"), None),
    };
    match net.echo_socket(IpAddr::V4(Ipv4Addr::LOCALHOST)).await {
        Ok(socket) => Need::ready("ping", format!("{} sockets for echo requests", socket.socket_kind())),
        Err(failure) => Need::unmet("ping", State::Lacking, &failure.detail, None),
    }
}

fn name_servers(location: &HostedLocation) -> Need {
    const NAME: &str = "name servers";
    if let NameServers::Explicit(servers) = &location.net.name_servers {
        return Need::ready(NAME, format!("{} of the settings", servers.len()));
    }
    let path = "/etc/resolv.conf";
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let hint = "create it, or set `location.name_servers`";
            return Need::unmet(NAME, State::Lacking, &format!("`{path}`: {error}"), Some(hint));
        }
    };
    match text.lines().filter(|line| line.trim_start().starts_with("nameserver")).count() {
        // Without an entry, the name server of this host is asked (resolv.conf(5)).
        0 => Need::unmet(
            NAME,
            State::Lacking,
            &format!("`{path}` names none"),
            Some("add `nameserver ADDRESS` there, or set `location.name_servers`"),
        ),
        count => Need::ready(NAME, format!("{count} in `{path}`")),
    }
}

fn certificates(location: &HostedLocation) -> Need {
    const NAME: &str = "certificates";
    if location.net.trust_config.public_roots == PublicRoots::None {
        return Need::ready(NAME, "only the authorities of the settings are trusted");
    }
    let loaded = load_public_roots();
    match loaded.system_certificates.len() {
        0 => Need::unmet(
            NAME,
            State::Absent,
            &format!(
                "the system trusts none; the {} of Mozilla are used that are built in",
                loaded.roots.len()
            ),
            Some("TLS to PostgreSQL needs them, and updates: apt-get install ca-certificates"),
        ),
        count => Need::ready(NAME, format!("{count} authorities of the system")),
    }
}

fn ipv6() -> Need {
    // Connecting a socket for datagrams looks for a route and sends nothing. The address is one of the root servers.
    let address = Ipv6Addr::new(0x2001, 0x500, 0x2d, 0, 0, 0, 0, 0xd);
    let connected =
        UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).and_then(|socket| socket.connect((address, 53)));
    match connected {
        Ok(()) => Need::ready("IPv6", "there is a route"),
        Err(error) => Need::unmet(
            "IPv6",
            State::Absent,
            &format!("no route: {error}"),
            Some("only monitors of targets without an IPv4 address need it"),
        ),
    }
}

fn browsers(settings: &Settings) -> Need {
    let pool = BrowserPool::new(settings.browser_pool_config.clone());
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for kind in BrowserKind::ALL {
        match pool.executable_or_endpoint(kind) {
            Ok(place) => found.push(format!("{} `{place}`", kind.name())),
            Err(failure) => missing.push(failure.detail),
        }
    }
    if !found.is_empty() {
        return Need::ready("browsers", found.join(", "));
    }
    Need::unmet(
        "browsers",
        State::Absent,
        missing.first().map_or("", |detail| detail.lines().next().unwrap_or_default()),
        Some("for `browserscript` monitors: apt-get install chromium chromium-driver"),
    )
}
