//! Tests resolving, connecting, proxies, TLS and traceroutes over real loopback sockets.

mod connect;
mod exchange;
mod proxy;
mod proxy_table;
mod resolve;
mod revocation;
mod tls;
mod tls_chains;
mod traceroute;

use std::time::Duration;

use vigie::net::{Deadline, Net, NetConfig, PublicRoots, TrustConfig};

fn net_with(change: impl FnOnce(&mut NetConfig)) -> Net {
    let trust = TrustConfig { public_roots: PublicRoots::None, ..TrustConfig::default() };
    let mut config = NetConfig { trust_config: trust, ..NetConfig::default() };
    change(&mut config);
    Net::new(&config).unwrap()
}

fn net() -> Net {
    net_with(|_| {})
}

fn within(millis: u64) -> Deadline {
    Deadline::within(Duration::from_millis(millis))
}

/// Returns a deadline that is reached only because of a bug.
fn long_deadline() -> Deadline {
    within(10_000)
}
