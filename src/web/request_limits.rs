//! What every answer carries and every request is held to.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http_body_util::{Full, Limited};
use tokio::sync::Semaphore;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::set_header::SetResponseHeaderLayer;

use super::request_id;

/// Bytes of the body of a login: it is read before anybody is known.
const MAX_LOGIN_BYTES: usize = 64 * 1024;
/// Paths of the logins.
const LOGIN_PATHS: [&str; 2] = ["/api/v3/access-tokens", "/legacy-api/login"];
/// Bodies above this size are read one after another, but for a few.
const LARGE_BODY_BYTES: u64 = 1024 * 1024;
/// Large bodies at once.
const MAX_LARGE_BODIES: usize = 4;
/// Answers below this size are not compressed: it would cost more than it saves.
const MIN_COMPRESSED_BYTES: u64 = 1024;
/// A year, as browsers want it.
const HSTS_VALUE: &str = "max-age=31536000";

/// Headers that keep a page from being framed, sniffed, or made to load or send anything elsewhere.
const SECURITY_HEADERS: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];
/// What a page may load, unless it says otherwise itself.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What requests are held to.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Time until an answer begins.
    pub request_timeout: Duration,
    /// Whether it is served over TLS only.
    pub tls: bool,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { body_bytes: 72 * 1024 * 1024, request_timeout: Duration::from_mins(2), tls: false }
    }
}

/// `router` with request ids, security headers, compression, a request timeout and body limits.
pub fn with_request_limits(router: Router, bounds: RequestLimits) -> Router {
    let bodies = BodyLimits {
        max_bytes: bounds.body_bytes,
        large_permits: Arc::new(Semaphore::new(MAX_LARGE_BODIES)),
    };
    let worth_it = DefaultPredicate::new().and(SizeAbove::new(MIN_COMPRESSED_BYTES));
    let limited = router
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(bodies, limit_body))
        .layer(middleware::from_fn_with_state(bounds.request_timeout, enforce_timeout))
        .layer(CompressionLayer::new().compress_when(worth_it))
        .layer(middleware::from_fn(request_id::trace_request));
    let mut with_headers = limited.layer(header_if_missing("cache-control", "no-store"));
    with_headers = with_headers.layer(header_if_missing("content-security-policy", CONTENT_SECURITY_POLICY));
    for (name, value) in
        SECURITY_HEADERS.into_iter().chain(bounds.tls.then_some(("strict-transport-security", HSTS_VALUE)))
    {
        let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
        with_headers = with_headers.layer(SetResponseHeaderLayer::overriding(name, value));
    }
    with_headers
}

fn header_if_missing(name: &'static str, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(HeaderName::from_static(name), HeaderValue::from_static(value))
}

/// Gives up on a handler after `most`, and says so in the form that callers of an API read.
async fn enforce_timeout(State(max): State<Duration>, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    if let Ok(answer) = tokio::time::timeout(max, next.run(request)).await {
        return answer;
    }
    let status = StatusCode::GATEWAY_TIMEOUT;
    let message =
        format!("The server did not manage it within {} s; it may still be doing it", max.as_secs());
    if !api {
        return (status, message).into_response();
    }
    let error = serde_json::json!({"errors": [{"code": status.as_u16(), "message": message}]});
    let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    (status, [json], error.to_string()).into_response()
}

/// How bodies are bounded.
#[derive(Clone)]
struct BodyLimits {
    max_bytes: usize,
    large_permits: Arc<Semaphore>,
}

/// Bounds the body. One that says beforehand that it is too large fails at its first byte, so that whoever
/// reads it can answer in its own form.
async fn limit_body(State(bodies): State<BodyLimits>, request: Request, next: Next) -> Response {
    let login = LOGIN_PATHS.contains(&request.uri().path());
    let max = if login { bodies.max_bytes.min(MAX_LOGIN_BYTES) } else { bodies.max_bytes };
    let said = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|said| said.to_str().ok()?.parse::<u64>().ok());
    // In pieces, or over HTTP/2 without a length: it may become as large as it likes.
    let endless = said.is_none() && !request.body().is_end_stream();
    let too_large = said.is_some_and(|said| said > max as u64);
    let large = !login && !too_large && (endless || said.is_some_and(|said| said > LARGE_BODY_BYTES));
    // Never closed: acquiring cannot fail.
    let _place = if large { bodies.large_permits.acquire().await.ok() } else { None };
    let bounded = |body| {
        if too_large {
            // A byte where none may be: the body is never asked for.
            Body::new(Limited::new(Full::from("x"), 0))
        } else {
            Body::new(Limited::new(body, max))
        }
    };
    next.run(request.map(bounded)).await
}

#[cfg(test)]
mod tests {
    use axum::http::Version;
    use futures::stream;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_handler_that_does_not_end_is_told_in_the_form_of_the_api() {
        let stuck = axum::routing::get(async || std::future::pending::<()>().await);
        let router = Router::new().route("/api/v3/x", stuck.clone()).route("/x", stuck);
        let router = with_request_limits(router, RequestLimits::default());
        for (path, kind) in [("/api/v3/x", "application/json"), ("/x", "text/plain; charset=utf-8")] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let answer = router.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
            assert_eq!(answer.headers()["content-type"], kind);
            let body = axum::body::to_bytes(answer.into_body(), 999).await.unwrap();
            assert!(String::from_utf8_lossy(&body).contains("within 120 s"), "{body:?}");
        }
    }

    /// HTTP/2 needs neither a length nor a transfer coding.
    #[tokio::test]
    async fn bodies_without_a_length_are_among_the_few_large_ones_in_any_version() {
        let bodies =
            BodyLimits { max_bytes: 1000, large_permits: Arc::new(Semaphore::new(MAX_LARGE_BODIES)) };
        let free = Arc::clone(&bodies.large_permits);
        let look = axum::routing::post(async move || free.available_permits().to_string());
        let router = Router::new().route("/", look).layer(middleware::from_fn_with_state(bodies, limit_body));
        let endless = || Body::from_stream(stream::iter([Ok::<_, std::io::Error>("x")]));
        for (version, body, free) in [
            (Version::HTTP_2, endless(), MAX_LARGE_BODIES - 1),
            (Version::HTTP_11, endless(), MAX_LARGE_BODIES - 1),
            (Version::HTTP_2, Body::empty(), MAX_LARGE_BODIES),
        ] {
            let request = Request::post("/").version(version).body(body).unwrap();
            let answer = router.clone().oneshot(request).await.unwrap();
            let seen = axum::body::to_bytes(answer.into_body(), 9).await.unwrap();
            assert_eq!(seen, free.to_string(), "{version:?}");
        }
    }
}
