//! The way out: a message is handed to the SMTP server.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::super::smtp::ehlo_name;
use crate::clock::Clock;
use crate::domain::{Failure, MailFacts, Phase, Timestamp};
use crate::probe::mail::mail_account::MailAccount;
use crate::protocol::smtp::{OutgoingMessage, SmtpOptions, SmtpSession};
use crate::protocol::{LineProtocol, LineSession, ProtocolAction};

/// How long the answer to QUIT is waited for: the message is taken by then.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A message that the server has taken.
#[derive(Debug)]
pub(super) struct AcceptedMessage {
    pub(super) at: Instant,
    /// The same by the clock.
    pub(super) accepted_at: Timestamp,
    /// What the server said to it; many tell where to look in their log.
    pub(super) reply: String,
}

/// Hands `message` over. The login is done where the server offers one, and needed where it says so
/// (fields.md 3).
pub(super) async fn send(
    account: &MailAccount,
    named: Option<&str>,
    session: &mut LineSession<'_>,
    message: OutgoingMessage,
    clock: &dyn Clock,
    facts: &mut MailFacts,
) -> Result<AcceptedMessage, Failure> {
    account.connect(session).await?;
    let mut core = SmtpSession::new(SmtpOptions {
        hello: ehlo_name(named, session),
        implicit_tls: account.service.implicit_tls,
        require_tls: account.require_tls,
        credentials: account.credentials.clone(),
        mechanism: account.mechanism,
        message: Some(message),
    })
    .with_optional_login();
    let outcome = deliver(account, session, &mut core, clock).await;
    *facts = core.facts();
    outcome
}

/// As [`LineSession::run`], but the message counts as taken when the server says so, not when it says farewell.
async fn deliver(
    account: &MailAccount,
    session: &mut LineSession<'_>,
    core: &mut SmtpSession,
    clock: &dyn Clock,
) -> Result<AcceptedMessage, Failure> {
    loop {
        let (line, action) = session.step(core, account.host(), &account.options).await?;
        if core.delivered {
            let reply = crate::domain::replace_control_chars(&session.transcript.redact(&line));
            let message = AcceptedMessage { at: Instant::now(), accepted_at: clock.now(), reply };
            let phases = session.trace.phases;
            if let ProtocolAction::SendLine(quit) = action
                && session.send(&quit).await.is_ok()
            {
                let _ = timeout(QUIT_TIMEOUT, session.read_line(Phase::Quit)).await;
            }
            // The message is on its way meanwhile: that time is told as its transit.
            session.trace.phases = phases;
            return Ok(message);
        }
        if let ProtocolAction::SendLine(line) = action {
            // It is known by the answer that does not come.
            session.send(&line).await.map_err(|failure| Failure { phase: core.phase(), ..failure })?;
        }
    }
}
