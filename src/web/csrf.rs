//! Protection of forms against requests that other sites make in the name of a signed-in user (CSRF): the request
//! must come from a page of this server, and carry the token that belongs to its cookie.

use aws_lc_rs::digest;
use axum::http::{HeaderMap, Uri, header};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use url::Url;

use crate::domain::constant_time_eq;

/// Name of the form field with the token.
pub(super) const FORM_TOKEN_FIELD: &str = "form_token";

/// Returns the token of forms for the holder of `cookie_value`.
pub(super) fn form_token(cookie_value: &str) -> String {
    let digest = digest::digest(&digest::SHA256, format!("vigie form {cookie_value}").as_bytes());
    URL_SAFE_NO_PAD.encode(digest.as_ref())
}

/// Whether `sent_token` belongs to the cookie.
pub(super) fn is_form_token(cookie_value: &str, sent_token: &str) -> bool {
    constant_time_eq(&form_token(cookie_value), sent_token)
}

/// Returns host and port that the request names: of its target in HTTP/2, otherwise of the `Host` header.
pub(super) fn request_authority(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let host_header = || headers.get(header::HOST)?.to_str().ok().map(str::to_owned);
    uri.authority().map(ToString::to_string).or_else(host_header)
}

/// Where a request comes from, according to its headers, which scripts cannot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOrigin {
    /// A page of this server.
    SameOrigin,
    /// A page of another site.
    Foreign,
    /// The client does not say.
    Unknown,
}

/// Returns the origin of a request to `authority`. Behind a TLS proxy, the scheme of the browser is not known unless
/// the proxy is trusted, so a plain connection accepts both schemes.
pub(super) fn request_origin(headers: &HeaderMap, authority: &str, is_tls: bool) -> RequestOrigin {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let fetch_site = text("sec-fetch-site");
    if fetch_site.is_some_and(|site| site != "same-origin") {
        return RequestOrigin::Foreign;
    }
    match text("origin") {
        // Browsers send `null` for the forms of a page whose policy is to send no referrer.
        None | Some("null") if fetch_site.is_some() => RequestOrigin::SameOrigin,
        None | Some("null") => RequestOrigin::Unknown,
        Some(origin) if is_origin_of(origin, authority, is_tls) => RequestOrigin::SameOrigin,
        Some(_) => RequestOrigin::Foreign,
    }
}

fn is_origin_of(origin: &str, authority: &str, is_tls: bool) -> bool {
    let Ok(origin) = Url::parse(origin) else { return false };
    let is_scheme_allowed = origin.scheme() == "https" || (origin.scheme() == "http" && !is_tls);
    let server = Url::parse(&format!("{}://{authority}/", origin.scheme()));
    is_scheme_allowed && server.is_ok_and(|server| server.origin() == origin.origin())
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn origin(fields: &[(&'static str, &'static str)], is_tls: bool) -> RequestOrigin {
        let headers = fields
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        request_origin(&headers.collect(), "vigie.example:7979", is_tls)
    }

    #[test]
    fn only_pages_of_this_server_are_the_same_origin() {
        for same in ["http://vigie.example:7979", "https://vigie.example:7979", "HTTP://VIGIE.example:7979"] {
            assert_eq!(origin(&[("origin", same)], false), RequestOrigin::SameOrigin, "{same}");
        }
        for foreign in [
            "http://vigie.example",
            "http://vigie.example:7980",
            "http://evil.example:7979",
            "http://vigie.example.evil.example:7979",
            "file://vigie.example:7979",
            "nonsense",
        ] {
            assert_eq!(origin(&[("origin", foreign)], false), RequestOrigin::Foreign, "{foreign}");
        }
        assert_eq!(origin(&[("origin", "http://vigie.example:7979")], true), RequestOrigin::Foreign);
        let default_port: HeaderMap =
            [(header::ORIGIN, HeaderValue::from_static("https://vigie.example"))].into_iter().collect();
        assert_eq!(request_origin(&default_port, "vigie.example", true), RequestOrigin::SameOrigin);
    }

    #[test]
    fn what_the_browser_says_about_the_site_counts_without_an_origin() {
        assert_eq!(origin(&[], false), RequestOrigin::Unknown);
        assert_eq!(origin(&[("origin", "null")], false), RequestOrigin::Unknown);
        let site = |site| origin(&[("origin", "null"), ("sec-fetch-site", site)], false);
        assert_eq!(site("same-origin"), RequestOrigin::SameOrigin);
        for foreign in ["cross-site", "same-site", "none"] {
            assert_eq!(site(foreign), RequestOrigin::Foreign);
        }
    }

    #[test]
    fn a_form_token_fits_its_cookie_alone() {
        assert!(is_form_token("a", &form_token("a")));
        assert!(!is_form_token("b", &form_token("a")) && !is_form_token("a", "") && !is_form_token("a", "a"));
    }
}
