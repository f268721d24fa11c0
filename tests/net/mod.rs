//! The way to a target over real loopback sockets.

mod connect;
mod exchange;
mod proxy;
mod proxy_table;
mod resolve;
mod tls;
mod traceroute;

use std::time::Duration;

use vigie::net::{Deadline, Net, NetConfig, Roots, TrustConfig};

fn net_with(change: impl FnOnce(&mut NetConfig)) -> Net {
    let trust = TrustConfig { roots: Roots::None, ..TrustConfig::default() };
    let mut config = NetConfig { trust, ..NetConfig::default() };
    change(&mut config);
    Net::new(&config).unwrap()
}

fn net() -> Net {
    net_with(|_| {})
}

fn within(millis: u64) -> Deadline {
    Deadline::within(Duration::from_millis(millis))
}

/// Long enough that only a defect reaches it.
fn soon() -> Deadline {
    within(10_000)
}
