//! Digest access authentication (RFC 7616; without `qop` the older form of RFC 2069).

use aws_lc_rs::digest::{SHA256, SHA512_256, digest};
use md5::{Digest as _, Md5};

use super::challenge::Challenge;
use crate::domain::to_hex;

/// The request to authorize.
#[derive(Clone, Copy)]
pub(super) struct DigestRequest<'a> {
    /// Its method.
    pub(super) method: &'a str,
    /// The target of the request line.
    pub(super) target: &'a str,
    /// Its body.
    pub(super) body: &'a [u8],
}

/// The state of a Digest authentication. Holds no secret.
#[derive(Debug)]
pub(in crate::protocol::http::client) struct DigestAuth {
    realm: Vec<u8>,
    nonce: Vec<u8>,
    opaque: Option<Vec<u8>>,
    algorithm: DigestAlgorithm,
    /// Whether the algorithm is a `-sess` variant, whose user hash includes both nonces.
    is_session_variant: bool,
    /// The algorithm as the server wrote it; `None` when it sent none.
    algorithm_name: Option<String>,
    /// What the hash covers; `None` in the older form.
    qop: Option<Qop>,
    /// Whether the server wants the user name hashed (RFC 7616 3.4.4).
    hashes_user: bool,
    /// Whether the server says that only the nonce was too old, not that the login is wrong.
    is_stale: bool,
    client_nonce: String,
    nonce_count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DigestAlgorithm {
    Md5,
    Sha256,
    Sha512_256,
}

/// `qop`: what the hash of the response covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Qop {
    /// Method and target.
    Auth,
    /// Also the body of the request.
    AuthInt,
}

impl Qop {
    const fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::AuthInt => "auth-int",
        }
    }

    /// Returns the best `qop` that a server offers in a comma-separated list: `auth` before `auth-int`, which few
    /// servers implement correctly.
    fn choose_offered(offered: &str) -> Option<Self> {
        let offers = |qop: Self| {
            offered.split(',').any(|offered_name| offered_name.trim().eq_ignore_ascii_case(qop.name()))
        };
        [Self::Auth, Self::AuthInt].into_iter().find(|&qop| offers(qop))
    }
}

impl DigestAlgorithm {
    /// Returns the hash of `parts`, joined by colons, in hexadecimal.
    fn hex_digest(self, parts: &[&[u8]]) -> Vec<u8> {
        let text = parts.join(&b':');
        match self {
            Self::Md5 => hex(&Md5::digest(&text)),
            Self::Sha256 => hex(digest(&SHA256, &text).as_ref()),
            Self::Sha512_256 => hex(digest(&SHA512_256, &text).as_ref()),
        }
    }
}

