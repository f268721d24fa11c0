//! One poll of the mailbox, in a session of its own that ends with QUIT so that no lock remains.

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::super::pop::{build_opening_dialogue, open_mailbox, try_quit_after_failure};
use super::message_search::{MAX_MESSAGES, MessageSearch, SearchResult};
use crate::domain::{Failure, FailureKind, MailFacts};
use crate::probe::mail::mail_server_target::MailServerTarget;
use crate::probe::probe_trait::ProbeContext;
use crate::protocol::LineSession;
use crate::protocol::pop3::{MessageEntry, OpeningDialogue, Pop3Mailbox};

/// Bytes that one session may read: a list of a million unique-ids, and headers.
const MAX_SESSION_BYTES: usize = 128 * 1024 * 1024;
/// How long stale messages are looked for after the message of this check was found.
const STALE_SEARCH_TIMEOUT: Duration = Duration::from_secs(2);
/// Limit for QUIT where nothing depends on it.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// One poll of the mailbox.
pub(super) struct MailboxPoll<'a> {
    pub(super) session: LineSession<'a>,
    opening_dialogue: Option<OpeningDialogue>,
    /// Number of stale messages that were deleted.
    pub(super) deleted_stale_count: u32,
}

/// How a poll ended.
#[derive(Debug)]
pub(super) enum PollResult {
    /// The message is not there. With `has_unexamined`, some messages were not examined yet.
    NotFound { has_unexamined: bool },
    /// Another session has the mailbox open, or the server asks to retry later.
    Locked,
    /// The message was found at `found_at`, was read and marked as deleted at `fetched_at`, and was then deleted.
    Delivered { found_at: Instant, fetched_at: Instant },
    /// The poll failed.
    Failed(Failure),
}

impl<'a> MailboxPoll<'a> {
    /// Creates a poll that has not started.
    pub(super) fn new(cx: ProbeContext<'a>) -> Self {
        let mut session = LineSession::new(cx.net, cx.deadline);
        session.set_max_received_bytes(MAX_SESSION_BYTES);
        Self { session, opening_dialogue: None, deleted_stale_count: 0 }
    }

    /// Returns the facts about the server.
    pub(super) fn facts(&self) -> MailFacts {
        self.opening_dialogue.as_ref().map(OpeningDialogue::facts).unwrap_or_default()
    }

    /// Whether the mailbox was opened.
    pub(super) fn opened_mailbox(&self) -> bool {
        self.facts().mailbox_messages.is_some()
    }

    /// Returns the minimum delay between logins that the server requires, in seconds.
    pub(super) fn min_login_delay_seconds(&self) -> Option<u64> {
        self.opening_dialogue.as_ref().and_then(OpeningDialogue::login_delay_seconds)
    }

    /// Opens the mailbox of `target` and runs `search` in it.
    pub(super) async fn run(
        &mut self,
        target: &MailServerTarget,
        search: &mut MessageSearch<'_>,
    ) -> PollResult {
        let opening_dialogue = self.opening_dialogue.insert(build_opening_dialogue(target));
        let open_result = open_mailbox(target, &mut self.session, opening_dialogue).await;
        let is_locked = opening_dialogue.should_retry_later();
        let poll_result = match open_result {
            Err(_) if is_locked => PollResult::Locked,
            Err(failure) => PollResult::Failed(failure),
            Ok(()) => match self.search_mailbox(search).await {
                Ok(poll_result) => poll_result,
                Err(failure) => {
                    try_quit_after_failure(&mut self.session, &failure).await;
                    PollResult::Failed(failure)
                }
            },
        };
        self.session.close().await;
        poll_result
    }

    async fn search_mailbox(&mut self, search: &mut MessageSearch<'_>) -> Result<PollResult, Failure> {
        let count = self.facts().mailbox_messages.unwrap_or_default();
        let mut mailbox = Pop3Mailbox::new(&mut self.session);
        let listed = mailbox.newest_messages(count, MAX_MESSAGES).await?;
        search.forget_unlisted_messages(&listed);
        let SearchResult { own_message: own, stale_messages: stale, has_unexamined, is_session_broken } =
            search.run(&mut mailbox, &listed, None).await?;
        if is_session_broken {
            // Nothing was marked as deleted, and no command can be sent any more: close the connection.
            return Ok(PollResult::NotFound { has_unexamined });
        }
        let Some((index, message)) = own else {
            let deleted_count = delete_stale(&mut mailbox, &stale).await?;
            let quit_result = timeout(QUIT_TIMEOUT, mailbox.quit()).await;
            self.deleted_stale_count = if matches!(quit_result, Ok(Ok(()))) { deleted_count } else { 0 };
            return Ok(PollResult::NotFound { has_unexamined });
        };
        let found_at = Instant::now();
        if let Err(failure) = fetch_and_delete(search, &mut mailbox, &message).await {
            if failure.kind == FailureKind::UnexpectedReply {
                let _ = timeout(QUIT_TIMEOUT, mailbox.undo_deletions()).await;
            }
            return Err(failure);
        }
        let fetched_at = Instant::now();
        let mut deleted_count = delete_stale(&mut mailbox, &stale).await?;
        if !search.skips_stale {
            let older_messages = listed.get(index + 1..).unwrap_or_default();
            let stale_search =
                search.run(&mut mailbox, older_messages, Some(fetched_at + STALE_SEARCH_TIMEOUT)).await?;
            if stale_search.is_session_broken {
                // The server deletes messages only at QUIT (RFC 1939 section 6), which this broken session cannot
                // send. The next poll deletes them again, and then searches only for its own message.
                search.skips_stale = true;
                return Ok(PollResult::NotFound { has_unexamined: true });
            }
            deleted_count += delete_stale(&mut mailbox, &stale_search.stale_messages).await?;
        }
        mailbox.quit().await?;
        self.deleted_stale_count = deleted_count;
        Ok(PollResult::Delivered { found_at, fetched_at })
    }
}

async fn fetch_and_delete(
    search: &MessageSearch<'_>,
    mailbox: &mut Pop3Mailbox<'_, '_>,
    message: &MessageEntry,
) -> Result<(), Failure> {
    search.fetch_and_verify_own(mailbox, message).await?;
    mailbox.delete(message.number).await
}

/// Marks the `stale` messages as deleted, as far as the server allows it, and returns their number.
async fn delete_stale(mailbox: &mut Pop3Mailbox<'_, '_>, stale: &[MessageEntry]) -> Result<u32, Failure> {
    let mut deleted = 0;
    for message in stale {
        match mailbox.delete(message.number).await {
            Ok(()) => deleted += 1,
            Err(failure) if failure.kind == FailureKind::UnexpectedReply => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(deleted)
}
