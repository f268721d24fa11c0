//! Connections through a forward proxy, which connects to an address and then relays the data.
//!
//! Names are resolved here, and the egress policy applies to the resolved addresses and to the proxy itself. An
//! unusable proxy is Vigie's own fault (status 95); a failure that it reports about the target is the target's.

mod failure;
mod http_connect;
mod proxy_config;
mod socks5;
mod tunnel;

pub use proxy_config::{ProxyProtocol, UpstreamProxy};
