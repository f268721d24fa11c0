//! Where a connection goes, and what was seen on the way there.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::domain::{Phases, TlsFacts};

/// Which address families are tried, and in which order (fields.md 3 `ipv6_enabled`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressFamily {
    /// Both, raced (RFC 8305); IPv6 goes first when this host has a route for it (RFC 6724 rule 1).
    #[default]
    Any,
    /// IPv4 only.
    V4Only,
    /// IPv6 first, then IPv4.
    V6Preferred,
    /// IPv6 only; without an address of it the name does not resolve (51).
    V6Only,
}

impl AddressFamily {
    /// Whether addresses like `address` may be used.
    #[must_use]
    pub const fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any | Self::V6Preferred => true,
            Self::V4Only => address.is_ipv4(),
            Self::V6Only => address.is_ipv6(),
        }
    }

    /// The family in words, for messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any | Self::V6Preferred => "IPv4 or IPv6",
            Self::V4Only => "IPv4",
            Self::V6Only => "IPv6",
        }
    }
}

/// A host and port to open a connection to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Host name or address literal (an IPv6 one without brackets).
    pub host: Box<str>,
    /// Port.
    pub port: u16,
    /// Address to use instead of resolving `host` (`resolve_dns` false).
    pub pinned_address: Option<IpAddr>,
    /// Families to try.
    pub family: AddressFamily,
    /// Id of the proxy of the settings to go through, instead of what the location does by itself (fields.md 2
    /// `proxy_id`).
    pub proxy_id: Option<i64>,
}

impl Endpoint {
    /// `host` and `port`, resolved afresh, over either family. Brackets around an IPv6 literal are taken off.
    #[must_use]
    pub fn new(host: &str, port: u16) -> Self {
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
        Self { host: bare.into(), port, pinned_address: None, family: AddressFamily::Any, proxy_id: None }
    }

    /// The address that needs no resolver: the pinned one, or the host when it is a literal.
    #[must_use]
    pub fn known_address(&self) -> Option<IpAddr> {
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

/// What was seen on the way; filled even when the way ended early.
#[derive(Clone, Debug, Default)]
pub struct ConnectTrace {
    /// Resolve, connect and tls, as far as they were reached; sums when one trace sees several ways.
    pub phases: Phases,
    /// The peer that was connected, or tried last.
    pub address: Option<SocketAddr>,
    /// Every address that the name resolved to, in the order of trial.
    pub resolved: Vec<IpAddr>,
    /// The TLS session, when there was one; filled even when the certificate was refused.
    pub tls: Option<Box<TlsFacts>>,
    /// Whether what the peer said in a handshake was no TLS.
    pub peer_not_tls: bool,
}
