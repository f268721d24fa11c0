//! The challenges of a 401 (RFC 9110 11.6.1).

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// One challenge. Values are bytes: a realm may be in any charset, and digests are computed from the received bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    /// The scheme in lower case.
    pub(super) scheme: String,
    /// Names in lower case; values without quotes and escapes.
    parameters: Vec<(String, Vec<u8>)>,
}

impl Challenge {
    /// Returns the value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&[u8]> {
        self.parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_slice())
    }

    /// Returns the value of a parameter as text, for comparisons.
    pub(super) fn parameter_text(&self, name: &str) -> Option<String> {
        self.parameter(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Returns the scheme with its algorithm, for messages.
    pub(super) fn describe(&self) -> String {
        match self.parameter_text("algorithm") {
            Some(algorithm) => {
                format!("{} {}", self.scheme, algorithm.chars().take(20).collect::<String>().escape_debug())
            }
            None => self.scheme.clone(),
        }
    }
}

/// Returns all challenges of a response, in their order.
pub(super) fn parse_challenges(headers: &HeaderMap) -> Vec<Challenge> {
    let mut challenges: Vec<Challenge> = Vec::new();
    for value in headers.get_all(WWW_AUTHENTICATE) {
        let field_start = challenges.len();
        for part in split_unquoted_commas(value.as_bytes()) {
            let part = part.trim_ascii();
            let end = part.iter().position(|&byte| !is_token_byte(byte)).unwrap_or(part.len());
            let (scheme, after_scheme) = part.split_at(end);
            let Ok(scheme) = std::str::from_utf8(scheme) else { continue };
            let after_scheme = after_scheme.trim_ascii_start();
            if scheme.is_empty() {
                continue;
            }
            let parameter = if after_scheme.starts_with(b"=") {
                // A parameter belongs to the previous challenge of the same field.
                parse_parameter(part)
            } else {
                challenges.push(Challenge { scheme: scheme.to_ascii_lowercase(), parameters: Vec::new() });
                parse_parameter(after_scheme)
            };
            if let (Some(last), Some(parameter)) = (challenges[field_start..].last_mut(), parameter) {
                last.parameters.push(parameter);
            }
        }
    }
    challenges
}

/// Parses `name = value` or `name = "value"`; returns `None` for anything else, such as the base64 of other schemes.
fn parse_parameter(text: &[u8]) -> Option<(String, Vec<u8>)> {
    let equals = text.iter().position(|&byte| byte == b'=')?;
    let (name, value) = (text[..equals].trim_ascii(), text[equals + 1..].trim_ascii());
    if name.is_empty() || !name.iter().all(|&byte| is_token_byte(byte)) {
        return None;
    }
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let Some(quoted) = value.strip_prefix(b"\"") else { return Some((name, value.to_vec())) };
    let mut unquoted = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => unquoted.extend(bytes.next()),
            byte => unquoted.push(byte),
        }
    }
    Some((name, unquoted))
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Splits at commas outside of quoted strings.
fn split_unquoted_commas(text: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (index, &byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn parse_challenge_header(value: &[u8]) -> Vec<Challenge> {
        let mut headers = HeaderMap::new();
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_bytes(value).unwrap());
        parse_challenges(&headers)
    }

    #[test]
    fn schemes_are_distinguished_from_parameters() {
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
            ("realm=\"of nobody\"", vec![]),
            ("Basic realm=\"open", vec!["basic"]),
        ] {
            let schemes: Vec<String> =
                parse_challenge_header(value.as_bytes()).into_iter().map(|c| c.scheme).collect();
            assert_eq!(schemes, expected, "{value}");
        }
    }

    #[test]
    fn parameters_lose_their_quotes_and_escapes() {
        let value =
            "Digest Realm=\"a, \\\"b\\\"\", nonce=n/=1,qop=\"auth,auth-int\" , stale = TRUE, Basic realm=r";
        let challenges = parse_challenge_header(value.as_bytes());
        let digest = &challenges[0];
        for (name, expected) in
            [("realm", "a, \"b\""), ("nonce", "n/=1"), ("qop", "auth,auth-int"), ("stale", "TRUE")]
        {
            assert_eq!(digest.parameter_text(name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(digest.parameter("opaque"), None);
        assert_eq!(challenges[1].parameter_text("realm").as_deref(), Some("r"));
        assert_eq!(
            parse_challenge_header(b"Digest realm=\"\xe9\"")[0].parameter("realm"),
            Some(&b"\xe9"[..])
        );
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                headers.insert(WWW_AUTHENTICATE, value);
                let _ = parse_challenges(&headers);
            }
        }
    }
}
