//! Who may see the pages and the metrics.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::html;
use crate::control::Accounts;
use crate::model::{CustomerId, Right};

/// Lets callers of this host in; others when they hold a token of account 1 that may view, or everybody.
#[derive(Clone, Default)]
pub struct Gate {
    /// Whether everybody may.
    pub public: bool,
    /// Who holds a token; nobody when there are no accounts.
    pub accounts: Option<Arc<Accounts>>,
}

/// Asks `gate` before a page is made.
pub(super) async fn keep(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_canonical());
    let host = request.uri().host().map(str::to_owned).or_else(|| host_of(request.headers()));
    let local = peer.is_some_and(|peer| peer.is_loopback())
        && !is_proxied(request.headers())
        && host.is_some_and(|host| names_this_host(&host));
    if gate.public || local || gate.knows(request.headers(), peer).await {
        return next.run(request).await;
    }
    let what = "This page is for callers on the host of the server, and for those with an access token \
                (Authorization: Bearer …) of a user who may view. The setting server.public_pages opens it.";
    let mut refused = (StatusCode::UNAUTHORIZED, html::notice("A login is needed", what)).into_response();
    refused.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    refused
}

impl Gate {
    async fn knows(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> bool {
        let Some(accounts) = &self.accounts else { return false };
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((scheme, token)) = value.and_then(|value| value.split_once(' ')) else { return false };
        if !scheme.eq_ignore_ascii_case("bearer") {
            return false;
        }
        let address = peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let caller = accounts.bearer(token.trim(), address).await;
        caller.is_ok_and(|caller| caller.customer == CustomerId(1) && caller.role.may(Right::View))
    }
}

/// Whether somebody stands between the caller and us: a proxy on this host speaks for others.
fn is_proxied(headers: &HeaderMap) -> bool {
    ["forwarded", "x-forwarded-for", "x-real-ip", "via"].iter().any(|name| headers.contains_key(*name))
}

/// The host that HTTP/1.1 asks for; HTTP/2 has it in the target.
fn host_of(headers: &HeaderMap) -> Option<String> {
    headers.get(header::HOST)?.to_str().ok().map(str::to_owned)
}

/// Whether it is us. A page of another site that made its name point to this host (DNS rebinding) shows by that
/// name.
fn names_this_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_header_has_to_name_this_host() {
        for good in ["localhost", "LOCALHOST:7979", "127.0.0.1:7979", "127.8.0.1", "[::1]:7979", "[::1]"] {
            assert!(names_this_host(good), "{good}");
        }
        for bad in [
            "",
            "evil.test:7979",
            "localhost.evil.test",
            "192.0.2.1:7979",
            "[2001:db8::1]:80",
            "127.0.0.1.evil.test",
        ] {
            assert!(!names_this_host(bad), "{bad}");
        }
    }
}
