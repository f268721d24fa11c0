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

pub use abrupt::{ResetOnClose, set_reset_on_close};
pub use config::NetConfig;
pub use deadline::Deadline;
pub use dial::{CONNECTION_ATTEMPT_DELAY, enable_quick_ack, primary_failure};
pub use echo::{EchoOutcome, EchoSocket, IcmpError, PendingEcho};
pub use egress::{DENIED_BY_DEFAULT, EgressDenied, EgressPolicy, effective_address};
pub use endpoint::{AddressFamily, ConnectTrace, Endpoint};
pub use error::NetError;
pub use exchange::{closed_failure, io_failure, read_line, read_more, read_to_len, write_all};
pub use names::NameServers;
pub use network::{IpNetwork, ParseIpNetworkError};
pub use proxy::{ProxyKind, UpstreamProxy};
pub use quic::{QuicConnection, QuicMeter, connection_failure as quic_closed};
pub use socket::SourceBinding;
pub use stack::Net;
pub use stream::MaybeTlsStream;
pub use timed::{IoTimestamps, TimedStream};
#[cfg(feature = "legacy-tls")]
pub use tls::LegacyTlsVersion;
pub use tls::{
    Pem, Roots, TlsOptions, TlsSession, TlsStream, TlsVersions, TrustConfig, warm_up, was_resumed,
};
pub use traceroute::{
    HopReply as RouteAnswer, Route, RouteEnd, RouteHop, Traceroute, TracerouteMethod, TracerouteOptions,
};
