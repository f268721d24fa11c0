//! Records with each request how it reached the server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::Version;
use axum::middleware::Next;
use axum::response::Response;

use super::forwarded_for::{NamedClient, is_forwarded_tls, named_client};
use crate::net::IpNetwork;
use crate::service::ClientConnection;

/// Header fields of proxies.
const FORWARDING_HEADERS: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// What the server knows about its connections.
#[derive(Clone, Debug)]
pub(in crate::app) struct ConnectionRules {
    /// Whether the server speaks TLS.
    pub(in crate::app) is_tls: bool,
    /// Networks of proxies that name the client.
    pub(in crate::app) trusted_proxies: Arc<[IpNetwork]>,
}

/// Middleware: adds the [`ClientConnection`] to `request`, unless another controller has said which it is.
pub(in crate::app) async fn record_client_connection(
    State(rules): State<ConnectionRules>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.extensions().get::<ClientConnection>().is_none() {
        let connection = client_connection(&request, &rules);
        request.extensions_mut().insert(connection);
    }
    next.run(request).await
}

/// Returns how `request` reached the server.
pub(in crate::app) fn client_connection(request: &Request, rules: &ConnectionRules) -> ClientConnection {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| info.0.ip().to_canonical());
    let is_trusted_proxy = rules.trusted_proxies.iter().any(|network| network.contains(peer));
    if is_trusted_proxy {
        let is_tls = rules.is_tls || is_forwarded_tls(request.headers());
        match named_client(request.headers(), &rules.trusted_proxies) {
            NamedClient::Client(address) => {
                return ClientConnection { address, is_tls, may_be_forwarded: false };
            }
            NamedClient::Unclear => {
                return ClientConnection { address: peer, is_tls, may_be_forwarded: true };
            }
            NamedClient::None => {}
        }
    }
    let has_forwarding_header = FORWARDING_HEADERS.iter().any(|name| request.headers().contains_key(*name));
    ClientConnection {
        address: peer,
        is_tls: rules.is_tls,
        // Proxies without forwarding headers use HTTP/1.0 upstream unless configured otherwise, as nginx does.
        may_be_forwarded: has_forwarding_header || request.version() == Version::HTTP_10,
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn requests_that_look_proxied_may_be_forwarded() {
        let rules = ConnectionRules { is_tls: false, trusted_proxies: Arc::new([]) };
        for (version, header, may_be_forwarded) in [
            (Version::HTTP_11, None, false),
            (Version::HTTP_10, None, true),
            (Version::HTTP_11, Some("x-forwarded-for"), true),
            (Version::HTTP_11, Some("forwarded"), true),
            (Version::HTTP_2, None, false),
        ] {
            let mut request = Request::get("/").version(version);
            if let Some(header) = header {
                request = request.header(header, "192.0.2.1");
            }
            let mut request = request.body(Body::empty()).unwrap();
            request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 9))));
            let found = client_connection(&request, &rules);
            assert_eq!(found.address, IpAddr::V4(Ipv4Addr::LOCALHOST));
            assert_eq!(found.may_be_forwarded, may_be_forwarded, "{version:?} {header:?}");
        }
    }

    #[test]
    fn only_a_trusted_proxy_names_the_client_and_its_scheme() {
        let connection = |peer: [u8; 4], trusted: &[&str]| {
            let rules = ConnectionRules {
                is_tls: false,
                trusted_proxies: trusted.iter().map(|network| network.parse().unwrap()).collect(),
            };
            let request = Request::get("/").header("x-forwarded-for", "192.0.2.7");
            let mut request = request.header("x-forwarded-proto", "https").body(Body::empty()).unwrap();
            request.extensions_mut().insert(ConnectInfo(SocketAddr::from((peer, 9))));
            client_connection(&request, &rules)
        };
        let client = IpAddr::from([192, 0, 2, 7]);
        let trusted = connection([127, 0, 0, 1], &["127.0.0.0/8"]);
        assert_eq!(trusted, ClientConnection { address: client, is_tls: true, may_be_forwarded: false });
        for (peer, networks) in [([127, 0, 0, 1], &[][..]), ([10, 0, 0, 1], &["127.0.0.0/8"])] {
            let found = connection(peer, networks);
            let expected = ClientConnection { address: peer.into(), is_tls: false, may_be_forwarded: true };
            assert_eq!(found, expected);
        }
    }
}
