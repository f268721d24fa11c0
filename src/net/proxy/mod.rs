//! The way through a forward proxy: it connects to an address for us, then the connection is the target's.
//!
//! Names are resolved here, and the egress policy holds for what they resolve to and for the proxy itself. That
//! the proxy cannot be used is our fault (95); what it says of the target is the target's.

mod failure;
mod http_connect;
mod proxy_config;
mod socks5;
mod tunnel;

pub use proxy_config::{ProxyKind, UpstreamProxy};
