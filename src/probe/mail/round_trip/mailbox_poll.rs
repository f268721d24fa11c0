//! One visit to the mailbox: a session of its own, that ends with QUIT so that no lock stays behind.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::super::pop::{build_opening, open_mailbox, quit_after_failure};
use super::message_search::{MAX_MESSAGES, MessageSearch, SearchOutcome};
use crate::domain::{Failure, FailureKind, MailFacts};
use crate::probe::contract::ProbeContext;
use crate::probe::mail::mail_account::MailAccount;
use crate::protocol::LineSession;
use crate::protocol::pop3::{Mailbox, MessageEntry, Opening};

/// Bytes that one session may read: a list of a million unique-ids, and heads.
const MAX_SESSION_BYTES: usize = 128 * 1024 * 1024;
/// How long forgotten messages are looked for once the own one is there.
const STALE_SEARCH_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a farewell may take on which nothing depends.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// A visit, and what is known of it.
pub(super) struct MailboxPoll<'a> {
    pub(super) session: LineSession<'a>,
    opening: Option<Opening>,
    /// Forgotten messages that were deleted.
    pub(super) deleted_stale: u32,
}

/// How a visit ended.
#[derive(Debug)]
pub(super) enum PollOutcome {
    /// The message is not there. `more` were not looked at.
    NotFound { more: bool },
    /// Somebody else has the mailbox open, or the server wants to be asked later.
    Locked,
    /// The message was seen at the one time, and read and marked as deleted at the other; then deleted.
    Fetched { seen: Instant, fetched: Instant },
    /// Something went wrong.
    Failed(Failure),
}

impl<'a> MailboxPoll<'a> {
    /// One that has not begun.
    pub(super) fn new(cx: ProbeContext<'a>) -> Self {
        let mut session = LineSession::new(cx.net, cx.deadline);
        session.set_read_limit(MAX_SESSION_BYTES);
        Self { session, opening: None, deleted_stale: 0 }
    }

    /// What the server told.
    pub(super) fn facts(&self) -> MailFacts {
        self.opening.as_ref().map(Opening::facts).unwrap_or_default()
    }

    /// Whether the mailbox was open.
    pub(super) fn was_opened(&self) -> bool {
        self.facts().mailbox_messages.is_some()
    }

    /// Seconds between logins that the server asks for.
    pub(super) fn login_delay(&self) -> Option<u64> {
        self.opening.as_ref().and_then(Opening::login_delay)
    }

    /// Opens the mailbox of `account` and looks for what `search` is after.
    pub(super) async fn run(&mut self, account: &MailAccount, search: &mut MessageSearch<'_>) -> PollOutcome {
        let way = self.opening.insert(build_opening(account));
        let outcome = open_mailbox(account, &mut self.session, way).await;
        let patient = way.should_retry_later();
        let end = match outcome {
            Err(_) if patient => PollOutcome::Locked,
            Err(failure) => PollOutcome::Failed(failure),
            Ok(()) => match self.poll(search).await {
                Ok(end) => end,
                Err(failure) => {
                    quit_after_failure(&mut self.session, &failure).await;
                    PollOutcome::Failed(failure)
                }
            },
        };
        self.session.close().await;
        end
    }

    async fn poll(&mut self, search: &mut MessageSearch<'_>) -> Result<PollOutcome, Failure> {
        let count = self.facts().mailbox_messages.unwrap_or_default();
        let mut mailbox = Mailbox::new(&mut self.session);
        let listed = mailbox.newest_messages(count, MAX_MESSAGES).await?;
        search.retain_listed(&listed);
        let SearchOutcome { own, stale: forgotten, more, broken } =
            search.run(&mut mailbox, &listed, None).await?;
        if broken {
            // Nothing was marked, and nothing can be said any more: closing is the farewell.
            return Ok(PollOutcome::NotFound { more });
        }
        let Some((at, message)) = own else {
            let swept = delete_stale(&mut mailbox, &forgotten).await?;
            let left = timeout(QUIT_TIMEOUT, mailbox.quit()).await;
            self.deleted_stale = if matches!(left, Ok(Ok(()))) { swept } else { 0 };
            return Ok(PollOutcome::NotFound { more });
        };
        let seen = Instant::now();
        if let Err(failure) = fetch_and_delete(search, &mut mailbox, &message).await {
            if failure.kind == FailureKind::DialogueUnexpected {
                let _ = timeout(QUIT_TIMEOUT, mailbox.reset()).await;
            }
            return Err(failure);
        }
        let fetched = Instant::now();
        let mut swept = delete_stale(&mut mailbox, &forgotten).await?;
        if !search.own_only {
            let older = listed.get(at + 1..).unwrap_or_default();
            let rest = search.run(&mut mailbox, older, Some(fetched + STALE_SEARCH_TIMEOUT)).await?;
            if rest.broken {
                // Without QUIT nothing is deleted: the next visit does it, and looks at nothing else.
                search.own_only = true;
                return Ok(PollOutcome::NotFound { more: true });
            }
            swept += delete_stale(&mut mailbox, &rest.stale).await?;
        }
        mailbox.quit().await?;
        self.deleted_stale = swept;
        Ok(PollOutcome::Fetched { seen, fetched })
    }
}

async fn fetch_and_delete(
    search: &MessageSearch<'_>,
    mailbox: &mut Mailbox<'_, '_>,
    message: &MessageEntry,
) -> Result<(), Failure> {
    search.fetch_own(mailbox, message).await?;
    mailbox.delete(message.number).await
}

/// Marks `forgotten` as deleted, as far as the server lets it; how many.
async fn delete_stale(mailbox: &mut Mailbox<'_, '_>, forgotten: &[MessageEntry]) -> Result<u32, Failure> {
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
