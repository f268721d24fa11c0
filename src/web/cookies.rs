//! The cookies of the pages: the session, the secret of the sign-in form, and how the pages look.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};

use super::csrf::request_authority;
use crate::service::ClientConnection;

/// How long a browser keeps a session cookie, in seconds: as long as a session can live.
const SESSION_COOKIE_SECONDS: u64 = 7 * 86_400;
/// How long a browser keeps the secret of the sign-in form, in seconds.
const FORM_COOKIE_SECONDS: u64 = 3_600;
/// How long a browser keeps the look of the pages, in seconds: a year.
const PREFERENCES_COOKIE_SECONDS: u64 = 365 * 86_400;
/// Longest value that is read, in bytes; longer ones were never set.
const MAX_VALUE_BYTES: usize = 256;

/// A cookie of the pages.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cookie {
    /// The session.
    Session,
    /// The secret of the sign-in form.
    Form,
    /// How the pages look.
    Preferences,
}

/// Where cookies are valid. Cookies do not depend on the port, so without TLS, where no prefix protects them, the port
/// is part of their name: several servers on one host do not overwrite each other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CookieScope {
    is_tls: bool,
    port: u16,
}

impl CookieScope {
    /// Returns the scope of a request to `authority`.
    fn new(authority: &str, is_tls: bool) -> Self {
        let port = authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Self { is_tls, port: port.unwrap_or(80) }
    }

    /// Returns the scope of the request with `head`.
    pub(super) fn of(head: &Parts) -> Self {
        let authority = request_authority(&head.uri, &head.headers).unwrap_or_default();
        Self::new(&authority, ClientConnection::from_extensions(&head.extensions).is_tls)
    }

    fn name(self, cookie: Cookie) -> String {
        let base_name = match cookie {
            Cookie::Session => "vigie-session",
            Cookie::Form => "vigie-form",
            Cookie::Preferences => "vigie-preferences",
        };
        if self.is_tls { format!("__Host-{base_name}") } else { format!("{base_name}-{}", self.port) }
    }

    /// Returns the value of `cookie` in a request.
    pub(super) fn read(self, cookie: Cookie, headers: &HeaderMap) -> Option<String> {
        let name = self.name(cookie);
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.find(|(found_name, _)| *found_name == name)?;
        (1..=MAX_VALUE_BYTES).contains(&value.len()).then(|| value.to_owned())
    }

    /// Returns the `Set-Cookie` header that sets `cookie` to `value`.
    pub(super) fn header_to_set(self, cookie: Cookie, value: &str) -> Option<HeaderValue> {
        let max_age = match cookie {
            Cookie::Session => SESSION_COOKIE_SECONDS,
            Cookie::Form => FORM_COOKIE_SECONDS,
            Cookie::Preferences => PREFERENCES_COOKIE_SECONDS,
        };
        self.set_cookie_header(cookie, value, max_age)
    }

    /// Returns the `Set-Cookie` header that removes `cookie`.
    pub(super) fn header_to_remove(self, cookie: Cookie) -> Option<HeaderValue> {
        self.set_cookie_header(cookie, "", 0)
    }

    fn set_cookie_header(self, cookie: Cookie, value: &str, max_age: u64) -> Option<HeaderValue> {
        let secure = if self.is_tls { "; Secure" } else { "" };
        let name = self.name(cookie);
        let text = format!("{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}");
        let mut header_value = HeaderValue::try_from(text).ok()?;
        header_value.set_sensitive(true);
        Some(header_value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_attributes_depend_on_tls() {
        let set = |authority, is_tls| {
            let header = CookieScope::new(authority, is_tls).header_to_set(Cookie::Session, "v").unwrap();
            header.to_str().unwrap().to_owned()
        };
        assert_eq!(
            set("vigie.example", true),
            "__Host-vigie-session=v; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(
            set("[::1]:7979", false),
            "vigie-session-7979=v; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax"
        );
        assert!(set("vigie.example", false).starts_with("vigie-session-80=v;"));
    }

    #[test]
    fn a_cookie_is_read_by_its_whole_name() {
        let scope = CookieScope::new("a:7979", false);
        let read = |text: &str| {
            let headers = HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_str(text).unwrap())]);
            scope.read(Cookie::Session, &headers)
        };
        assert_eq!(read("x=1; vigie-session-7979=abc; y=2").as_deref(), Some("abc"));
        for other in [
            "",
            "vigie-session-79=abc",
            "vigie-session-7979=",
            "__Host-vigie-session=abc",
            "vigie-form-7979=a",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read(&format!("vigie-session-7979={}", "x".repeat(MAX_VALUE_BYTES + 1))), None);
    }
}
