//! Options of the connections of a check.

use std::net::IpAddr;

use url::{Host, Url};

use crate::net::{AddressFamily, Endpoint, TlsOptions};

/// Options of the connections of a check.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Families to try.
    pub address_family: AddressFamily,
    /// A host with the address to use instead of resolving it.
    pub pinned_host: Option<(Host<String>, IpAddr)>,
    /// Id of the proxy to use, instead of the default of the location.
    pub proxy_id: Option<i64>,
    /// TLS versions, trust and certificate. ALPN follows from the request.
    pub tls_options: TlsOptions,
}

impl ConnectOptions {
    /// Returns the endpoint of `url`.
    #[must_use]
    pub fn endpoint_of(&self, url: &Url) -> Endpoint {
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) | None => None,
        };
        // IPv6 addresses are in brackets.
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let pinned = self
            .pinned_host
            .as_ref()
            .filter(|(host, _)| url.host().is_some_and(|url_host| *host == url_host));
        let pinned = pinned.map(|&(_, address)| address);
        let family = match (self.address_family, pinned.or(literal)) {
            // An explicit IPv6 address is used whatever family names resolve to.
            (AddressFamily::V4Only, Some(IpAddr::V6(_))) => AddressFamily::Any,
            (family, _) => family,
        };
        let port = url.port_or_known_default().unwrap_or(80);
        Endpoint {
            host: host.into(),
            port,
            pinned_address: pinned,
            address_family: family,
            proxy_id: self.proxy_id,
        }
    }
}
