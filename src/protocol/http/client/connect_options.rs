//! How the connections of a check are made.

use std::net::IpAddr;

use url::{Host, Url};

use crate::net::{AddressFamily, Endpoint, TlsOptions};

/// How the connections of a check are made.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Families to try.
    pub family: AddressFamily,
    /// Address of a host whose name is not to be resolved.
    pub pinned: Option<(Host<String>, IpAddr)>,
    /// The proxy of the settings to go through, instead of what the location does by itself.
    pub proxy: Option<i64>,
    /// Versions, trust and certificate of TLS. What is offered by ALPN follows from the request.
    pub tls: TlsOptions,
}

impl ConnectOptions {
    /// Where to connect to for `url`.
    #[must_use]
    pub fn endpoint(&self, url: &Url) -> Endpoint {
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) | None => None,
        };
        // An IPv6 address stands in brackets.
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let pinned =
            self.pinned.as_ref().filter(|(host, _)| url.host().is_some_and(|of_url| *host == of_url));
        let pinned = pinned.map(|&(_, address)| address);
        let family = match (self.family, pinned.or(literal)) {
            // IPv6 that was written down as an address is wanted, whatever names resolve to.
            (AddressFamily::V4Only, Some(IpAddr::V6(_))) => AddressFamily::Any,
            (family, _) => family,
        };
        let port = url.port_or_known_default().unwrap_or(80);
        Endpoint { host: host.into(), port, pinned_address: pinned, family, proxy_id: self.proxy }
    }
}
