//! Who may call: the host itself. Tokens come with accounts.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::ApiError;

/// Lets calls of this host through; all others get 401.
pub(super) async fn local_only(request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    if peer.is_some_and(|peer| peer.to_canonical().is_loopback()) && is_direct(request.headers()) {
        return next.run(request).await;
    }
    let message = "An access token is needed; this version issues none and answers to its own host only";
    ApiError::new(StatusCode::UNAUTHORIZED, message).into_response()
}

/// Whether nobody stands between the caller and us. A proxy on this host speaks for others, and a page of
/// another site that made its name point to this host (DNS rebinding) shows by that name in `Host`.
fn is_direct(headers: &HeaderMap) -> bool {
    let proxied = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];
    if proxied.iter().any(|name| headers.contains_key(*name)) {
        return false;
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    names_this_host(host)
}

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
