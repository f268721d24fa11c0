//! The way to a target: resolve, dial, TLS, each timed, bounded and held to the egress policy.
//!
//! Nothing here knows a monitor or judges what it sees. A [`Net`] is the immutable network
//! configuration of one location; every attempt opens cold connections of its own through it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::time::Instant;

use crate::model::{Phases, TlsFacts};

/// When an attempt has to be over.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    /// The instant itself.
    pub at: Instant,
    /// The timeout that it came from, for messages.
    pub timeout: Duration,
}

impl Deadline {
    /// The deadline that lies `timeout` from now.
    #[must_use]
    pub fn within(timeout: Duration) -> Self {
        Self { at: Instant::now() + timeout, timeout }
    }

    /// Time that is left; zero when it has passed.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}

/// Which address families are tried, and in which order (fields.md 3 `ipv6_enabled`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// Both, as the resolver orders them, raced (RFC 8305).
    #[default]
    Any,
    /// IPv4 only.
    V4Only,
    /// IPv6 first, then IPv4.
    V6Preferred,
    /// IPv6 only; without an address of it the name does not resolve (51).
    V6Only,
}

/// A host and port to open a connection to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Host name or address literal (an IPv6 one without brackets).
    pub host: Box<str>,
    /// Port.
    pub port: u16,
    /// Address to use instead of resolving `host` (`resolve_dns` false).
    pub pinned: Option<IpAddr>,
    /// Families to try.
    pub family: Family,
}

/// What was seen on the way; filled even when the way ended early.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Resolve, connect and tls, as far as they were reached.
    pub phases: Phases,
    /// The peer that was connected, or tried last.
    pub address: Option<SocketAddr>,
    /// Every address that the name resolved to, in the order of trial.
    pub resolved: Vec<IpAddr>,
    /// The TLS session, when there was one; filled even when the certificate was refused.
    pub tls: Option<Box<TlsFacts>>,
}

/// The network of one location.
#[derive(Debug)]
pub struct Net {}
