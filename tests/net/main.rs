//! The way to a target over real loopback sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../support/closed.rs"]
mod closed;
mod connect;
mod exchange;
#[allow(dead_code)]
#[path = "../support/name_server.rs"]
mod name_server;
#[path = "../support/namespace.rs"]
mod namespace;
mod proxy;
mod proxy_table;
mod resolve;
#[path = "../support/routers.rs"]
mod routers;
mod tls;
#[path = "../support/tls_server.rs"]
mod tls_server;
mod traceroute;

use std::time::Duration;

use vigie::net::{Deadline, Net, NetConfig, Roots, Trust};

fn net_with(change: impl FnOnce(&mut NetConfig)) -> Net {
    let trust = Trust { roots: Roots::None, ..Trust::default() };
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
