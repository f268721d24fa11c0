//! Request ids, in the response and in every log line, and a log line for each API call.

use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;

use crate::service::Caller;

/// Header that carries the request id.
const REQUEST_ID_HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id that is accepted, in characters.
const MAX_REQUEST_ID_CHARS: usize = 128;
/// Bases of the APIs.
const API_PATH_PREFIXES: [&str; 2] = ["/api/", "/legacy-api/"];

/// Middleware: takes the id of the request, or a random one, returns it with the response, and logs API calls.
pub(super) async fn assign_request_id_and_log(request: Request, next: Next) -> Response {
    let id = request_id_of_client(request.headers()).unwrap_or_else(random_request_id);
    let started = Instant::now();
    let (method, path) = (request.method().clone(), without_push_token(request.uri().path()));
    let span = tracing::info_span!("request", request_id = %id);
    let mut response = next.run(request).instrument(span.clone()).await;
    if API_PATH_PREFIXES.iter().any(|prefix| path.starts_with(prefix)) {
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

/// Returns the path of a request without the token of a push.
fn without_push_token(path: &str) -> String {
    let is_push = ["/push/", "/api/push/"].into_iter().find(|prefix| path.starts_with(prefix));
    is_push.map_or_else(|| path.to_owned(), |prefix| format!("{prefix}…"))
}

/// Returns the id that the client sent, if it is short and safe to log; other ids could forge log lines.
fn request_id_of_client(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(REQUEST_ID_HEADER)?.to_str().ok()?;
    let is_safe_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte);
    ((1..=MAX_REQUEST_ID_CHARS).contains(&text.len()) && text.bytes().all(is_safe_byte))
        .then(|| text.to_owned())
}

/// Returns 16 random hexadecimal digits.
fn random_request_id() -> String {
    let mut bytes = [0; 8];
    // Fails only if the system has no randomness. Ids repeat then, which does no other harm.
    let _ = aws_lc_rs::rand::fill(&mut bytes);
    format!("{:016x}", u64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sane_ids_are_accepted() {
        let accepted = |text: &str| {
            request_id_of_client(&HeaderMap::from_iter([(
                REQUEST_ID_HEADER,
                HeaderValue::from_str(text).unwrap(),
            )]))
        };
        for valid in ["a", "7f3c-11", "Root=1-67891233-abcdef012345678912345678"] {
            assert_eq!(accepted(valid).as_deref(), Some(valid));
        }
        for invalid in ["", "a b", "a\"b", "a{b}", "é", &"x".repeat(129)] {
            assert_eq!(accepted(invalid), None, "{invalid}");
        }
        assert_eq!((random_request_id().len(), random_request_id() == random_request_id()), (16, false));
    }
}
