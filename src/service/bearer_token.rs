//! The bearer token of a request (RFC 6750 2.1).

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Returns the bearer token among `headers`, which may be empty; `None` without one.
#[must_use]
pub fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
