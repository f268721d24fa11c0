//! The trail of a request: its id in the answer and in every log line, and a line for each call of the APIs.

use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use crate::service::Caller;

/// Where the id stands.
const REQUEST_ID_HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Characters of an id that is taken.
const MAX_ID_CHARS: usize = 128;
/// Bases of the APIs.
const API_PATHS: [&str; 2] = ["/api/", "/legacy-api/"];

/// Takes the id that a request brings, or makes one, and hands it back with the answer.
pub(super) async fn trace_request(request: Request, next: Next) -> Response {
    let id = accepted_id(request.headers()).unwrap_or_else(random_id);
    let started = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let span = tracing::info_span!("request", request_id = %id);
    let mut response = next.run(request).instrument(span.clone()).await;
    if API_PATHS.iter().any(|base| path.starts_with(base)) {
        let login = response.extensions().get::<Caller>().map(|caller| &*caller.login).unwrap_or_default();
        let total_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let status = response.status().as_u16();
        tracing::debug!(request_id = %id, method = %method, path, login, status, total_us, "request completed");
    }
    if let Ok(value) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID_HEADER, value);
    }
    response
}

/// An id of a few harmless characters; others could forge log lines.
fn accepted_id(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(REQUEST_ID_HEADER)?.to_str().ok()?;
    let sane = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte);
    ((1..=MAX_ID_CHARS).contains(&text.len()) && text.bytes().all(sane)).then(|| text.to_owned())
}

/// 16 hexadecimal digits by chance.
fn random_id() -> String {
    let mut bytes = [0; 8];
    // Fails only where the system has no randomness; ids repeat then, and nothing else comes of it.
    let _ = aws_lc_rs::rand::fill(&mut bytes);
    format!("{:016x}", u64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sane_ids_are_taken() {
        let of = |text: &str| {
            accepted_id(&HeaderMap::from_iter([(REQUEST_ID_HEADER, HeaderValue::from_str(text).unwrap())]))
        };
        for good in ["a", "7f3c-11", "Root=1-67891233-abcdef012345678912345678"] {
            assert_eq!(of(good).as_deref(), Some(good));
        }
        for bad in ["", "a b", "a\"b", "a{b}", "é", &"x".repeat(129)] {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert_eq!((random_id().len(), random_id() == random_id()), (16, false));
    }
}
