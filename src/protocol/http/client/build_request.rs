//! Builds the HTTP message of one exchange.

use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, HeaderName, HeaderValue, REFERER,
};
use http::{HeaderMap, Method, Request, Uri, Version};
use http_body_util::Full;
use url::{Position, Url};

use super::redirect::display_url;
use crate::domain::{Failure, FailureKind, Phase};
use crate::protocol::http::traceparent::TRACEPARENT;
use crate::syntax::substring_set::SubstringSet;

/// Whether a header field of this name carries a credential. There is no complete list of such names: `Authorization`,
/// `Cookie`, `X-Api-Key`, `X-Auth-Token` and others are recognised by the words in them, which include all of
/// [`is_sensitive_header`](crate::redaction::sensitive_names::is_sensitive_header).
#[must_use]
pub fn is_secret_header(name: &HeaderName) -> bool {
    static WORDS: SubstringSet<9> = SubstringSet::new([
        "auth",
        "cookie",
        "credential",
        "key",
        "passw",
        "secret",
        "session",
        "signature",
        "token",
    ]);
    WORDS.occurs_in(name.as_str().as_bytes())
}

/// The inputs of the message of an exchange.
pub(super) struct RequestParts<'m> {
    /// The URL; redirects change it.
    pub(super) url: &'m Url,
    pub(super) method: &'m Method,
    pub(super) version: Version,
    /// The URL of the monitor itself.
    pub(super) monitor_url: &'m Url,
    /// The header fields of the monitor; those with credentials are sent only to the origin of `monitor_url`.
    pub(super) headers: &'m HeaderMap,
    pub(super) body: Option<&'m Bytes>,
    pub(super) cookie_header: Option<HeaderValue>,
    pub(super) referer: Option<HeaderValue>,
    pub(super) authorization_header: Option<&'m HeaderValue>,
    /// The value of `traceparent`, unless `headers` have one.
    pub(super) traceparent: Option<&'m HeaderValue>,
}

/// Builds the message from `parts`.
///
/// # Errors
/// Fails, as Vigie's own fault, when the URL is too long for a request line.
pub(super) fn build_request(parts: RequestParts<'_>) -> Result<Request<Full<Bytes>>, Failure> {
    let RequestParts { url, version, .. } = parts;
    let mut message = Request::new(Full::default());
    *message.uri_mut() = request_target(url, version)?;
    *message.version_mut() = version;
    let headers = message.headers_mut();
    headers.clone_from(parts.headers);
    if matches!(version, Version::HTTP_2 | Version::HTTP_3) {
        // RFC 9113 8.2.2 and RFC 9114 4.2 forbid connection header fields; the pseudo header fields contain the host.
        headers.remove(HOST);
        headers.remove(CONNECTION);
    } else {
        let host = &url[Position::BeforeHost..Position::AfterPort];
        headers.insert(HOST, HeaderValue::from_str(host).map_err(|_| invalid_url_failure(url))?);
    }
    if !is_same_origin(url, parts.monitor_url) {
        // The monitor's credentials are only for its own server.
        let secret_names: Vec<HeaderName> =
            headers.keys().filter(|name| is_secret_header(name)).cloned().collect();
        for secret_name in secret_names {
            headers.remove(secret_name);
        }
    }
    if let Some(cookies) = parts.cookie_header {
        headers.append(COOKIE, cookies);
    }
    if let Some(referer) = parts.referer {
        headers.insert(REFERER, referer);
    }
    if let Some(authorization) = parts.authorization_header {
        headers.insert(AUTHORIZATION, authorization.clone());
    }
    if let Some(traceparent) = parts.traceparent.filter(|_| !headers.contains_key(TRACEPARENT)) {
        headers.insert(TRACEPARENT, traceparent.clone());
    }
    match parts.body {
        Some(body) => {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
            *message.body_mut() = Full::new(body.clone());
        }
        None => {
            message.headers_mut().remove(CONTENT_TYPE);
        }
    }
    message.method_mut().clone_from(parts.method);
    Ok(message)
}

/// Whether two `http` or `https` URLs have the same origin (RFC 6454 4).
#[must_use]
pub fn is_same_origin(first: &Url, second: &Url) -> bool {
    first.scheme() == second.scheme()
        && first.host_str() == second.host_str()
        && first.port_or_known_default() == second.port_or_known_default()
}

/// Returns the target of the request line (RFC 9112 3.2.1), or of the pseudo header fields in HTTP/2.
fn request_target(url: &Url, version: Version) -> Result<Uri, Failure> {
    let part = match version {
        Version::HTTP_2 | Version::HTTP_3 => &url[..Position::AfterQuery],
        _ => &url[Position::BeforePath..Position::AfterQuery],
    };
    part.parse().map_err(|_| invalid_url_failure(url))
}

fn invalid_url_failure(url: &Url) -> Failure {
    let detail = format!("`{}` cannot be put into a request", display_url(url));
    Failure::new(Phase::Prepare, FailureKind::Internal, detail)
}
