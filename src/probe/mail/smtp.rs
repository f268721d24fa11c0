//! `email-smtp`: greeting, EHLO, STARTTLS if offered, login, QUIT (behaviour.md 4).

use std::net::IpAddr;
use std::sync::Arc;

use tokio::time::Instant;

use super::mail_server_target::MailServerTarget;
use crate::domain::{Failure, MailFacts, Observation};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::protocol::LineSession;
use crate::protocol::smtp::{SmtpOptions, SmtpSession};
use crate::schema::table::mail::SMTP_SCHEMES;
use crate::schema::typed::mail::SmtpSettings;
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Ports without and with implicit TLS (RFC 8314 3.3).
const DEFAULT_PORTS: (u16, u16) = (25, 465);

#[derive(Debug)]
struct SmtpProbe {
    target: MailServerTarget,
    configured_ehlo_name: Option<Arc<str>>,
}

/// Builds the probe of a validated `email-smtp` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match mail_server_target(document) {
        Ok(mail_server) => {
            Arc::new(SmtpProbe { target: mail_server, configured_ehlo_name: context.ehlo_name.clone() })
        }
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

fn mail_server_target(document: &MonitorDocument) -> Result<MailServerTarget, InvalidFieldValue> {
    let settings: SmtpSettings<'_> = document.deserialize()?;
    let login = (settings.smtp_username, settings.smtp_password);
    MailServerTarget::from_hostname(settings.hostname, document, SMTP_SCHEMES, DEFAULT_PORTS, login)
}

impl Probe for SmtpProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    fn target_host(&self) -> Option<&str> {
        Some(self.target.host())
    }
}

impl SmtpProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        let started = Instant::now();
        let mut session = LineSession::new(cx.net, cx.deadline);
        let mut facts = MailFacts::default();
        let session_result = self.execute(&mut session, &mut facts).await;
        session.close().await;
        self.target.build_observation(started, session, session_result, facts)
    }

    async fn execute(&self, session: &mut LineSession<'_>, facts: &mut MailFacts) -> Result<(), Failure> {
        self.target.connect(session).await?;
        let ehlo_name = ehlo_name(self.configured_ehlo_name.as_deref(), session);
        let mut smtp = SmtpSession::new(SmtpOptions {
            ehlo_name,
            implicit_tls: self.target.service_endpoint.implicit_tls,
            require_tls: self.target.require_tls,
            credentials: self.target.credentials.clone(),
            mechanism: self.target.auth_mechanism,
            message: None,
        });
        let session_result =
            session.run_protocol(&mut smtp, self.target.host(), &self.target.tls_options).await;
        *facts = smtp.facts();
        session_result
    }
}

/// Returns the EHLO name of this host: the setting `mail.hello`, or its address (RFC 5321 4.1.3 and 4.1.4), which every
/// server can verify.
pub(in crate::probe) fn ehlo_name(configured_name: Option<&str>, session: &LineSession<'_>) -> String {
    let address = session.local_address().map(|address| address.ip().to_canonical());
    match (configured_name, address) {
        (Some(name), _) => name.to_owned(),
        (None, Some(IpAddr::V4(ip))) => format!("[{ip}]"),
        (None, Some(IpAddr::V6(ip))) => format!("[IPv6:{ip}]"),
        (None, None) => "localhost".to_owned(),
    }
}
