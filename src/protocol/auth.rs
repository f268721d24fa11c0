//! SASL logins of mail servers (RFC 4422): the choice of mechanism, and the messages of each. Pure functions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest as _, Md5};

use super::line_session::OutgoingLine;
use crate::domain::{Failure, FailureKind, Phase, to_hex};

/// An authentication mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaslMechanism {
    /// RFC 4616: name and password in clear text.
    Plain,
    /// Name and password, requested one after the other. In no RFC, but supported by every server.
    Login,
    /// RFC 2195: the server's challenge, signed with the password.
    CramMd5,
    /// An OAuth 2.0 token from a mail provider, instead of a password.
    Xoauth2,
}

use SaslMechanism::{CramMd5, Login, Plain, Xoauth2};

impl SaslMechanism {
    const ALL: [Self; 4] = [Plain, Login, CramMd5, Xoauth2];

    /// Returns the name in the protocol.
    #[must_use]
    pub const fn sasl_name(self) -> &'static str {
        match self {
            Plain => "PLAIN",
            Login => "LOGIN",
            CramMd5 => "CRAM-MD5",
            Xoauth2 => "XOAUTH2",
        }
    }

    /// Returns the value of `auth_method`, also used in the facts.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Plain => "plain",
            Login => "login",
            CramMd5 => "cram-md5",
            Xoauth2 => "xoauth2",
        }
    }

    /// Returns the mechanism of `label`; `None` for `auto`.
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mechanism| mechanism.label() == label)
    }

    /// Whether an eavesdropper could log in afterwards.
    #[must_use]
    pub const fn exposes_password(self) -> bool {
        !matches!(self, CramMd5)
    }
}

/// Chooses the mechanism: the `requested` one (`None` for `auto`), if it is among those `offered`. `auto` prefers
/// PLAIN, LOGIN, CRAM-MD5 under TLS; without TLS the one that does not expose the password comes first. XOAUTH2 is
/// last, since it treats the password as a token.
pub fn choose_mechanism<'a>(
    requested: Option<SaslMechanism>,
    offered: impl IntoIterator<Item = &'a str>,
    is_encrypted: bool,
) -> Result<SaslMechanism, Failure> {
    let offered: Vec<&str> = offered.into_iter().collect();
    let is_offered = |mechanism: &SaslMechanism| {
        offered.iter().any(|name| name.eq_ignore_ascii_case(mechanism.sasl_name()))
    };
    let preference =
        if is_encrypted { [Plain, Login, CramMd5, Xoauth2] } else { [CramMd5, Plain, Login, Xoauth2] };
    let chosen = match requested {
        Some(mechanism) => Some(mechanism).filter(is_offered),
        None => preference.into_iter().find(is_offered),
    };
    chosen.ok_or_else(|| {
        if requested.is_none() && !offered.is_empty() {
            return unsupported_mechanisms_failure(&offered);
        }
        let expected = requested.map_or("a login that Vigie supports", SaslMechanism::sasl_name);
        let offered_text = match offered.as_slice() {
            [] if is_encrypted => "no login at all".to_owned(),
            [] => "no login at all without TLS".to_owned(),
            names => format!("`{}`", names.join(" ")),
        };
        Failure::new(
            Phase::Auth,
            FailureKind::UnexpectedReply,
            format!("it does not offer {expected}; it offers {offered_text}"),
        )
    })
}

/// Returns the failure of a server that offers only logins that Vigie lacks, such as NTLM: its users may get in,
/// so the fault is not the server's.
fn unsupported_mechanisms_failure(offered: &[&str]) -> Failure {
    let supported: Vec<&str> = SaslMechanism::ALL.iter().map(|mechanism| mechanism.sasl_name()).collect();
    let detail = format!(
        "Vigie can log in by {} alone, and cannot tell whether this server works; it offers `{}`",
        supported.join(", "),
        offered.join(" ")
    );
    Failure::new(Phase::Auth, FailureKind::TargetUnsupported, detail)
}

/// User name and password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// User name.
    pub user: String,
    /// Password, or token of XOAUTH2.
    pub password: String,
}

/// Hides the secret.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Returns the client's message in turn `response_index` (from 0) of `mechanism`, unencoded. `challenge` is the
/// server's, decoded; empty for mechanisms without one. `None` means that the mechanism has no further message.
#[must_use]
pub fn client_response(
    mechanism: SaslMechanism,
    credentials: &Credentials,
    response_index: usize,
    challenge: &[u8],
) -> Option<Vec<u8>> {
    let Credentials { user, password } = credentials;
    match (mechanism, response_index) {
        (Plain, 0) => Some(format!("\0{user}\0{password}").into_bytes()),
        (Login, 0) => Some(user.clone().into_bytes()),
        (Login, 1) => Some(password.clone().into_bytes()),
        (CramMd5, 0) => Some(cram_md5_response(user, password, challenge)),
        (Xoauth2, 0) => Some(format!("user={user}\x01auth=Bearer {password}\x01\x01").into_bytes()),
        // The server sends its error as a challenge, and refuses only after an empty response to it.
        (Xoauth2, 1) => Some(Vec::new()),
        _ => None,
    }
}

