//! How a request reached the server. The server records it with each request; APIs and pages read it.

use std::net::{IpAddr, Ipv4Addr};

/// How a request reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientConnection {
    /// Address of the client.
    pub address: IpAddr,
    /// Whether the client uses TLS.
    pub is_tls: bool,
    /// Whether an untrusted proxy may have forwarded the request; `address` may be that of a proxy then.
    pub may_be_forwarded: bool,
}

impl ClientConnection {
    /// Returns the connection recorded in `extensions`. A request without one, as in tests, counts as one from
    /// loopback that may be forwarded, so it gets no rights of a local client.
    #[must_use]
    pub fn from_extensions(extensions: &http::Extensions) -> Self {
        extensions.get().copied().unwrap_or(Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            is_tls: false,
            may_be_forwarded: true,
        })
    }
}
