//! Answers to a server that asks who is there: Basic (RFC 7617).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use url::{Origin, Url};

use crate::model::{Document, Failure, FailureKind, Phase};

/// User name and password, for the first origin alone.
pub(super) struct Login {
    basic: HeaderValue,
    origin: Origin,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

impl Login {
    /// The login of `realm_userid` and `realm_password`, else of the URL; `None` without a user name.
    pub(super) fn of(document: &Document, url: &Url) -> Option<Self> {
        let text = |field| document.text(field).unwrap_or_default();
        let (user, password) = match text("realm_userid") {
            "" => (unescaped(url.username()), unescaped(url.password().unwrap_or_default())),
            user => (user.as_bytes().to_vec(), text("realm_password").as_bytes().to_vec()),
        };
        if user.is_empty() {
            return None;
        }
        let pair = [user.as_slice(), b":", &password].concat();
        let mut basic = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair))).ok()?;
        basic.set_sensitive(true);
        Some(Self { basic, origin: url.origin() })
    }

    /// Whether `url` belongs to the server that the login is for.
    pub(super) fn is_for(&self, url: &Url) -> bool {
        self.origin == url.origin()
    }

    /// The value of `Authorization` that answers the challenges of a 401.
    ///
    /// # Errors
    /// [`FailureKind::Unsupported`] when the server accepts no scheme that this build speaks.
    pub(super) fn answer(&self, headers: &HeaderMap) -> Result<HeaderValue, Failure> {
        let offered: Vec<String> = headers.get_all(WWW_AUTHENTICATE).iter().flat_map(schemes).collect();
        // A 401 without a challenge breaks RFC 9110 15.5.2, but what it means is plain.
        if offered.is_empty() || offered.iter().any(|scheme| scheme == "basic") {
            return Ok(self.basic.clone());
        }
        let detail =
            format!("the server asks for a `{}` login, this build answers `basic`", offered.join("` or `"));
        Err(Failure::new(Phase::Validate, FailureKind::Unsupported, detail))
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

/// The schemes that one `WWW-Authenticate` value names, in lower case. Parameters (`name=value`) also
/// stand between commas; a scheme is a token that no `=` follows (RFC 9110 11.6.1).
fn schemes(value: &HeaderValue) -> Vec<String> {
    let text = String::from_utf8_lossy(value.as_bytes());
    let mut schemes = Vec::new();
    for part in outside_of_quotes(&text) {
        let part = part.trim();
        let (word, rest) = part.split_once([' ', '\t']).unwrap_or((part, ""));
        let is_token = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if is_token && !rest.trim_start().starts_with('=') {
            schemes.push(word.to_ascii_lowercase());
        }
    }
    schemes
}

/// Splits at commas that do not stand in a quoted string.
fn outside_of_quotes(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_told_from_parameters() {
        for (value, expected) in [
            ("Basic realm=\"a\"", vec!["basic"]),
            ("basic", vec!["basic"]),
            ("BASIC realm=\"a, Digest b\"", vec!["basic"]),
            ("Digest realm=\"x\", nonce=\"y\", Basic realm=\"z\"", vec!["digest", "basic"]),
            ("Digest realm = \"x\", qop = \"auth,auth-int\"", vec!["digest"]),
            ("Basic realm=\"a\\\"b, Digest\"", vec!["basic"]),
            ("Negotiate, Bearer", vec!["negotiate", "bearer"]),
            ("Negotiate YII=", vec!["negotiate"]),
            ("", vec![]),
            (",,", vec![]),
            ("Basic realm=\"open", vec!["basic"]),
        ] {
            assert_eq!(schemes(&HeaderValue::from_str(value).unwrap()), expected, "{value}");
        }
    }

    #[test]
    fn credentials_of_a_url_are_unescaped() {
        for (escaped, plain) in [
            ("a%40b", "a@b"),
            ("a+b", "a+b"),
            ("p%26q=", "p&q="),
            ("100%", "100%"),
            ("%C3%A9", "é"),
            ("", ""),
        ] {
            assert_eq!(unescaped(escaped), plain.as_bytes(), "{escaped}");
        }
    }
}
