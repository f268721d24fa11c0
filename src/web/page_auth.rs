//! Who may see the pages and the metrics.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::html;
use crate::domain::{CustomerId, Permission, UserId};
use crate::service::AccountService;

/// Lets callers of this host in; others when they hold a token of account 1 that may view, or everybody.
#[derive(Clone, Default)]
pub struct PageAuth {
    /// Whether everybody may.
    pub is_public: bool,
    /// Who holds a token; nobody when there are no accounts.
    pub accounts: Option<Arc<AccountService>>,
}

/// What a page may show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Viewer {
    /// Whose monitors: those of one account, or all of them.
    pub(super) account: Option<CustomerId>,
    /// Whether files that results hold are shown: what a page said, or how it looked to somebody who logged in. They
    /// are not for everybody, also where the pages are.
    pub(super) can_see_captures: bool,
}

impl Viewer {
    const HOST: Self = Self { account: None, can_see_captures: true };
    const PUBLIC: Self = Self { account: None, can_see_captures: false };
}

/// Asks `gate` before a page is made.
pub(super) async fn require_auth(State(gate): State<PageAuth>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_canonical());
    let host = request.uri().host().map(str::to_owned).or_else(|| host_header(request.headers()));
    let local = peer.is_some_and(|peer| peer.is_loopback())
        && !is_proxied(request.headers())
        // Proxies that tell nothing of themselves speak 1.0 to us unless told otherwise, as nginx does.
        && request.version() != Version::HTTP_10
        && host.is_some_and(|host| is_local_host_name(&host));
    let known = if local { Some(Viewer::HOST) } else { gate.authenticate(request.headers(), peer).await };
    let audience = match known {
        // Nobody sees less for telling who they are.
        Some(known) if gate.is_public => Some(Viewer { account: None, ..known }),
        None if gate.is_public => Some(Viewer::PUBLIC),
        known => known,
    };
    if let Some(audience) = audience {
        request.extensions_mut().insert(audience);
        return next.run(request).await;
    }
    // Checks of load balancers speak it; they have doors of their own.
    let old = if request.version() == Version::HTTP_10 {
        " A call by HTTP/1.0 counts as one of a proxy, which speaks for others; /healthz and /readyz are open to it."
    } else {
        ""
    };
    let what = "This page is for callers on the host of the server, and for those with an access token \
                (Authorization: Bearer …) of a user who may view. The setting server.public_pages opens it.";
    let what = format!("{what}{old}");
    let mut refused =
        (StatusCode::UNAUTHORIZED, html::render_notice("A login is needed", &what)).into_response();
    refused.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    refused
}

impl PageAuth {
    async fn authenticate(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<Viewer> {
        let accounts = self.accounts.as_ref()?;
        let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let (scheme, token) = value.and_then(|value| value.split_once(' '))?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let address = peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let caller = accounts.authenticate_bearer(token.trim(), address).await.ok()?;
        let host = caller.user == UserId(0);
        let may = caller.customer == CustomerId(1) && caller.role.allows(Permission::View);
        may.then_some(Viewer { account: (!host).then_some(caller.customer), can_see_captures: true })
    }
}

/// Whether somebody stands between the caller and us: a proxy on this host speaks for others.
fn is_proxied(headers: &HeaderMap) -> bool {
    ["forwarded", "x-forwarded-for", "x-real-ip", "via"].iter().any(|name| headers.contains_key(*name))
}

/// The host that HTTP/1.1 asks for; HTTP/2 has it in the target.
fn host_header(headers: &HeaderMap) -> Option<String> {
    headers.get(header::HOST)?.to_str().ok().map(str::to_owned)
}

/// Whether it is us. A page of another site that made its name point to this host (DNS rebinding) shows by that
/// name.
fn is_local_host_name(host: &str) -> bool {
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
            assert!(is_local_host_name(good), "{good}");
        }
        for bad in [
            "",
            "evil.test:7979",
            "localhost.evil.test",
            "192.0.2.1:7979",
            "[2001:db8::1]:80",
            "127.0.0.1.evil.test",
        ] {
            assert!(!is_local_host_name(bad), "{bad}");
        }
    }

    #[tokio::test]
    async fn who_speaks_as_proxies_do_is_no_caller_of_this_host() {
        use axum::body::Body;
        use axum::http::Request as Plain;
        use tower::ServiceExt;

        let page = axum::routing::get(async || "page");
        let gate = axum::middleware::from_fn_with_state(PageAuth::default(), require_auth);
        let router = axum::Router::new().route("/", page.layer(gate));
        let open =
            axum::middleware::from_fn_with_state(PageAuth { is_public: true, accounts: None }, require_auth);
        let open = axum::Router::new().route("/", axum::routing::get(async || "page").layer(open));
        let old = Plain::get("/").version(Version::HTTP_10).body(Body::empty()).unwrap();
        assert_eq!(open.oneshot(old).await.unwrap().status(), 200, "whoever may see it may ask by 1.0");
        for (version, forwarded, status) in
            [(Version::HTTP_11, false, 200), (Version::HTTP_10, false, 401), (Version::HTTP_11, true, 401)]
        {
            let mut request = Plain::get("/").version(version).header("host", "127.0.0.1:7979");
            if forwarded {
                request = request.header("x-forwarded-for", "127.0.0.1");
            }
            let mut request = request.body(Body::empty()).unwrap();
            request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 9))));
            let answer = router.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{version:?}, forwarded {forwarded}");
        }
    }
}
