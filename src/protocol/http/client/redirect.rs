//! Redirects (RFC 9110 section 15.4).

use http::header::LOCATION;
use http::{HeaderMap, Method, StatusCode};
use url::Url;

use super::request_url::{MAX_URL_BYTES, is_http_url, remove_login, remove_login_and_fragment};
use crate::domain::{Failure, FailureKind, Phase, truncate};

/// Maximum number of redirects that are followed (behaviour.md 4).
pub const MAX_REDIRECTS: usize = 10;
/// Longest URL that messages quote, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// Which redirects a request follows, and with which method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedirectRule {
    /// Most redirects that are followed; one more is a failure.
    pub max: usize,
    /// Whether any is followed; if not, the redirect itself is the response.
    pub followed: bool,
    /// The method of the next request.
    pub method: RedirectMethod,
    /// Whether the next request names the URL that led to it, in `Referer`; only to the same origin.
    pub sends_referer: bool,
}

/// The method of a request after a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectMethod {
    /// As in browsers: 303 requires GET, and after 301 and 302 a POST becomes GET.
    Browser,
    /// GET after 301, 302 and 303, unless it was HEAD.
    Get,
    /// The same as before.
    Keep,
}

impl RedirectRule {
    /// Returns the rule of behaviour.md 4: at most [`MAX_REDIRECTS`], as in browsers, if they are followed at all.
    #[must_use]
    pub const fn from_flag(followed: bool) -> Self {
        Self { max: MAX_REDIRECTS, followed, method: RedirectMethod::Browser, sends_referer: false }
    }
}

/// Whether `status` is a redirect; other 3xx have no single target.
#[must_use]
pub fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Returns the URL that a response from `url` redirects to.
///
/// # Errors
/// Fails with [`FailureKind::RedirectInvalid`] without a usable `Location`.
pub fn redirect_target(url: &Url, status: StatusCode, headers: &HeaderMap) -> Result<Url, Failure> {
    let invalid_redirect = |text: String| {
        let detail = format!("{} from `{}` {text}", status.as_u16(), display_url(url));
        Failure::new(Phase::Validate, FailureKind::RedirectInvalid, detail)
    };
    let location = headers.get(LOCATION).ok_or_else(|| invalid_redirect("has no `Location`".to_owned()))?;
    let location = String::from_utf8_lossy(location.as_bytes());
    let mut target = url
        .join(&location)
        .map_err(|error| invalid_redirect(format!("has a `Location` that is not a URL: {error}")))?;
    if !is_http_url(&target) {
        return Err(invalid_redirect(format!("leads to `{}:`, which is not followed", target.scheme())));
    }
    // Credentials in a `Location` are not sent: they come from the server.
    remove_login_and_fragment(&mut target);
    if target.as_str().len() > MAX_URL_BYTES {
        return Err(invalid_redirect(format!("leads to a URL of more than {MAX_URL_BYTES} bytes")));
    }
    Ok(target)
}

/// Returns the method after a redirect.
pub(super) fn method_after_redirect(rule: RedirectMethod, status: StatusCode, method: &Method) -> Method {
    match (rule, status.as_u16()) {
        (RedirectMethod::Browser, 303) | (RedirectMethod::Get, 301..=303) if method != Method::HEAD => {
            Method::GET
        }
        (RedirectMethod::Browser, 301 | 302) if method == Method::POST => Method::GET,
        _ => method.clone(),
    }
}

/// Returns a URL for messages: without credentials, and truncated.
#[must_use]
pub fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    remove_login(&mut url);
    truncate(url.as_str(), MAX_QUOTED_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(from: &str, location: Option<&str>) -> Result<String, String> {
        let mut headers = HeaderMap::new();
        if let Some(location) = location {
            headers.insert(LOCATION, location.parse().unwrap());
        }
        let from = Url::parse(from).unwrap();
        redirect_target(&from, StatusCode::FOUND, &headers)
            .map(String::from)
            .map_err(|failure| failure.detail)
    }

    #[test]
    fn locations_are_resolved_against_the_url() {
        for (from, location, to) in [
            ("http://a/b/c?d", "e", "http://a/b/e"),
            ("http://a/b/c", "/e?f", "http://a/e?f"),
            ("http://a/b/c", "?f", "http://a/b/c?f"),
            ("http://a/b/c", "../../..", "http://a/"),
            ("http://a:81/b", "//other/x", "http://other/x"),
            ("https://a/b", "http://a/b", "http://a/b"),
            ("http://a:8080/b", "/c", "http://a:8080/c"),
            ("http://a/", "https://user:secret@b/#part", "https://b/"),
            ("http://a/", "", "http://a/"),
            ("http://a/", "/with space", "http://a/with%20space"),
            ("http://a/", "http://[::1]:81/", "http://[::1]:81/"),
        ] {
            assert_eq!(follow(from, Some(location)).unwrap(), to, "{from} {location}");
        }
    }

    #[test]
    fn an_invalid_redirect_gives_its_reason() {
        for (location, text) in [
            (None, "no `Location`"),
            (Some("http://"), "not a URL"),
            (Some(&format!("/{}", "x".repeat(65_000))), "more than 65000 bytes"),
            (Some("http://a:99999/"), "not a URL"),
            (Some("ftp://a/"), "`ftp:`"),
            (Some("javascript:alert(1)"), "`javascript:`"),
            (Some("file:///etc/passwd"), "`file:`"),
        ] {
            let error = follow("http://a/", location).unwrap_err();
            assert!(error.contains(text), "{location:?}: {error}");
        }
    }

    #[test]
    fn methods_change_as_in_browsers() {
        for (status, before, after) in [
            (301, Method::POST, Method::GET),
            (302, Method::POST, Method::GET),
            (303, Method::POST, Method::GET),
            (307, Method::POST, Method::POST),
            (308, Method::POST, Method::POST),
            (301, Method::HEAD, Method::HEAD),
            (303, Method::HEAD, Method::HEAD),
            (303, Method::GET, Method::GET),
        ] {
            assert_eq!(
                method_after_redirect(
                    RedirectMethod::Browser,
                    StatusCode::from_u16(status).unwrap(),
                    &before
                ),
                after,
                "{status}"
            );
        }
        for (rule, status, before, after) in [
            (RedirectMethod::Get, 302, Method::PUT, Method::GET),
            (RedirectMethod::Get, 301, Method::HEAD, Method::HEAD),
            (RedirectMethod::Get, 307, Method::PUT, Method::PUT),
            (RedirectMethod::Keep, 303, Method::POST, Method::POST),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(method_after_redirect(rule, status, &before), after, "{rule:?} {status}");
        }
    }
}
