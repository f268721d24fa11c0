//! The way to a target: resolve, dial, TLS, each timed, bounded and held to the egress policy.
//!
//! Nothing here knows a monitor or judges what it sees. A [`Net`] is the network
//! configuration of one location; every attempt opens cold connections of its own through it.

mod abrupt;
mod deadline;
mod dial;
mod echo;
mod egress;
mod endpoint;
mod exchange;
mod icmp;
mod network;
mod proxy;
mod quic;
mod resolve;
mod socket;
mod stream;
mod timed;
mod tls;
mod traceroute;

pub use abrupt::{Abrupt, end_by_reset};
pub use deadline::Deadline;
pub use dial::{STAGGER, acknowledge_at_once, decisive};
pub use echo::{EchoReply, EchoSocket, EchoWait, IcmpError};
pub use egress::{DENIED_BY_DEFAULT, Denied, EgressPolicy, canonical};
pub use endpoint::{Endpoint, Family, Trace};
pub use exchange::{closed, exchange_failure, read_line, read_more, read_to, write_all};
pub use network::{Network, NetworkError};
pub use proxy::{Proxy, ProxyKind};
pub use quic::{Gauge, Quic, closed as quic_closed};
pub use resolve::NameServers;
pub use socket::Source;
pub use stream::Stream;
pub use timed::{Marks, Timed};
#[cfg(feature = "legacy-tls")]
pub use tls::OldVersion;
pub use tls::{Pem, Roots, TlsOptions, TlsSession, TlsStream, TlsVersions, Trust, warm_up, was_resumed};
pub use traceroute::{Answer as RouteAnswer, Hop, Route, RouteEnd, RouteMethod, RouteOptions, Traced};

use crate::sync::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The network of one location, as settings describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetConfig {
    /// Who is asked for names.
    pub name_servers: NameServers,
    /// Name whose NS records are asked for when the resolver is silent about a target. The root needs
    /// nobody else's name, and every resolver has it at hand.
    pub control_name: String,
    /// Which addresses may be talked to.
    pub egress: EgressPolicy,
    /// Where connections leave this host.
    pub source: Source,
    /// Who vouches for servers.
    pub trust: Trust,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self {
            name_servers: NameServers::default(),
            control_name: ".".to_owned(),
            egress: EgressPolicy::default(),
            source: Source::default(),
            trust: Trust::default(),
        }
    }
}

/// Why a network cannot be used as configured.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// A certificate or key cannot be used.
    #[error("`{label}` cannot be used: {detail}")]
    Pem {
        /// Where it came from.
        label: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The resolver cannot be set up.
    #[error("the resolver cannot be set up: {0}")]
    Resolver(String),
    /// TLS cannot be set up.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl NetError {
    /// The stable word for this kind of error.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Pem { .. } => "pem",
            Self::Resolver(_) => "resolver",
            Self::Tls(_) => "tls",
        }
    }
}

/// The network of one location. Made anew when settings change; only certificates and named proxies come and go in
/// between ([`Net::bring_certificates`], [`Net::bring_proxies`]).
#[derive(Debug)]
pub struct Net {
    names: resolve::Names,
    egress: EgressPolicy,
    source: Source,
    proxy: Option<Proxy>,
    proxies: RwLock<BTreeMap<i64, Arc<Proxy>>>,
    tls: tls::Tls,
    echo: echo::Echoes,
}

impl Net {
    /// Reads the system's resolver configuration and certificates where `config` asks for them.
    pub fn new(config: &NetConfig) -> Result<Self, NetError> {
        Ok(Self {
            names: resolve::Names::new(&config.name_servers, &config.control_name, &config.source)?,
            egress: config.egress.clone(),
            source: config.source.clone(),
            proxy: None,
            proxies: RwLock::default(),
            tls: tls::Tls::new(&config.trust)?,
            echo: echo::Echoes::default(),
        })
    }

    /// Which addresses may be talked to.
    #[must_use]
    pub fn egress(&self) -> &EgressPolicy {
        &self.egress
    }

    /// Where connections leave this host.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }
}
