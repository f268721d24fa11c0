//! `email-pop`: greeting, TLS, and with a user name login, STAT and a clean farewell (behaviour.md 4).

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::super::target::{Service, concluded, is_on, service};
use super::super::{Attempting, Context, Probe, ProbeSettings};
use crate::model::table::mail::POP_SCHEMES;
use crate::model::{Document, Failure, FailureKind, Observation};
use crate::net::TlsOptions;
use crate::wire::Session;
use crate::wire::auth::{Credentials, Mechanism};
use crate::wire::pop3::{Goal, Login, Mailbox, Opening};

/// Ports without and with implicit TLS (RFC 8314 7.3).
pub(super) const PORTS: (u16, u16) = (110, 995);
/// How long a farewell may take after a failure, which it does not change.
const FAREWELL: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct PopProbe {
    place: Place,
    require_tls: bool,
    login: Option<Login>,
}

/// A POP3 server, and how it is spoken to.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) service: Service,
    pub(super) options: TlsOptions,
}

/// The probe of a checked `email-pop` monitor.
pub(in crate::probe) fn build(document: &Document, _: &ProbeSettings) -> Arc<dyn Probe> {
    let text = |field| document.text(field).unwrap_or_default().to_owned();
    let credentials = Credentials { user: text("pop_username"), password: text("pop_password") };
    let mechanism = document.text("auth_method").and_then(Mechanism::of_field);
    let login = (!credentials.user.is_empty()).then_some(Login { credentials, mechanism });
    let service = service(document, "hostname", POP_SCHEMES, PORTS);
    let place = Place { service, options: tls(document) };
    Arc::new(PopProbe { place, require_tls: document.flag("require_tls"), login })
}

/// Whom the TLS of a mail monitor trusts.
pub(super) fn tls(document: &Document) -> TlsOptions {
    TlsOptions {
        verify: is_on(document, "verify_certificate"),
        ca: document.value("ca_cert_id").and_then(Value::as_i64),
        ..TlsOptions::default()
    }
}

impl Probe for PopProbe {
    fn attempt<'a>(&'a self, cx: Context<'a>) -> Attempting<'a> {
        Box::pin(self.run(cx))
    }

    fn target(&self) -> Option<&str> {
        Some(&self.place.service.endpoint.host)
    }
}

impl PopProbe {
    async fn run(&self, cx: Context<'_>) -> Observation {
        let started = Instant::now();
        let mut session = Session::new(cx.net, cx.deadline);
        let mut opening = self.place.opening(self.require_tls, self.login.clone(), &mut session);
        let mut outcome = self.place.open(&mut session, &mut opening).await;
        if outcome.is_ok() {
            outcome = Mailbox::new(&mut session).quit().await;
        }
        session.close().await;
        let mut seen = concluded(started, session, outcome);
        seen.facts.mail = Some(Box::new(opening.facts())).filter(|facts| !facts.mail_banner.is_empty());
        seen
    }
}

impl Place {
    /// The way into a mailbox there, whose password `session` is never to show.
    pub(super) fn opening(
        &self,
        require_tls: bool,
        login: Option<Login>,
        session: &mut Session<'_>,
    ) -> Opening {
        if let Some(login) = &login {
            session.transcript.hide(&login.credentials.password);
        }
        Opening::new(Goal { require_tls, login }, self.service.implicit_tls)
    }

    /// Goes that way, and leaves again in good order when it ends early: some servers hold a mailbox for a
    /// while after a session that broke off.
    pub(super) async fn open(&self, session: &mut Session<'_>, opening: &mut Opening) -> Result<(), Failure> {
        let outcome = self.go(session, opening).await;
        if let Err(failure) = &outcome {
            leave(session, failure).await;
        }
        outcome
    }

    async fn go(&self, session: &mut Session<'_>, opening: &mut Opening) -> Result<(), Failure> {
        let host = &self.service.endpoint.host;
        session.connect(&self.service.endpoint).await?;
        if self.service.implicit_tls {
            session.secure(host, &self.options).await?;
        }
        session.run(opening, host, &self.options).await
    }
}

/// Says QUIT after `failure` where the server still listens. Whatever comes of it changes nothing.
pub(super) async fn leave(session: &mut Session<'_>, failure: &Failure) {
    use FailureKind::{DialogueUnexpected, LoginRefused, MailboxLocked, ResponseInvalid, TlsNotOffered};
    let in_step = [DialogueUnexpected, LoginRefused, MailboxLocked, ResponseInvalid, TlsNotOffered];
    if in_step.contains(&failure.kind) {
        let mut mailbox = Mailbox::new(session);
        // What was marked before something went wrong stays.
        let farewell = async { mailbox.quit().await };
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }
}
