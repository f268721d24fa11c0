//! The forward proxy of one browser: everything that it fetches leaves through the network of its location.
//!
//! `CONNECT` (RFC 9110 9.3.6) and requests in absolute form (RFC 9112 3.2.2), each over
//! [`Net::connect`](crate::net::Net::connect), so that resolver, egress policy, source address, families and proxies
//! hold for a browser as for any other check.
//! Nothing is spawned: all of it is polled by [`ForwardProxy::serve`] and ends with that future.

mod blocked;
mod bridge;
mod exchange;
mod http1;
mod ledger;
mod peer;
mod prefixed;
mod proxy;
mod relay;
mod rules;
mod serve;
mod tracing;
mod upstream;
mod visit;

pub use blocked::{BlockedHosts, HostPatternError};
pub use ledger::TargetConnection;
pub use peer::AllowedClients;
pub use proxy::ForwardProxy;
pub use rules::{ForwardProxyConfig, REFUSED_HEADER};
pub use tracing::TraceId;