/// RFC 2195 2: the name, and the keyed digest (RFC 2104) of the challenge in lower-case hexadecimal.
fn cram_md5_response(user: &str, password: &str, challenge: &[u8]) -> Vec<u8> {
    // HMAC accepts keys of every length, so this error cannot occur.
    let Ok(mut mac) = Hmac::<Md5>::new_from_slice(password.as_bytes()) else { return Vec::new() };
    mac.update(challenge);
    format!("{user} {}", to_hex(&mac.finalize().into_bytes())).into_bytes()
}

/// Returns the digest of APOP (RFC 1939 7): MD5 of the greeting's `<time stamp>` and the password, in hexadecimal.
#[must_use]
pub fn apop_digest(timestamp: &str, password: &str) -> String {
    to_hex(&Md5::digest(format!("{timestamp}{password}")))
}

/// A login in progress.
#[derive(Debug)]
pub struct SaslExchange {
    mechanism: SaslMechanism,
    credentials: Credentials,
    responses_sent: usize,
}

impl SaslExchange {
    /// Creates a login that has not started.
    #[must_use]
    pub fn new(mechanism: SaslMechanism, credentials: Credentials) -> Self {
        Self { mechanism, credentials, responses_sent: 0 }
    }

    /// Returns the mechanism.
    #[must_use]
    pub fn mechanism(&self) -> SaslMechanism {
        self.mechanism
    }

    /// Returns the first line: `command` (`AUTH`, `AUTHENTICATE`) and the mechanism. The first response is included
    /// where the server allows it, the mechanism needs no challenge, and the line stays within 510 characters (RFC 4954
    /// 4).
    #[must_use]
    pub fn initial_line(&mut self, command: &str, allow_initial_response: bool) -> OutgoingLine {
        let command = format!("{command} {}", self.mechanism.sasl_name());
        let needs_no_challenge = matches!(self.mechanism, Plain | Xoauth2);
        if allow_initial_response && needs_no_challenge {
            let initial_response =
                client_response(self.mechanism, &self.credentials, 0, &[]).unwrap_or_default();
            let text = format!("{command} {}", STANDARD.encode(initial_response));
            if text.len() <= 510 {
                self.responses_sent = 1;
                return OutgoingLine::masked_after(&command, text);
            }
        }
        OutgoingLine::new(command)
    }

