//! The way to a target: resolve, dial, TLS, each timed, bounded and held to the egress policy.
//!
//! Nothing here knows a monitor or judges what it sees. A [`Net`] is the network
//! configuration of one location; every attempt opens cold connections of its own through it.

mod abrupt;
mod config;
mod deadline;
mod dial;
mod echo;
mod egress;
mod endpoint;
mod error;
mod exchange;
mod icmp;
mod names;
mod network;
mod proxy;
mod quic;
mod resolve;
mod socket;
mod stack;
mod stream;
mod timed;
mod tls;
mod traceroute;

pub use abrupt::{Abrupt, end_by_reset};
pub use config::NetConfig;
pub use deadline::Deadline;
pub use dial::{STAGGER, acknowledge_at_once, decisive};
pub use echo::{EchoReply, EchoSocket, EchoWait, IcmpError};
pub use egress::{DENIED_BY_DEFAULT, Denied, EgressPolicy, canonical};
pub use endpoint::{Endpoint, Family, Trace};
pub use error::NetError;
pub use exchange::{closed, exchange_failure, read_line, read_more, read_to, write_all};
pub use names::NameServers;
pub use network::{Network, NetworkError};
pub use proxy::{Proxy, ProxyKind};
pub use quic::{Gauge, Quic, closed as quic_closed};
pub use socket::Source;
pub use stack::Net;
pub use stream::Stream;
pub use timed::{Marks, Timed};
#[cfg(feature = "legacy-tls")]
pub use tls::OldVersion;
pub use tls::{Pem, Roots, TlsOptions, TlsSession, TlsStream, TlsVersions, Trust, warm_up, was_resumed};
pub use traceroute::{Answer as RouteAnswer, Hop, Route, RouteEnd, RouteMethod, RouteOptions, Traced};
