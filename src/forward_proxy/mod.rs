//! The forward proxy of one browser, through which everything that it loads uses the network of its location.
//!
//! Handles `CONNECT` (RFC 9110 9.3.6) and requests in absolute form (RFC 9112 3.2.2). Both connect with
//! [`Net::connect`](crate::net::Net::connect), so that resolver, egress policy, source address, families and proxies
//! apply to a browser as to any other check. Nothing is spawned: [`ForwardProxy::serve`] polls everything, and
//! everything ends with that future.

mod allowed_clients;
mod blocked_hosts;
mod browser_connection;
mod config;
mod forward_request;
mod http1_builders;
mod http_relay;
mod prefixed_stream;
mod proxy;
mod serve;
mod target_log;
mod tls_interception;
mod trace_context;
mod upstream_connection;

pub use allowed_clients::{AllowedClients, SocketOwner};
pub use blocked_hosts::{BlockedHosts, HostPatternError};
pub use config::{ForwardProxyConfig, PROXY_ERROR_HEADER};
pub use forward_request::strip_hop_by_hop;
pub use proxy::{ConnectionRelay, ForwardProxy};
pub use target_log::TargetConnection;
