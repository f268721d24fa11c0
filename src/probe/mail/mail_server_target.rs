//! The mail server that a monitor checks, with its connection options and login.

use tokio::time::Instant;

use crate::domain::{Failure, FailureKind, MailFacts, Observation, Phase};
use crate::net::{ConnectionTrace, TlsOptions};
use crate::probe::connect_settings::server_verification_options;
use crate::probe::service_target::{ServiceEndpoint, build_session_observation, parse_service_endpoint};
use crate::protocol::auth::{Credentials, SaslMechanism};
use crate::protocol::{LineSession, Transcript};
use crate::schema::typed::connection::{AddressSettings, PortSettings};
use crate::schema::typed::mail::{AuthMethod, MailSessionSettings};
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Longest greeting or capability that is kept, in characters.
const MAX_GREETING_CHARS: usize = 200;

/// Maximum number of capabilities that are kept.
const MAX_CAPABILITIES: usize = 50;

/// A mail server with its connection options and login.
#[derive(Debug)]
pub(super) struct MailServerTarget {
    pub(super) service_endpoint: ServiceEndpoint,
    pub(super) tls_options: TlsOptions,
    pub(super) require_tls: bool,
    pub(super) credentials: Option<Credentials>,
    pub(super) auth_mechanism: Option<SaslMechanism>,
    /// URL schemes of a host: without and with implicit TLS.
    pub(super) url_schemes: &'static [&'static str],
}

impl MailServerTarget {
    /// Creates the target at `service_endpoint`, with the session options of `document`. `user` and `password` are
    /// used to log in, unless there is no user.
    pub(super) fn new(
        document: &MonitorDocument,
        service_endpoint: ServiceEndpoint,
        schemes: &'static [&'static str],
        (user, password): (Option<&str>, Option<&str>),
    ) -> Result<Self, InvalidFieldValue> {
        let session: MailSessionSettings = document.deserialize()?;
        let owned_text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let credentials = Credentials { user: owned_text(user), password: owned_text(password) };
        Ok(Self {
            service_endpoint,
            tls_options: server_verification_options(document)?,
            require_tls: session.require_tls,
            credentials: Some(credentials).filter(|login| !login.user.is_empty()),
            auth_mechanism: required_mechanism(session.auth_method),
            url_schemes: schemes,
        })
    }

    /// Like [`MailServerTarget::new`], at the server `hostname`. It may begin with one of `schemes`, the last of which
    /// stands for implicit TLS; `default_ports` are those without and with it.
    pub(super) fn from_hostname(
        hostname: &str,
        document: &MonitorDocument,
        schemes: &'static [&'static str],
        default_ports: (u16, u16),
        user_and_password: (Option<&str>, Option<&str>),
    ) -> Result<Self, InvalidFieldValue> {
        let (port, address_settings): (_, AddressSettings<'_>) =
            (document.deserialize::<PortSettings>()?.port, document.deserialize()?);
        Self::new(
            document,
            parse_service_endpoint(hostname, port, Some(&address_settings), schemes, default_ports),
            schemes,
            user_and_password,
        )
    }

    pub(super) fn host(&self) -> &str {
        &self.service_endpoint.endpoint.host
    }

    /// Connects, and starts TLS first when it is implicit.
    pub(super) async fn connect(&self, session: &mut LineSession<'_>) -> Result<(), Failure> {
        if let Some(login) = &self.credentials {
            session.transcript.add_secret(&login.password);
        }
        session.connect(&self.service_endpoint.endpoint).await?;
        if self.service_endpoint.implicit_tls {
            session.upgrade_to_tls(self.host(), &self.tls_options).await?;
        }
        Ok(())
    }

    /// Adds a hint about implicit TLS. A server that waits for TLS sends no greeting, and one without TLS answers the
    /// handshake in plain text; the phase of the failure shows which.
    pub(super) fn with_tls_hint(&self, failure: Failure, trace: &ConnectionTrace) -> Failure {
        let [plain_scheme, tls_scheme] = self.url_schemes else { return failure };
        let hint = match (failure.phase, failure.kind, self.service_endpoint.implicit_tls) {
            (Phase::Banner, FailureKind::TimedOut | FailureKind::NoResponse, false) => {
                format!(
                    "; a server with implicit TLS sends no greeting: write its host as `{tls_scheme}://…`"
                )
            }
            (Phase::Tls, FailureKind::TlsHandshakeFailed, true) if trace.peer_sent_non_tls_data => {
                format!(
                    "; a server without implicit TLS responds like this: write its host as `{plain_scheme}://…`"
                )
            }
            _ => return failure,
        };
        Failure { detail: failure.detail + &hint, ..failure }
    }

    /// Returns the observation of `session`, with its `facts`.
    pub(super) fn build_observation(
        &self,
        started: Instant,
        session: LineSession<'_>,
        session_result: Result<(), Failure>,
        facts: MailFacts,
    ) -> Observation {
        let facts = redact_facts(&session.transcript, facts);
        let session_result =
            session_result.map_err(|failure| self.with_tls_hint(failure, &session.connect_trace));
        let mut observation = build_session_observation(started, session, session_result);
        // Without a greeting there was no mail server.
        observation.facts.mail = facts.map(Box::new);
        observation
    }
}

/// Redacts and truncates `facts` for storage; `None` without greeting and capabilities.
pub(super) fn redact_facts(transcript: &Transcript, facts: MailFacts) -> Option<MailFacts> {
    let redact = |text: &str| -> String {
        crate::domain::replace_control_chars(&transcript.redact(text))
            .chars()
            .take(MAX_GREETING_CHARS)
            .collect()
    };
    if facts.mail_banner.is_empty() && facts.mail_capabilities.is_empty() {
        return None;
    }
    let mail_capabilities =
        facts.mail_capabilities.iter().take(MAX_CAPABILITIES).map(|capability| redact(capability)).collect();
    Some(MailFacts { mail_banner: redact(&facts.mail_banner), mail_capabilities, ..facts })
}

/// Returns the mechanism that a monitor requires; `None` is the best that the server offers.
const fn required_mechanism(method: AuthMethod) -> Option<SaslMechanism> {
    match method {
        AuthMethod::Auto => None,
        AuthMethod::Plain => Some(SaslMechanism::Plain),
        AuthMethod::Login => Some(SaslMechanism::Login),
        AuthMethod::CramMd5 => Some(SaslMechanism::CramMd5),
        AuthMethod::Xoauth2 => Some(SaslMechanism::Xoauth2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_redacted_and_truncated() {
        let mut transcript = Transcript::default();
        transcript.add_secret("s3cret");
        let facts = MailFacts {
            mail_banner: format!("hi s3cret \u{1b}[2J{}", "x".repeat(300)),
            mail_capabilities: vec!["s3cret".to_owned(); 60],
            ..MailFacts::default()
        };
        let redacted = redact_facts(&transcript, facts).unwrap();
        assert!(redacted.mail_banner.starts_with("hi ******** "), "{}", redacted.mail_banner);
        assert!(!redacted.mail_banner.contains('\u{1b}'));
        assert_eq!(redacted.mail_banner.chars().count(), MAX_GREETING_CHARS);
        assert_eq!(redacted.mail_capabilities, vec!["********"; MAX_CAPABILITIES]);
        assert_eq!(super::redact_facts(&transcript, MailFacts::default()), None);
    }
}
