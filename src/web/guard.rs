//! What every answer carries and every request is held to.

use std::time::Duration;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;

/// Time until an answer has to begin.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of a request body; nothing here reads one.
const REQUEST_BYTES: usize = 64 * 1024;

/// Headers that keep a page from being framed, sniffed, or made to load or send anything elsewhere.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// `router` with security headers, a request timeout and a body limit.
pub fn guarded(router: Router) -> Router {
    let no_store = (HeaderName::from_static("cache-control"), HeaderValue::from_static("no-store"));
    let limited = router
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, REQUEST_TIMEOUT))
        .layer(RequestBodyLimitLayer::new(REQUEST_BYTES))
        .layer(SetResponseHeaderLayer::if_not_present(no_store.0, no_store.1));
    HEADERS.into_iter().fold(limited, |router, (name, value)| {
        let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
        router.layer(SetResponseHeaderLayer::overriding(name, value))
    })
}
