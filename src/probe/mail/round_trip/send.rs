//! Sends the message of a round trip by SMTP.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::super::smtp::ehlo_name;
use crate::clock::Clock;
use crate::domain::{Failure, MailFacts, Phase, Timestamp};
use crate::probe::mail::mail_server_target::MailServerTarget;
use crate::protocol::smtp::{OutgoingMessage, SmtpOptions, SmtpSession};
use crate::protocol::{LineProtocol, LineSession, ProtocolAction};

/// Limit for the reply to QUIT: the message is accepted by then.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A message that the server accepted.
#[derive(Debug)]
pub(super) struct AcceptedMessage {
    pub(super) accepted_instant: Instant,
    /// The time of acceptance as wall time.
    pub(super) accepted_wall_time: Timestamp,
    /// The server's reply; many contain the queue id for its log.
    pub(super) reply: String,
}

/// Sends `message`. Logs in if the server offers a login; a server that requires a login refuses the message otherwise
/// (fields.md 3).
pub(super) async fn send_message(
    target: &MailServerTarget,
    configured_name: Option<&str>,
    session: &mut LineSession<'_>,
    message: OutgoingMessage,
    clock: &dyn Clock,
    facts: &mut MailFacts,
) -> Result<AcceptedMessage, Failure> {
    target.connect(session).await?;
    let mut smtp = SmtpSession::new(SmtpOptions {
        ehlo_name: ehlo_name(configured_name, session),
        implicit_tls: target.service_endpoint.implicit_tls,
        require_tls: target.require_tls,
        credentials: target.credentials.clone(),
        mechanism: target.auth_mechanism,
        message: Some(message),
    })
    .with_optional_login();
    let send_result = run_until_accepted(target, session, &mut smtp, clock).await;
    *facts = smtp.facts();
    send_result
}

/// Like [`LineSession::run_protocol`], but the message counts as accepted at the server's reply, not at QUIT.
async fn run_until_accepted(
    target: &MailServerTarget,
    session: &mut LineSession<'_>,
    smtp: &mut SmtpSession,
    clock: &dyn Clock,
) -> Result<AcceptedMessage, Failure> {
    loop {
        let (reply_line, action) =
            session.process_next_line(smtp, target.host(), &target.tls_options).await?;
        if smtp.was_message_accepted {
            let reply = crate::domain::replace_control_chars(&session.transcript.redact(&reply_line));
            let message =
                AcceptedMessage { accepted_instant: Instant::now(), accepted_wall_time: clock.now(), reply };
            let phases = session.connect_trace.phases;
            if let ProtocolAction::SendLine(quit) = action
                && session.send(&quit).await.is_ok()
            {
                let _ = timeout(QUIT_TIMEOUT, session.read_line(Phase::Quit)).await;
            }
            // Leave out the phases of QUIT: that time counts as transit of the message.
            session.connect_trace.phases = phases;
            return Ok(message);
        }
        if let ProtocolAction::SendLine(command) = action {
            // A failed send shows as a missing reply to this command.
            session.send(&command).await.map_err(|failure| Failure { phase: smtp.phase(), ..failure })?;
        }
    }
}