    /// Returns the response to `challenge`, the server's line without its prefix (`334 `, `+ `).
    pub fn respond(&mut self, challenge: &str) -> Result<OutgoingLine, Failure> {
        let invalid_failure =
            |detail: String| Failure::new(Phase::Auth, FailureKind::ResponseInvalid, detail);
        // Only CRAM-MD5 uses the challenge; the prompts of others vary.
        let decoded_challenge = match self.mechanism {
            CramMd5 => STANDARD
                .decode(challenge.trim())
                .map_err(|_| invalid_failure(format!("its challenge `{challenge}` is not Base64")))?,
            _ => Vec::new(),
        };
        let response =
            client_response(self.mechanism, &self.credentials, self.responses_sent, &decoded_challenge)
                .ok_or_else(|| {
                    let name = self.mechanism.sasl_name();
                    invalid_failure(format!("it continues after the last message of {name}: `{challenge}`"))
                })?;
        let is_user_name = (self.mechanism, self.responses_sent) == (Login, 0);
        self.responses_sent += 1;
        let text = STANDARD.encode(response);
        Ok(if is_user_name || text.is_empty() {
            OutgoingLine::new(text)
        } else {
            OutgoingLine::masked_after("", text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(user: &str, password: &str) -> Credentials {
        Credentials { user: user.to_owned(), password: password.to_owned() }
    }

    #[test]
    fn auto_chooses_the_best_offered_mechanism() {
        for (offered, is_encrypted, expected) in [
            ("PLAIN LOGIN CRAM-MD5", true, Ok(Plain)),
            ("LOGIN CRAM-MD5", true, Ok(Login)),
            ("login plain", true, Ok(Plain)),
            ("CRAM-MD5", true, Ok(CramMd5)),
            ("PLAIN LOGIN CRAM-MD5", false, Ok(CramMd5)),
            ("LOGIN PLAIN", false, Ok(Plain)),
            ("GSSAPI XOAUTH2", true, Ok(Xoauth2)),
            ("GSSAPI NTLM", true, Err("it offers `GSSAPI NTLM`")),
            ("", true, Err("it offers no login at all")),
            ("", false, Err("it offers no login at all without TLS")),
        ] {
            let chosen = choose_mechanism(None, offered.split_whitespace(), is_encrypted);
            match (chosen, expected) {
                (Ok(chosen), Ok(expected)) => assert_eq!(chosen, expected, "{offered} {is_encrypted}"),
                (Err(failure), Err(text)) => assert!(failure.detail.ends_with(text), "{failure}"),
                (chosen, expected) => panic!("{offered} {is_encrypted}: {chosen:?}, not {expected:?}"),
            }
        }
    }

    #[test]
    fn a_requested_mechanism_must_be_offered() {
        assert_eq!(choose_mechanism(Some(Login), ["PLAIN", "LOGIN"], true), Ok(Login));
        let failure = choose_mechanism(Some(CramMd5), ["PLAIN", "LOGIN"], true).unwrap_err();
        assert_eq!((failure.phase, failure.status().0), (Phase::Auth, 3));
        assert_eq!(failure.detail, "it does not offer CRAM-MD5; it offers `PLAIN LOGIN`");
        for label in ["plain", "login", "cram-md5", "xoauth2"] {
            assert_eq!(SaslMechanism::from_label(label).unwrap().label(), label);
        }
        assert_eq!(SaslMechanism::from_label("auto"), None);
    }

    #[test]
    fn each_mechanism_gives_the_examples_of_its_rfc() {
        // RFC 4616 4, without an authorization identity.
        assert_eq!(
            client_response(Plain, &credentials("tim", "tanstaaftanstaaf"), 0, &[]).unwrap(),
            b"\0tim\0tanstaaftanstaaf"
        );
        // RFC 2195 2.
        let challenge = b"<1896.697170952@postoffice.reston.mci.net>";
        let response =
            client_response(CramMd5, &credentials("tim", "tanstaaftanstaaf"), 0, challenge).unwrap();
        assert_eq!(response, b"tim b913a602c7eda7a495b4e6e7334d3890");
        // RFC 1939 7.
        let timestamp = "<1896.697170952@dbc.mtview.ca.us>";
        assert_eq!(apop_digest(timestamp, "tanstaaf"), "c4c9334bac560ecc979e58001b3e22fb");
        let response = client_response(Xoauth2, &credentials("a@b.test", "ya29"), 0, &[]).unwrap();
        assert_eq!(response, b"user=a@b.test\x01auth=Bearer ya29\x01\x01");
    }

    #[test]
    fn a_login_proceeds_in_turns_and_redacts_the_password() {
        let mut login = SaslExchange::new(Login, credentials("tim", "s3cret"));
        assert_eq!(login.initial_line("AUTH", true).text(), "AUTH LOGIN");
        assert_eq!(login.respond("VXNlcm5hbWU6").unwrap().redacted(), "dGlt");
        let password = login.respond("UGFzc3dvcmQ6").unwrap();
        assert_eq!((password.text(), password.redacted()), ("czNjcmV0", "********"));
        let failure = login.respond("T25jZSBtb3Jl").unwrap_err();
        assert_eq!(failure.kind, FailureKind::ResponseInvalid);
        assert!(failure.detail.contains("it continues after the last message of LOGIN"), "{failure}");
        assert!(!format!("{login:?} {password:?}").contains("s3cret"));
    }

    #[test]
    fn the_initial_response_is_sent_where_allowed_and_short_enough() {
        let mut short = SaslExchange::new(Plain, credentials("tim", "s3cret"));
        let line = short.initial_line("AUTH", true);
        assert_eq!((line.text(), line.redacted()), ("AUTH PLAIN AHRpbQBzM2NyZXQ=", "AUTH PLAIN ********"));
        for (password, allowed) in [("s3cret".to_owned(), false), ("x".repeat(400), true)] {
            let mut login = SaslExchange::new(Plain, credentials("tim", &password));
            assert_eq!(login.initial_line("AUTH", allowed).text(), "AUTH PLAIN");
            assert!(login.respond("").is_ok());
        }
    }

    #[test]
    fn an_invalid_base64_challenge_is_reported() {
        let mut login = SaslExchange::new(CramMd5, credentials("tim", "s3cret"));
        assert_eq!(login.initial_line("AUTH", true).text(), "AUTH CRAM-MD5");
        let failure = login.respond("%%%").unwrap_err();
        assert_eq!(failure.detail, "its challenge `%%%` is not Base64");
    }

    #[test]
    fn the_error_challenge_of_xoauth2_is_answered() {
        let mut login = SaslExchange::new(Xoauth2, credentials("a@b.test", "ya29"));
        assert!(login.initial_line("AUTH", true).text().starts_with("AUTH XOAUTH2 dXNlcj1"));
        assert_eq!(login.respond("eyJzdGF0dXMiOiI0MDEifQ==").unwrap().text(), "");
        assert!(login.respond("").is_err());
    }
}
