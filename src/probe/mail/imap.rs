//! `email-imap`: greeting and TLS; with a user name also login, INBOX and logout (behaviour.md 4).

use std::sync::Arc;

use tokio::time::Instant;

use super::mail_server_target::MailServerTarget;
use crate::domain::{Failure, MailFacts, Observation};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::protocol::LineSession;
use crate::protocol::imap::{ImapSession, LoginMethod, OpeningDialogue, OpeningDialogueOptions};
use crate::schema::table::mail::IMAP_SCHEMES;
use crate::schema::typed::mail::ImapSettings;
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Ports without and with implicit TLS.
const DEFAULT_PORTS: (u16, u16) = (143, 993);

#[derive(Debug)]
struct ImapProbe {
    target: MailServerTarget,
}

/// Builds the probe of a validated `email-imap` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, _: &ProbeBuildContext) -> Arc<dyn Probe> {
    match mail_server_target(document) {
        Ok(target) => Arc::new(ImapProbe { target }),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

fn mail_server_target(document: &MonitorDocument) -> Result<MailServerTarget, InvalidFieldValue> {
    let settings: ImapSettings<'_> = document.deserialize()?;
    let login = (settings.imap_username, settings.imap_password);
    MailServerTarget::from_hostname(settings.hostname, document, IMAP_SCHEMES, DEFAULT_PORTS, login)
}

impl Probe for ImapProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        Some(self.target.host())
    }
}

impl ImapProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut session = LineSession::new(cx.net, cx.deadline);
        let mut facts = MailFacts::default();
        let session_result = self.execute(cx, &mut session, &mut facts).await;
        session.close().await;
        self.target.build_observation(started, session, session_result, facts)
    }

    async fn execute(
        &self,
        cx: ProbeContext<'_>,
        session: &mut LineSession<'_>,
        facts: &mut MailFacts,
    ) -> Result<(), Failure> {
        let target = &self.target;
        target.connect(session).await?;
        let mut opening_dialogue = OpeningDialogue::new(OpeningDialogueOptions {
            implicit_tls: target.service_endpoint.implicit_tls,
            require_tls: target.require_tls,
            continue_to_login: target.credentials.is_some(),
        });
        let setup_result =
            session.run_protocol(&mut opening_dialogue, target.host(), &target.tls_options).await;
        opening_dialogue.banner.clone_into(&mut facts.mail_banner);
        opening_dialogue.capabilities.clone_into(&mut facts.mail_capabilities);
        setup_result?;
        let Some(credentials) = &target.credentials else { return Ok(()) };
        let is_encrypted = session.is_tls();
        let login_method = if opening_dialogue.is_preauthenticated {
            None
        } else {
            let login_method = LoginMethod::choose(&opening_dialogue, target.auth_mechanism, is_encrypted)?;
            facts.mail_auth_method = Some(login_method.mechanism().label().to_owned());
            facts.sent_password_in_cleartext = !is_encrypted && login_method.mechanism().exposes_password();
            Some(login_method)
        };
        let mut imap_session = ImapSession::new(credentials, login_method, cx.deadline);
        let session_result = imap_session.run_inbox_session(session).await;
        facts.mailbox_messages = imap_session.message_count;
        session_result
    }
}
