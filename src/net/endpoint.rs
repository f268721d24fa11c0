//! The endpoint of a connection, and the trace of connecting to it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::domain::{Phases, TlsFacts};

/// Which address families are tried, and in which order (fields.md 3 `ipv6_enabled`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressFamily {
    /// Both, raced (RFC 8305); IPv6 first when this host has a route for it (RFC 6724 rule 1).
    #[default]
    Any,
    /// IPv4 only.
    V4Only,
    /// IPv6 first, then IPv4.
    V6Preferred,
    /// IPv6 only; a name without an IPv6 address does not resolve (status 51).
    V6Only,
}

impl AddressFamily {
    /// Whether addresses of the family of `address` may be used.
    #[must_use]
    pub const fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any | Self::V6Preferred => true,
            Self::V4Only => address.is_ipv4(),
            Self::V6Only => address.is_ipv6(),
        }
    }

    /// Returns the family as text, for messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any | Self::V6Preferred => "IPv4 or IPv6",
            Self::V4Only => "IPv4",
            Self::V6Only => "IPv6",
        }
    }
}

/// The host and port of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Host name or address literal (an IPv6 one without brackets).
    pub host: Box<str>,
    /// Port.
    pub port: u16,
    /// Address to use instead of resolving `host` (`resolve_dns` false).
    pub pinned_address: Option<IpAddr>,
    /// Families to try.
    pub address_family: AddressFamily,
    /// Id of the proxy to use, instead of the default of the location (fields.md 2 `proxy_id`).
    pub proxy_id: Option<i64>,
}

impl Endpoint {
    /// Creates an endpoint without pinned address, for either family. Brackets around an IPv6 literal are removed.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Self {
        let host_without_brackets =
            host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        Self {
            host: host_without_brackets.into(),
            port,
            pinned_address: None,
            address_family: AddressFamily::Any,
            proxy_id: None,
        }
    }

    /// Returns the address that needs no resolver: the pinned one, or the host when it is a literal.
    #[must_use]
    pub fn address_without_lookup(&self) -> Option<IpAddr> {
        self.pinned_address.or_else(|| self.host.parse().ok())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// What was observed while connecting; also set when that failed.
#[derive(Clone, Debug, Default)]
pub struct ConnectionTrace {
    /// The phases resolve, connect and tls, as far as they were reached; sums over several connections.
    pub phases: Phases,
    /// The connected peer, or the one tried last.
    pub peer_address: Option<SocketAddr>,
    /// All addresses that the name resolved to, in the order in which they are tried.
    pub resolved_addresses: Vec<IpAddr>,
    /// The TLS session, if there was one; also set when the certificate was refused.
    pub tls_facts: Option<Box<TlsFacts>>,
    /// Whether the peer sent something other than TLS during the handshake.
    pub peer_sent_non_tls_data: bool,
    /// Whether the peer refused the TLS handshake as those do that know weak cipher suites alone. The attempt may be
    /// made again with [`Net::with_weak_suites`](crate::net::Net::with_weak_suites).
    pub may_need_weak_suites: bool,
}
