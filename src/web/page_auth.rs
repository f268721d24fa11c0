//! Access control of the pages and the metrics.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::html;
use super::query_masks::HideQueryValues;
use crate::domain::{CustomerId, Permission, UserId};
use crate::service::AccountService;

/// Who may open pages: callers on this host and users of account 1 who may view, or everyone.
#[derive(Clone, Default)]
pub struct PageAuth {
    /// Whether everyone has access.
    pub is_public: bool,
    /// Verifies tokens; without it, no token grants access.
    pub account_service: Option<Arc<AccountService>>,
}

/// What the caller may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Viewer {
    /// Account whose monitors are shown; `None` for all accounts.
    pub(super) visible_account: Option<CustomerId>,
    /// Whether captures are shown. They may contain what only a logged-in user may see, so they are never
    /// public, even where the pages are.
    pub(super) can_see_captures: bool,
    /// Whether the values of queries in URLs are shown.
    can_see_query_values: bool,
}

impl Viewer {
    const LOCAL_HOST: Self =
        Self { visible_account: None, can_see_captures: true, can_see_query_values: true };
    const PUBLIC: Self = Self { visible_account: None, can_see_captures: false, can_see_query_values: false };
}

/// Admits a request to a page only if `auth` allows it.
pub(super) async fn require_page_access(
    State(auth): State<PageAuth>,
    mut request: Request,
    next: Next,
) -> Response {
    let peer_address =
        request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip().to_canonical());
    let host = request.uri().host().map(str::to_owned).or_else(|| host_header(request.headers()));
    let is_local = peer_address.is_some_and(|peer_address| peer_address.is_loopback())
        && !is_proxied(request.headers())
        // Proxies without forwarding headers use HTTP/1.0 upstream unless configured otherwise, as nginx does.
        && request.version() != Version::HTTP_10
        && host.is_some_and(|host| is_local_host_name(&host));
    let authenticated_viewer = if is_local {
        Some(Viewer::LOCAL_HOST)
    } else {
        auth.authenticate(request.headers(), peer_address).await
    };
    let viewer = match authenticated_viewer {
        // On public pages, a token must not reduce what the caller sees.
        Some(authenticated_viewer) if auth.is_public => {
            Some(Viewer { visible_account: None, ..authenticated_viewer })
        }
        None if auth.is_public => Some(Viewer::PUBLIC),
        authenticated_viewer => authenticated_viewer,
    };
    if let Some(viewer) = viewer {
        request.extensions_mut().insert(viewer);
        let is_manual = request.uri().path().starts_with("/manual");
        let mut response = next.run(request).await;
        if !viewer.can_see_query_values && !is_manual {
            response.extensions_mut().insert(HideQueryValues);
        }
        return response;
    }
    // Load balancers often check over HTTP/1.0; tell them which endpoints are open.
    let hint = if request.version() == Version::HTTP_10 {
        " HTTP/1.0 requests are treated as proxied; /healthz and /readyz stay open to them."
    } else {
        ""
    };
    let message = "This page is open to callers on the server's host and to callers with an access token \
                (Authorization: Bearer …) of a user who may view. The setting server.public_pages opens it.";
    let message = format!("{message}{hint}");
    let mut response =
        (StatusCode::UNAUTHORIZED, html::render_notice_page("A login is needed", &message)).into_response();
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

impl PageAuth {
    async fn authenticate(&self, headers: &HeaderMap, peer_address: Option<IpAddr>) -> Option<Viewer> {
        let account_service = self.account_service.as_ref()?;
        let authorization =
            headers.get(header::AUTHORIZATION).and_then(|authorization| authorization.to_str().ok());
        let (scheme, token) = authorization.and_then(|authorization| authorization.split_once(' '))?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let address = peer_address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let caller = account_service.authenticate_bearer(token.trim(), address).await.ok()?;
        let is_host_token = caller.user_id == UserId(0);
        let may_view_account_1 = caller.customer == CustomerId(1) && caller.role.allows(Permission::View);
        may_view_account_1.then_some(Viewer {
            visible_account: (!is_host_token).then_some(caller.customer),
            can_see_captures: true,
            can_see_query_values: caller.role.allows(Permission::Edit),
        })
    }
}

/// Whether a proxy forwarded the request. A proxy on this host acts for remote callers, who are not local.
fn is_proxied(headers: &HeaderMap) -> bool {
    ["forwarded", "x-forwarded-for", "x-real-ip", "via"].iter().any(|name| headers.contains_key(*name))
}

/// Returns the `Host` header of an HTTP/1.1 request; HTTP/2 has the host in the request target.
fn host_header(headers: &HeaderMap) -> Option<String> {
    headers.get(header::HOST)?.to_str().ok().map(str::to_owned)
}

/// Whether `host` names this host. In DNS rebinding, another site's name resolves to this host; its page sends that
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
    fn the_host_header_must_name_this_host() {
        for local in ["localhost", "LOCALHOST:7979", "127.0.0.1:7979", "127.8.0.1", "[::1]:7979", "[::1]"] {
            assert!(is_local_host_name(local), "{local}");
        }
        for foreign in [
            "",
            "evil.test:7979",
            "localhost.evil.test",
            "192.0.2.1:7979",
            "[2001:db8::1]:80",
            "127.0.0.1.evil.test",
        ] {
            assert!(!is_local_host_name(foreign), "{foreign}");
        }
    }

    #[tokio::test]
    async fn requests_that_look_proxied_are_not_local() {
        use axum::body::Body;
        use axum::http::Request as Plain;
        use tower::ServiceExt;

        let page = axum::routing::get(async || "page");
        let auth = axum::middleware::from_fn_with_state(PageAuth::default(), require_page_access);
        let router = axum::Router::new().route("/", page.layer(auth));
        let open = axum::middleware::from_fn_with_state(
            PageAuth { is_public: true, account_service: None },
            require_page_access,
        );
        let open = axum::Router::new().route("/", axum::routing::get(async || "page").layer(open));
        let http_10 = Plain::get("/").version(Version::HTTP_10).body(Body::empty()).unwrap();
        assert_eq!(
            open.oneshot(http_10).await.unwrap().status(),
            200,
            "public pages are served over HTTP/1.0"
        );
        for (version, forwarded, status) in
            [(Version::HTTP_11, false, 200), (Version::HTTP_10, false, 401), (Version::HTTP_11, true, 401)]
        {
            let mut request = Plain::get("/").version(version).header("host", "127.0.0.1:7979");
            if forwarded {
                request = request.header("x-forwarded-for", "127.0.0.1");
            }
            let mut request = request.body(Body::empty()).unwrap();
            request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 9))));
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{version:?}, forwarded {forwarded}");
        }
    }
}
