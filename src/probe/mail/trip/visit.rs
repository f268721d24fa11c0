//! One visit to the mailbox: a session of its own, that ends with QUIT so that no lock stays behind.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::super::pop::{leave, open, opening};
use super::search::{Looked, NEWEST, Search};
use crate::domain::{Failure, FailureKind, MailFacts};
use crate::probe::contract::Context;
use crate::probe::mail::account::Account;
use crate::protocol::Session;
use crate::protocol::pop3::{Listed, Mailbox, Opening};

/// Bytes that one session may read: a list of a million unique-ids, and heads.
const SESSION: usize = 128 * 1024 * 1024;
/// How long forgotten messages are looked for once the own one is there.
const SWEEP: Duration = Duration::from_secs(2);
/// How long a farewell may take on which nothing depends.
const FAREWELL: Duration = Duration::from_secs(2);

/// A visit, and what is known of it.
pub(super) struct Visit<'a> {
    pub(super) session: Session<'a>,
    way: Option<Opening>,
    /// Forgotten messages that were deleted.
    pub(super) swept: u32,
}

/// How a visit ended.
#[derive(Debug)]
pub(super) enum End {
    /// The message is not there. `more` were not looked at.
    Absent { more: bool },
    /// Somebody else has the mailbox open, or the server wants to be asked later.
    Locked,
    /// The message was seen at the one time, and read and marked as deleted at the other; then deleted.
    Fetched { seen: Instant, fetched: Instant },
    /// Something went wrong.
    Failed(Failure),
}

impl<'a> Visit<'a> {
    /// One that has not begun.
    pub(super) fn new(cx: Context<'a>) -> Self {
        let mut session = Session::new(cx.net, cx.deadline);
        session.may_hear(SESSION);
        Self { session, way: None, swept: 0 }
    }

    /// What the server told.
    pub(super) fn facts(&self) -> MailFacts {
        self.way.as_ref().map(Opening::facts).unwrap_or_default()
    }

    /// Whether the mailbox was open.
    pub(super) fn opened(&self) -> bool {
        self.facts().mailbox_messages.is_some()
    }

    /// Seconds between logins that the server asks for.
    pub(super) fn login_delay(&self) -> Option<u64> {
        self.way.as_ref().and_then(Opening::login_delay)
    }

    /// Opens the mailbox of `account` and looks for what `search` is after.
    pub(super) async fn go(&mut self, account: &Account, search: &mut Search<'_>) -> End {
        let way = self.way.insert(opening(account));
        let outcome = open(account, &mut self.session, way).await;
        let patient = way.wants_patience();
        let end = match outcome {
            Err(_) if patient => End::Locked,
            Err(failure) => End::Failed(failure),
            Ok(()) => match self.look(search).await {
                Ok(end) => end,
                Err(failure) => {
                    leave(&mut self.session, &failure).await;
                    End::Failed(failure)
                }
            },
        };
        self.session.close().await;
        end
    }

    async fn look(&mut self, search: &mut Search<'_>) -> Result<End, Failure> {
        let count = self.facts().mailbox_messages.unwrap_or_default();
        let mut mailbox = Mailbox::new(&mut self.session);
        let listed = mailbox.newest(count, NEWEST).await?;
        search.keep_to(&listed);
        let Looked { own, forgotten, more, broken } = search.look(&mut mailbox, &listed, None).await?;
        if broken {
            // Nothing was marked, and nothing can be said any more: closing is the farewell.
            return Ok(End::Absent { more });
        }
        let Some((at, message)) = own else {
            let swept = sweep(&mut mailbox, &forgotten).await?;
            let left = timeout(FAREWELL, mailbox.quit()).await;
            self.swept = if matches!(left, Ok(Ok(()))) { swept } else { 0 };
            return Ok(End::Absent { more });
        };
        let seen = Instant::now();
        if let Err(failure) = take(search, &mut mailbox, &message).await {
            if failure.kind == FailureKind::DialogueUnexpected {
                let _ = timeout(FAREWELL, mailbox.reset()).await;
            }
            return Err(failure);
        }
        let fetched = Instant::now();
        let mut swept = sweep(&mut mailbox, &forgotten).await?;
        if !search.own_only {
            let older = listed.get(at + 1..).unwrap_or_default();
            let rest = search.look(&mut mailbox, older, Some(fetched + SWEEP)).await?;
            if rest.broken {
                // Without QUIT nothing is deleted: the next visit does it, and looks at nothing else.
                search.own_only = true;
                return Ok(End::Absent { more: true });
            }
            swept += sweep(&mut mailbox, &rest.forgotten).await?;
        }
        mailbox.quit().await?;
        self.swept = swept;
        Ok(End::Fetched { seen, fetched })
    }
}

async fn take(search: &Search<'_>, mailbox: &mut Mailbox<'_, '_>, message: &Listed) -> Result<(), Failure> {
    search.fetch(mailbox, message).await?;
    mailbox.delete(message.number).await
}

/// Marks `forgotten` as deleted, as far as the server lets it; how many.
async fn sweep(mailbox: &mut Mailbox<'_, '_>, forgotten: &[Listed]) -> Result<u32, Failure> {
    let mut swept = 0;
    for message in forgotten {
        match mailbox.delete(message.number).await {
            Ok(()) => swept += 1,
            Err(failure) if failure.kind == FailureKind::DialogueUnexpected => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(swept)
}