impl DigestAuth {
    /// Creates the state for `challenge`; `None` when it is not a Digest, or its algorithm or `qop` is not supported.
    pub(super) fn from_challenge(challenge: &Challenge) -> Option<Self> {
        if challenge.scheme != "digest" {
            return None;
        }
        let algorithm = challenge.parameter_text("algorithm");
        let (hash, is_session) = match algorithm.as_deref().unwrap_or("MD5").to_ascii_uppercase().as_str() {
            "MD5" => (DigestAlgorithm::Md5, false),
            "MD5-SESS" => (DigestAlgorithm::Md5, true),
            "SHA-256" => (DigestAlgorithm::Sha256, false),
            "SHA-256-SESS" => (DigestAlgorithm::Sha256, true),
            "SHA-512-256" => (DigestAlgorithm::Sha512_256, false),
            "SHA-512-256-SESS" => (DigestAlgorithm::Sha512_256, true),
            _ => return None,
        };
        let qop = challenge.parameter_text("qop");
        let chosen_qop = qop.as_deref().and_then(Qop::choose_offered);
        // The hash of a session needs the client's nonce, which is only sent with a `qop`.
        if chosen_qop.is_none() && (qop.is_some() || is_session) {
            return None;
        }
        let is_true = |name: &str| {
            challenge.parameter_text(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
        };
        let mut random = [0; 16];
        aws_lc_rs::rand::fill(&mut random).ok()?;
        Some(Self {
            realm: challenge.parameter("realm").unwrap_or_default().to_vec(),
            nonce: challenge.parameter("nonce")?.to_vec(),
            opaque: challenge.parameter("opaque").map(<[u8]>::to_vec),
            algorithm: hash,
            is_session_variant: is_session,
            algorithm_name: algorithm,
            qop: chosen_qop,
            hashes_user: is_true("userhash"),
            is_stale: is_true("stale"),
            client_nonce: String::from_utf8_lossy(&hex(&random)).into_owned(),
            nonce_count: 0,
        })
    }

    /// Whether `new`, the challenge that rejected this authorization, requires a new one.
    pub(super) fn is_superseded_by(&self, new: &Self) -> bool {
        new.is_stale || new.realm != self.realm
    }

    /// Returns the value of `Authorization` for `request`.
    pub(super) fn authorization_header(
        &mut self,
        user: &[u8],
        password: &[u8],
        request: DigestRequest<'_>,
    ) -> Vec<u8> {
        self.nonce_count += 1;
        let nonce_count = format!("{:08x}", self.nonce_count);
        let (nonce, cnonce) = (self.nonce.as_slice(), self.client_nonce.as_bytes());
        let mut user_hash = self.algorithm.hex_digest(&[user, &self.realm, password]);
        if self.is_session_variant {
            user_hash = self.algorithm.hex_digest(&[&user_hash, nonce, cnonce]);
        }
        let mut parts = vec![request.method.as_bytes(), request.target.as_bytes()];
        let body = self.algorithm.hex_digest(&[request.body]);
        parts.extend((self.qop == Some(Qop::AuthInt)).then_some(body.as_slice()));
        let request_hash = self.algorithm.hex_digest(&parts);
        let response = match self.qop.map(Qop::name) {
            Some(qop_name) => self.algorithm.hex_digest(&[
                &user_hash,
                nonce,
                nonce_count.as_bytes(),
                cnonce,
                qop_name.as_bytes(),
                &request_hash,
            ]),
            None => self.algorithm.hex_digest(&[&user_hash, nonce, &request_hash]),
        };
        let mut header = b"Digest ".to_vec();
        if self.hashes_user {
            header.extend(
                [b"username=".as_slice(), &quoted_string(&self.algorithm.hex_digest(&[user, &self.realm]))]
                    .concat(),
            );
        } else {
            header.extend(username_parameter(user));
        }
        for (name, text) in [
            ("realm", Some(self.realm.as_slice())),
            ("nonce", Some(nonce)),
            ("uri", Some(request.target.as_bytes())),
            ("response", Some(response.as_slice())),
            ("opaque", self.opaque.as_deref()),
        ] {
            if let Some(text) = text {
                header.extend_from_slice(format!(", {name}=").as_bytes());
                header.extend(quoted_string(text));
            }
        }
        if let Some(algorithm) = &self.algorithm_name {
            header.extend_from_slice(format!(", algorithm={algorithm}").as_bytes());
        }
        if let Some(qop_name) = self.qop.map(Qop::name) {
            let parts = format!(", qop={qop_name}, nc={nonce_count}, cnonce=\"{}\"", self.client_nonce);
            header.extend_from_slice(parts.as_bytes());
        }
        if self.hashes_user {
            header.extend_from_slice(b", userhash=true");
        }
        header
    }
}

/// Formats the user name; one beyond ASCII in the form of RFC 8187 (RFC 7616 3.4 `username*`).
fn username_parameter(user: &[u8]) -> Vec<u8> {
    if user.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return [b"username=".as_slice(), &quoted_string(user)].concat();
    }
    let escaped = percent_encoding::percent_encode(user, percent_encoding::NON_ALPHANUMERIC);
    format!("username*=UTF-8''{escaped}").into_bytes()
}

