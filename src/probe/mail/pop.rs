//! `email-pop`: greeting and TLS; with a user name also login, STAT and QUIT (behaviour.md 4).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::mail_server_target::MailServerTarget;
use crate::domain::{Failure, FailureKind, Observation};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::protocol::LineSession;
use crate::protocol::pop3::{LoginOptions, OpeningDialogue, OpeningDialogueOptions, Pop3Mailbox};
use crate::schema::table::mail::POP_SCHEMES;
use crate::schema::typed::mail::PopSettings;
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Ports without and with implicit TLS (RFC 8314 7.3).
pub(super) const DEFAULT_PORTS: (u16, u16) = (110, 995);
/// Limit for QUIT after a failure; its result does not change the failure.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct PopProbe(MailServerTarget);

/// Builds the probe of a validated `email-pop` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, _: &ProbeBuildContext) -> Arc<dyn Probe> {
    match mail_server_target(document) {
        Ok(mail_server) => Arc::new(PopProbe(mail_server)),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

fn mail_server_target(document: &MonitorDocument) -> Result<MailServerTarget, InvalidFieldValue> {
    let settings: PopSettings<'_> = document.deserialize()?;
    let login = (settings.pop_username, settings.pop_password);
    MailServerTarget::from_hostname(settings.hostname, document, POP_SCHEMES, DEFAULT_PORTS, login)
}

impl Probe for PopProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        Some(self.0.host())
    }
}

impl PopProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut session = LineSession::new(cx.net, cx.deadline);
        let mut opening_dialogue = build_opening_dialogue(&self.0);
        let mut session_result = open_mailbox(&self.0, &mut session, &mut opening_dialogue).await;
        if session_result.is_ok() {
            session_result = Pop3Mailbox::new(&mut session).quit().await;
        }
        session.close().await;
        self.0.build_observation(started, session, session_result, opening_dialogue.facts())
    }
}

/// Creates the dialogue that opens the mailbox: greeting, capabilities, TLS and login.
pub(super) fn build_opening_dialogue(target: &MailServerTarget) -> OpeningDialogue {
    let login = |credentials| LoginOptions { credentials, mechanism: target.auth_mechanism };
    let options = OpeningDialogueOptions {
        require_tls: target.require_tls,
        login: target.credentials.clone().map(login),
    };
    OpeningDialogue::new(options, target.service_endpoint.implicit_tls)
}

/// Opens the mailbox. Sends QUIT when it fails: some servers keep a mailbox locked for a while after an aborted
/// session.
pub(super) async fn open_mailbox(
    target: &MailServerTarget,
    session: &mut LineSession<'_>,
    opening_dialogue: &mut OpeningDialogue,
) -> Result<(), Failure> {
    target.connect(session).await?;
    let session_result = session.run_protocol(opening_dialogue, target.host(), &target.tls_options).await;
    if let Err(failure) = &session_result {
        try_quit_after_failure(session, failure).await;
    }
    session_result
}

/// Sends QUIT after `failure` if the server still responds. The result of QUIT is ignored.
pub(super) async fn try_quit_after_failure(session: &mut LineSession<'_>, failure: &Failure) {
    use FailureKind::{LoginRejected, MailboxLocked, ResponseInvalid, TlsNotOffered, UnexpectedReply};
    let kinds_with_open_session =
        [UnexpectedReply, LoginRejected, MailboxLocked, ResponseInvalid, TlsNotOffered];
    if kinds_with_open_session.contains(&failure.kind) {
        let phases = session.connect_trace.phases;
        let _ = timeout(QUIT_TIMEOUT, Pop3Mailbox::new(session).quit()).await;
        // Report the phases up to the failure.
        session.connect_trace.phases = phases;
    }
}
