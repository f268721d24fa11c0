//! A login, and its state over the requests of a check.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;
use http::{HeaderMap, Method};
use url::{Origin, Position, Url};

use super::challenge;
use super::challenge::Challenge;
use super::digest::{DigestAuth, DigestRequest};
use crate::domain::{Failure, FailureKind, Phase};

/// User name and password, for one origin only.
pub struct HttpCredentials {
    username: Vec<u8>,
    password: Vec<u8>,
    origin: Origin,
}

/// The chosen scheme, kept for further requests of the chain.
#[derive(Debug)]
pub(in crate::protocol::http::client) enum AuthScheme {
    Basic,
    Digest(DigestAuth),
}

impl std::fmt::Debug for HttpCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

impl HttpCredentials {
    /// Creates the login of `user` at the origin of `url`. Without a user name, uses that of the URL; `None` when it
    /// has none either.
    #[must_use]
    pub fn from_user_or_url(user: &str, password: &str, url: &Url) -> Option<Self> {
        let (user, password) = match user {
            "" => (percent_decode(url.username()), percent_decode(url.password().unwrap_or_default())),
            user => (user.as_bytes().to_vec(), password.as_bytes().to_vec()),
        };
        (!user.is_empty()).then(|| Self { username: user, password, origin: url.origin() })
    }

    /// Whether `url` belongs to the server of the login.
    pub(in crate::protocol::http::client) fn applies_to(&self, url: &Url) -> bool {
        self.origin == url.origin()
    }

    /// Returns the value of `Authorization` for a request of `method` to `url` with `body`; `None` for a user name that
    /// no header can contain.
    pub(in crate::protocol::http::client) fn authorization_header(
        &self,
        auth_scheme: &mut AuthScheme,
        method: &Method,
        url: &Url,
        body: &[u8],
    ) -> Option<HeaderValue> {
        let target = &url[Position::BeforePath..Position::AfterQuery];
        let value = match auth_scheme {
            AuthScheme::Basic => {
                let pair = [self.username.as_slice(), b":", &self.password].concat();
                format!("Basic {}", STANDARD.encode(pair)).into_bytes()
            }
            AuthScheme::Digest(digest) => digest.authorization_header(
                &self.username,
                &self.password,
                DigestRequest { method: method.as_str(), target, body },
            ),
        };
        let mut value = HeaderValue::from_bytes(&value).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl AuthScheme {
    /// Chooses the scheme for the challenges of a 401: the first supported Digest, otherwise Basic, which reveals the
    /// password.
    ///
    /// # Errors
    /// Fails with [`FailureKind::ProbeUnsupported`] when the server accepts no supported scheme.
    pub(in crate::protocol::http::client) fn from_challenges(headers: &HeaderMap) -> Result<Self, Failure> {
        let offered = challenge::parse_challenges(headers);
        if let Some(digest) = offered.iter().find_map(DigestAuth::from_challenge) {
            return Ok(Self::Digest(digest));
        }
        // A 401 without a challenge breaks RFC 9110 15.5.2, but its meaning is clear.
        if offered.is_empty() || offered.iter().any(|challenge| challenge.scheme == "basic") {
            return Ok(Self::Basic);
        }
        let names: Vec<String> = offered.iter().map(Challenge::describe).collect();
        let detail = format!(
            "the server requires a `{}` login; supported are `basic`, and `digest` with MD5, SHA-256 or SHA-512-256",
            names.join("` or `")
        );
        Err(Failure::new(Phase::Validate, FailureKind::ProbeUnsupported, detail))
    }

    /// Whether the 401 with these `headers` asks for a new authorization instead of refusing this one: the nonce is too
    /// old, or the realm is another one (RFC 7616 3.3 `stale`, RFC 9110 11.5).
    pub(in crate::protocol::http::client) fn requires_new_authorization(&self, headers: &HeaderMap) -> bool {
        let Self::Digest(digest) = self else { return false };
        let supersedes = |challenge: &Challenge| {
            DigestAuth::from_challenge(challenge).is_some_and(|new| digest.is_superseded_by(&new))
        };
        challenge::parse_challenges(headers).iter().any(supersedes)
    }
}

fn percent_decode(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

#[cfg(test)]
mod tests {
    use http::header::WWW_AUTHENTICATE;

    use super::*;

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
            assert_eq!(percent_decode(escaped), plain.as_bytes(), "{escaped}");
        }
    }

    #[test]
    fn the_safest_supported_scheme_is_chosen() {
        let url = Url::parse("http://me:secret@a.test/").unwrap();
        let login = HttpCredentials {
            username: percent_decode(url.username()),
            password: percent_decode(url.password().unwrap()),
            origin: url.origin(),
        };
        for (values, expected) in [
            (&[][..], "Basic "),
            (&["Basic realm=\"a\""], "Basic "),
            (&["Basic realm=\"a\"", "Digest realm=\"b\", nonce=\"c\""], "Digest "),
            (&["Basic realm=\"a\", Digest realm=\"b\", nonce=\"c\", qop=\"auth-int\""], "Digest "),
            (&["Digest realm=\"b\", nonce=\"c\", algorithm=SHA-512", "Basic"], "Basic "),
            (&["Digest realm=\"b\"", "Basic"], "Basic "),
            (&["Negotiate", "NTLM"], "`negotiate` or `ntlm`"),
            (&["Digest realm=\"b\", nonce=\"c\", algorithm=SHA-512"], "`digest SHA-512`"),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(WWW_AUTHENTICATE, HeaderValue::from_static(value));
            }
            let authorization = AuthScheme::from_challenges(&headers).map(|mut auth_scheme| {
                let value = login.authorization_header(&mut auth_scheme, &Method::GET, &url, b"").unwrap();
                value.to_str().unwrap().to_owned()
            });
            let text = authorization.unwrap_or_else(|failure| failure.detail);
            assert!(text.contains(expected), "{values:?}: {text}");
        }
    }
}
