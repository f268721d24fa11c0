//! `email-imap`: greeting and TLS; with a user name also login, INBOX and logout (behaviour.md 4).

use std::sync::Arc;

use tokio::time::Instant;

use super::mail_account::MailServerTarget;
use crate::domain::{Failure, MailFacts, Observation};
use crate::probe::contract::{AttemptFuture, Probe, ProbeContext};
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::settings::ProbeBuildContext;
use crate::protocol::LineSession;
use crate::protocol::imap::{LoginMethod, Mailbox, SessionSetup, SessionSetupOptions};
use crate::schema::table::mail::IMAP_SCHEMES;
use crate::schema::typed::mail::ImapSettings;
use crate::schema::{InvalidSettings, MonitorDocument};

/// Ports without and with implicit TLS.
const DEFAULT_PORTS: (u16, u16) = (143, 993);

#[derive(Debug)]
struct ImapProbe {
    target: MailServerTarget,
}

/// Builds the probe of a validated `email-imap` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, _: &ProbeBuildContext) -> Arc<dyn Probe> {
    match mail_server_target(document) {
        Ok(account) => Arc::new(ImapProbe { target: account }),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

fn mail_server_target(document: &MonitorDocument) -> Result<MailServerTarget, InvalidSettings> {
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
        let outcome = self.execute(cx, &mut session, &mut facts).await;
        session.close().await;
        self.target.build_observation(started, session, outcome, facts)
    }

    async fn execute(
        &self,
        cx: ProbeContext<'_>,
        session: &mut LineSession<'_>,
        facts: &mut MailFacts,
    ) -> Result<(), Failure> {
        let account = &self.target;
        account.connect(session).await?;
        let mut opening = SessionSetup::new(SessionSetupOptions {
            implicit_tls: account.service_endpoint.implicit_tls,
            require_tls: account.require_tls,
            continue_to_login: account.credentials.is_some(),
        });
        let opened = session.run(&mut opening, account.host(), &account.tls_options).await;
        opening.banner.clone_into(&mut facts.mail_banner);
        opening.capabilities.clone_into(&mut facts.mail_capabilities);
        opened?;
        let Some(credentials) = &account.credentials else { return Ok(()) };
        let secure = session.is_tls();
        let login = if opening.is_preauthenticated {
            None
        } else {
            let login = LoginMethod::choose(&opening, account.auth_mechanism, secure)?;
            facts.mail_auth = Some(login.mechanism().label().to_owned());
            facts.password_in_clear = !secure && login.mechanism().exposes_password();
            Some(login)
        };
        let mut mailbox = Mailbox::new(credentials, login, cx.deadline);
        let inbox_opened = mailbox.open_inbox(session).await;
        facts.mailbox_messages = mailbox.messages;
        inbox_opened
    }
}
