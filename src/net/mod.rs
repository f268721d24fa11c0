//! Connections to targets: resolving, dialling and TLS, each timed, bounded and subject to the egress policy.
//!
//! This module knows no monitors and evaluates nothing. A [`Net`] is the network configuration of one location; every
//! attempt opens new connections through it.

mod bounded_io;
mod config;
mod connection_pacer;
mod deadline;
mod dial;
mod echo;
mod egress;
mod endpoint;
mod error;
mod icmp_socket;
mod ip_network;
mod proxy;
mod quic;
mod record_lookup;
mod reset_on_close;
mod resolve;
mod resolver;
mod socket;
mod stack;
mod stream;
mod timed_stream;
mod tls;
mod traceroute;

pub use bounded_io::{connection_closed_failure, io_failure, read_line, read_more, read_to_len, write_all};
pub use config::NetConfig;
pub use connection_pacer::ConnectionPacer;
pub use deadline::Deadline;
pub use dial::{CONNECTION_ATTEMPT_DELAY, enable_quick_ack, primary_failure};
pub use echo::{EchoResult, EchoSocket, IcmpError, PendingEcho};
pub use egress::{
    DENIED_BY_DEFAULT, EgressDenied, EgressPolicy, ProtectedService, effective_address, protect_address,
    protect_local_port,
};
pub use endpoint::{AddressFamily, ConnectionTrace, Endpoint};
pub use error::NetConfigError;
pub use ip_network::{IpNetwork, ParseIpNetworkError};
pub use proxy::{ProxyProtocol, UpstreamProxy};
pub use quic::{QuicConnection, QuicMeter, quic_connection_failure};
pub use record_lookup::RecordLookup;
pub use reset_on_close::{ResetOnClose, set_reset_on_close};
pub use resolver::NameServers;
pub use socket::SourceBinding;
pub use stack::Net;
pub use stream::MaybeTlsStream;
pub use timed_stream::{IoTimestamps, TimedStream};
#[cfg(feature = "legacy-tls")]
pub use tls::LegacyTlsVersion;
pub use tls::{
    IdentityRequest, LoadedRoots, Pem, PresentedIdentity, PublicRoots, TlsClient, TlsOptions, TlsStream,
    TlsVersions, TrustConfig, io_error_text, load_public_roots, pinned_or_issued, warm_up_crypto,
    was_tls_session_resumed,
};
pub use traceroute::{
    HopReply, Route, RouteEnd, RouteHop, TracerouteMethod, TracerouteOptions, TracerouteResult,
};
