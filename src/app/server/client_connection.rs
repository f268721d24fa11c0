//! Records with each request how it reached the server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::Version;
use axum::middleware::Next;
use axum::response::Response;

use crate::service::ClientConnection;

/// Header fields of proxies.
const FORWARDING_HEADERS: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// What the server knows about its connections.
#[derive(Clone, Debug)]
pub(in crate::app) struct ConnectionRules {
    /// Whether the server speaks TLS.
    pub(in crate::app) is_tls: bool,
}

/// Middleware: adds the [`ClientConnection`] to `request`.
pub(in crate::app) async fn record_client_connection(
    State(rules): State<ConnectionRules>,
    mut request: Request,
    next: Next,
) -> Response {
    let connection = client_connection(&request, &rules);
    request.extensions_mut().insert(connection);
    next.run(request).await
}

fn client_connection(request: &Request, rules: &ConnectionRules) -> ClientConnection {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |info| info.0.ip().to_canonical());
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
        let rules = ConnectionRules { is_tls: false };
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
}