fn quoted_string(text: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for &byte in text {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(byte);
    }
    quoted.push(b'"');
    quoted
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    to_hex(bytes).into_bytes()
}

#[cfg(test)]
mod tests {
    use http::header::WWW_AUTHENTICATE;
    use http::{HeaderMap, HeaderValue};

    use super::super::challenge::parse_challenges;
    use super::*;

    fn parse_digest_challenge(value: &str) -> Option<DigestAuth> {
        let mut headers = HeaderMap::new();
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_str(value).unwrap());
        parse_challenges(&headers).iter().find_map(DigestAuth::from_challenge)
    }

    fn authorization(value: &str, cnonce: &str, user: &str, password: &str) -> String {
        let mut digest = parse_digest_challenge(value).unwrap();
        cnonce.clone_into(&mut digest.client_nonce);
        let request = DigestRequest { method: "GET", target: "/dir/index.html", body: b"" };
        let authorization = digest.authorization_header(user.as_bytes(), password.as_bytes(), request);
        String::from_utf8(authorization).unwrap()
    }

    #[test]
    fn the_examples_of_the_rfcs_are_reproduced() {
        let rfc7616_challenge = "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
             nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
             opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\", algorithm=";
        let rfc2617_challenge = "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", \
             nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"";
        let rfc2069_challenge = "Digest realm=\"testrealm@host.com\", \
             nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"";
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        for (challenge, cnonce, password, response) in [
            (format!("{rfc7616_challenge}MD5"), cnonce, "Circle of Life", "8ca523f5e9506fed4657c9700eebdbec"),
            (
                format!("{rfc7616_challenge}SHA-256"),
                cnonce,
                "Circle of Life",
                "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
            ),
            (rfc2617_challenge.to_owned(), "0a4f113b", "Circle Of Life", "6629fae49393a05397450978507c4ef1"),
            (rfc2069_challenge.to_owned(), "", "CircleOfLife", "1949323746fe6a43ef61f9606e7febea"),
        ] {
            let authorization = authorization(&challenge, cnonce, "Mufasa", password);
            assert!(
                authorization.contains(&format!(", response=\"{response}\"")),
                "{challenge}: {authorization}"
            );
            assert_eq!(
                authorization.contains("qop=auth, nc=00000001, cnonce="),
                !cnonce.is_empty(),
                "{authorization}"
            );
            assert_eq!(
                authorization.contains("algorithm="),
                challenge.contains("algorithm"),
                "{authorization}"
            );
            assert!(authorization.starts_with("Digest username=\"Mufasa\", realm=\""), "{authorization}");
        }
    }

    #[test]
    fn the_requests_of_a_session_are_counted() {
        let mut digest =
            parse_digest_challenge("Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=MD5-sess").unwrap();
        "c".clone_into(&mut digest.client_nonce);
        let request = DigestRequest { method: "GET", target: "/a", body: b"" };
        // H(H(H(u:r:p):n:c):n:nc:c:auth:H(GET:/a)), by Python's hashlib.
        for (count, response) in [
            ("00000001", "6f2dd4cd680a63aec6047f68dc8ba023"),
            ("00000002", "020bf6ebf036ff316453a4168320d453"),
        ] {
            let authorization = String::from_utf8(digest.authorization_header(b"u", b"p", request)).unwrap();
            assert!(authorization.contains(&format!("nc={count}")), "{authorization}");
            assert!(authorization.contains(response), "{authorization}");
        }
        let mut digest =
            parse_digest_challenge("Digest realm=\"r\", nonce=\"n\", qop=auth, algorithm=SHA-256-sess")
                .unwrap();
        "c".clone_into(&mut digest.client_nonce);
        let authorization = String::from_utf8(digest.authorization_header(b"u", b"p", request)).unwrap();
        assert!(
            authorization.contains("858ded4bdc539ee7d5b3a904d108f516e55475cdbe70e97c30ec77fe3a762575"),
            "{authorization}"
        );
    }

    #[test]
    fn sha_512_256_with_a_hashed_user_name_matches_the_rfc_erratum() {
        // RFC 7616 3.9.2 with erratum 4897: the RFC itself prints a wrong hash.
        let challenge = "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, \
             nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", \
             opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\", charset=UTF-8, userhash=true";
        let mut digest = parse_digest_challenge(challenge).unwrap();
        "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v".clone_into(&mut digest.client_nonce);
        let request = DigestRequest { method: "GET", target: "/doe.json", body: b"" };
        let authorization = digest.authorization_header("Jäsøn Doe".as_bytes(), b"Secret, or not?", request);
        let authorization = String::from_utf8(authorization).unwrap();
        for part in [
            "Digest username=\"793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b\", realm=",
            ", response=\"3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5\"",
            ", algorithm=SHA-512-256",
            ", userhash=true",
        ] {
            assert!(authorization.contains(part), "{part}: {authorization}");
        }
        assert!(!authorization.contains("Doe"), "{authorization}");
    }

    #[test]
    fn auth_int_covers_the_body_and_is_used_if_nothing_else_is_offered() {
        let realm =
            "Digest realm=\"http-auth@example.org\", nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\"";
        // By Python's hashlib.
        for (algorithm, qop, response) in [
            ("MD5", "auth-int", "e4ac3c00299d523b5391298c4f855c18"),
            ("SHA-256", "AUTH-INT", "176672e206620851b3a3441c734a317be951c64addcf827261d0455187323ab3"),
        ] {
            let mut digest =
                parse_digest_challenge(&format!("{realm}, algorithm={algorithm}, qop=\"{qop}\"")).unwrap();
            "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ".clone_into(&mut digest.client_nonce);
            let request = DigestRequest { method: "POST", target: "/dir/index.html", body: b"a=b" };
            let authorization = digest.authorization_header(b"Mufasa", b"Circle of Life", request);
            let authorization = String::from_utf8(authorization).unwrap();
            assert!(authorization.contains(response), "{authorization}");
            assert!(authorization.contains(", qop=auth-int, nc=00000001, "), "{authorization}");
        }
        let both = parse_digest_challenge(&format!("{realm}, qop=\"auth-int, auth\"")).unwrap();
        assert_eq!(both.qop, Some(Qop::Auth));
    }

    #[test]
    fn unusual_names_are_quoted_or_escaped() {
        let value = "Digest realm=\"a \\\"b\\\\\", nonce=\"n\"";
        let unusual_name_authorization = authorization(value, "", "o\"neil\\", "p");
        assert!(
            unusual_name_authorization
                .starts_with("Digest username=\"o\\\"neil\\\\\", realm=\"a \\\"b\\\\\", nonce"),
            "{unusual_name_authorization}"
        );
        let non_ascii = authorization(value, "", "Jäsøn Doe", "p");
        assert!(
            non_ascii.starts_with("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm="),
            "{non_ascii}"
        );
    }

    #[test]
    fn unsupported_challenges_are_ignored() {
        for value in [
            "Digest realm=\"r\"",
            "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512",
            "Digest realm=\"r\", nonce=\"n\", qop=\"auth-conf\"",
            "Digest realm=\"r\", nonce=\"n\", algorithm=MD5-sess",
            "Basic realm=\"r\", nonce=\"n\"",
        ] {
            assert!(parse_digest_challenge(value).is_none(), "{value}");
        }
    }

    #[test]
    fn client_nonces_differ() {
        let cnonce = || parse_digest_challenge("Digest realm=\"r\", nonce=\"n\"").unwrap().client_nonce;
        assert_ne!(cnonce(), cnonce());
        assert_eq!(cnonce().len(), 32);
    }
}
