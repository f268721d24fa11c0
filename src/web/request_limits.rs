//! The middleware of all routes: limits of requests, headers of every response, compression, request ids.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http_body_util::{Full, Limited};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::set_header::SetResponseHeaderLayer;

use super::minimum_rate_body::MinimumRateBody;
use super::{query_masks, request_id};

/// Largest body of a login, in bytes: it is read before the caller is authenticated.
const MAX_LOGIN_BODY_BYTES: usize = 64 * 1024;
/// Paths of the logins.
const LOGIN_PATHS: [&str; 2] = ["/api/v3/access-tokens", "/legacy-api/login"];
/// Smallest response that is compressed, in bytes: below, compression costs more than it saves.
const MIN_COMPRESSED_BYTES: u64 = 1024;
/// Value of `Strict-Transport-Security`: one year.
const HSTS_VALUE: &str = "max-age=31536000";

/// Headers that keep a page from being framed, sniffed, or made to load or send anything elsewhere.
const SECURITY_HEADERS: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];
/// What a page may load, unless its response has a policy of its own.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Limits of requests.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Largest body, in bytes.
    pub max_body_bytes: usize,
    /// Longest time until a response starts.
    pub response_start_timeout: Duration,
    /// Whether the server is served over TLS only.
    pub is_tls_only: bool,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            max_body_bytes: 72 * 1024 * 1024,
            response_start_timeout: Duration::from_mins(2),
            is_tls_only: false,
        }
    }
}

/// Adds request ids, security headers, compression, a request timeout, body limits and, for readers, masked queries to
/// `router`.
pub fn with_common_middleware(router: Router, limits: RequestLimits) -> Router {
    let compressible = DefaultPredicate::new().and(SizeAbove::new(MIN_COMPRESSED_BYTES));
    let limited_router = router
        .layer(middleware::from_fn(super::notice::localize))
        .layer(middleware::map_response(query_masks::hide_query_values))
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(limits.max_body_bytes, limit_body))
        .layer(middleware::from_fn_with_state(limits.response_start_timeout, enforce_timeout))
        .layer(CompressionLayer::new().compress_when(compressible))
        .layer(middleware::from_fn(request_id::assign_request_id_and_log));
    let mut router_with_headers = limited_router.layer(default_header_layer("cache-control", "no-store"));
    router_with_headers =
        router_with_headers.layer(default_header_layer("content-security-policy", CONTENT_SECURITY_POLICY));
    for (name, value) in SECURITY_HEADERS
        .into_iter()
        .chain(limits.is_tls_only.then_some(("strict-transport-security", HSTS_VALUE)))
    {
        let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
        router_with_headers = router_with_headers.layer(SetResponseHeaderLayer::overriding(name, value));
    }
    router_with_headers
}

fn default_header_layer(name: &'static str, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(HeaderName::from_static(name), HeaderValue::from_static(value))
}

/// Aborts a handler after `timeout` and responds with 504: as JSON for the API, otherwise as text.
async fn enforce_timeout(State(timeout): State<Duration>, request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    if let Ok(response) = tokio::time::timeout(timeout, next.run(request)).await {
        return response;
    }
    let status = StatusCode::GATEWAY_TIMEOUT;
    let message =
        format!("The server did not finish within {} s; it may still be working on it", timeout.as_secs());
    if !is_api {
        return (status, message).into_response();
    }
    let error = serde_json::json!({"errors": [{"code": status.as_u16(), "message": message}]});
    let content_type = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    (status, [content_type], error.to_string()).into_response()
}

/// Limits the size and the rate of the body. Reading a body whose declared length is too large fails at once, so that
/// the handler that reads it can respond in its own form.
async fn limit_body(State(max_body_bytes): State<usize>, request: Request, next: Next) -> Response {
    let is_login = LOGIN_PATHS.contains(&request.uri().path());
    let max_bytes = if is_login { max_body_bytes.min(MAX_LOGIN_BODY_BYTES) } else { max_body_bytes };
    let declared_bytes = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|declared_bytes| declared_bytes.to_str().ok()?.parse::<u64>().ok());
    let limit = |body| {
        if declared_bytes.is_some_and(|declared_bytes| declared_bytes > max_bytes as u64) {
            // Replace the body by one byte with a limit of zero: reading it fails, and the real body is never read.
            Body::new(Limited::new(Full::from("x"), 0))
        } else {
            Body::new(MinimumRateBody::new(body, max_bytes))
        }
    };
    next.run(request.map(limit)).await
}

#[cfg(test)]
mod tests {
    use tower::ServiceExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_timeout_is_reported_in_the_form_of_the_path() {
        let hanging_handler = axum::routing::get(async || std::future::pending::<()>().await);
        let router = Router::new().route("/api/v3/x", hanging_handler.clone()).route("/x", hanging_handler);
        let router = with_common_middleware(router, RequestLimits::default());
        for (path, content_type) in [("/api/v3/x", "application/json"), ("/x", "text/plain; charset=utf-8")] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
            assert_eq!(response.headers()["content-type"], content_type);
            let body = axum::body::to_bytes(response.into_body(), 999).await.unwrap();
            assert!(String::from_utf8_lossy(&body).contains("within 120 s"), "{body:?}");
        }
    }
}
