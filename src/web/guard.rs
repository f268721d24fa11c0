//! What every answer carries and every request is held to.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use http_body_util::{Full, Limited};
use tokio::sync::Semaphore;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;

use super::trail;

/// Bytes of the body of a login: it is read before anybody is known.
const LOGIN_BYTES: usize = 64 * 1024;
/// Paths of the logins.
const LOGINS: [&str; 2] = ["/api/v3/access-tokens", "/legacy-api/login"];
/// Bodies above this size are read one after another, but for a few.
const LARGE_BYTES: u64 = 1024 * 1024;
/// Large bodies at once.
const LARGE: usize = 4;
/// Answers below this size are not compressed: it would cost more than it saves.
const GZIP_BYTES: u64 = 1024;
/// A year, as browsers want it.
const HSTS: &str = "max-age=31536000";

/// Headers that keep a page from being framed, sniffed, or made to load or send anything elsewhere.
const HEADERS: [(&str, &str); 5] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];
/// What a page may load, unless it says otherwise itself.
const CONTENT: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What requests are held to.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Time until an answer begins.
    pub request_time: Duration,
    /// Whether it is served over TLS only.
    pub tls: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { body_bytes: 72 * 1024 * 1024, request_time: Duration::from_mins(2), tls: false }
    }
}

/// `router` with request ids, security headers, compression, a request timeout and body limits.
pub fn guarded(router: Router, bounds: Bounds) -> Router {
    let bodies = Bodies { most: bounds.body_bytes, large: Arc::new(Semaphore::new(LARGE)) };
    let worth_it = DefaultPredicate::new().and(SizeAbove::new(GZIP_BYTES));
    let limited = router
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(bodies, bounded))
        .layer(TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, bounds.request_time))
        .layer(CompressionLayer::new().compress_when(worth_it))
        .layer(middleware::from_fn(trail::traced));
    let mut dressed = limited.layer(unless_set("cache-control", "no-store"));
    dressed = dressed.layer(unless_set("content-security-policy", CONTENT));
    for (name, value) in HEADERS.into_iter().chain(bounds.tls.then_some(("strict-transport-security", HSTS)))
    {
        let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
        dressed = dressed.layer(SetResponseHeaderLayer::overriding(name, value));
    }
    dressed
}

fn unless_set(name: &'static str, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(HeaderName::from_static(name), HeaderValue::from_static(value))
}

/// How bodies are bounded.
#[derive(Clone)]
struct Bodies {
    most: usize,
    large: Arc<Semaphore>,
}

/// Bounds the body. One that says beforehand that it is too large fails at its first byte, so that whoever
/// reads it can answer in its own form.
async fn bounded(State(bodies): State<Bodies>, request: Request, next: Next) -> Response {
    let login = LOGINS.contains(&request.uri().path());
    let most = if login { bodies.most.min(LOGIN_BYTES) } else { bodies.most };
    let said = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|said| said.to_str().ok()?.parse::<u64>().ok());
    let endless = request.headers().contains_key(header::TRANSFER_ENCODING);
    let too_large = said.is_some_and(|said| said > most as u64);
    let large = !login && !too_large && (endless || said.is_some_and(|said| said > LARGE_BYTES));
    // Never closed: acquiring cannot fail.
    let _place = if large { bodies.large.acquire().await.ok() } else { None };
    let bounded = |body| {
        if too_large {
            // A byte where none may be: the body is never asked for.
            Body::new(Limited::new(Full::from("x"), 0))
        } else {
            Body::new(Limited::new(body, most))
        }
    };
    next.run(request.map(bounded)).await
}
