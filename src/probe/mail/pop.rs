//! `email-pop`: greeting and TLS; with a user name also login, STAT and QUIT (behaviour.md 4).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::mail_account::MailAccount;
use crate::domain::{Failure, FailureKind, Observation};
use crate::probe::contract::{AttemptFuture, Probe, ProbeContext};
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::settings::ProbeSettings;
use crate::protocol::LineSession;
use crate::protocol::pop3::{LoginOptions, Mailbox, Opening, OpeningOptions};
use crate::schema::table::mail::POP_SCHEMES;
use crate::schema::typed::mail::PopSettings;
use crate::schema::{InvalidSettings, MonitorDocument};

/// Ports without and with implicit TLS (RFC 8314 7.3).
pub(super) const PORTS: (u16, u16) = (110, 995);
/// Limit for QUIT after a failure; its result does not change the failure.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct PopProbe(MailAccount);

/// Builds the probe of a validated `email-pop` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, _: &ProbeSettings) -> Arc<dyn Probe> {
    match account(document) {
        Ok(account) => Arc::new(PopProbe(account)),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

fn account(document: &MonitorDocument) -> Result<MailAccount, InvalidSettings> {
    let settings: PopSettings<'_> = document.to_typed()?;
    let login = (settings.pop_username, settings.pop_password);
    MailAccount::from_hostname(settings.hostname, document, POP_SCHEMES, PORTS, login)
}

impl Probe for PopProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target(&self) -> Option<&str> {
        Some(self.0.host())
    }
}

impl PopProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut session = LineSession::new(cx.net, cx.deadline);
        let mut opening = build_opening(&self.0);
        let mut outcome = open_mailbox(&self.0, &mut session, &mut opening).await;
        if outcome.is_ok() {
            outcome = Mailbox::new(&mut session).quit().await;
        }
        session.close().await;
        self.0.to_observation(started, session, outcome, opening.facts())
    }
}

/// Creates the dialogue that opens the mailbox: greeting, capabilities, TLS and login.
pub(super) fn build_opening(account: &MailAccount) -> Opening {
    let login = |credentials| LoginOptions { credentials, mechanism: account.mechanism };
    let options =
        OpeningOptions { require_tls: account.require_tls, login: account.credentials.clone().map(login) };
    Opening::new(options, account.service.implicit_tls)
}

/// Opens the mailbox. Sends QUIT when it fails: some servers keep a mailbox locked for a while after an aborted
/// session.
pub(super) async fn open_mailbox(
    account: &MailAccount,
    session: &mut LineSession<'_>,
    opening: &mut Opening,
) -> Result<(), Failure> {
    account.connect(session).await?;
    let outcome = session.run(opening, account.host(), &account.options).await;
    if let Err(failure) = &outcome {
        quit_after_failure(session, failure).await;
    }
    outcome
}

/// Sends QUIT after `failure` if the server still responds. The result of QUIT is ignored.
pub(super) async fn quit_after_failure(session: &mut LineSession<'_>, failure: &Failure) {
    use FailureKind::{LoginRefused, MailboxLocked, ResponseInvalid, TcpReplyUnexpected, TlsNotOffered};
    let still_responding = [TcpReplyUnexpected, LoginRefused, MailboxLocked, ResponseInvalid, TlsNotOffered];
    if still_responding.contains(&failure.kind) {
        let phases = session.trace.phases;
        let _ = timeout(QUIT_TIMEOUT, Mailbox::new(session).quit()).await;
        // Report the phases up to the failure.
        session.trace.phases = phases;
    }
}
