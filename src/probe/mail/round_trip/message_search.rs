//! Searches a mailbox for messages of this monitor; others are left unchanged.

use std::collections::HashSet;

use tokio::time::Instant;

use super::token::{MessageOrigin, TOKEN_HEADER, TokenSigner};
use crate::domain::{Failure, FailureKind, Phase, Timestamp};
use crate::protocol::pop3::{HeaderScanner, MessageEntry, Pop3Mailbox, ReadOutcome};

/// Maximum number of messages that are examined, newest first (behaviour.md 4).
pub(super) const MAX_MESSAGES: usize = 200;
/// Longest message header that is read, in bytes. That of our messages has a few thousand, with all that servers add.
const MAX_HEADER_BYTES: usize = 2 * 1024 * 1024;
/// Longest whole message that is read, in bytes: the own one, and others on servers without TOP.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
/// Bytes that are read in one session; the next session reads the rest.
const MAX_SEARCH_BYTES: usize = 16 * 1024 * 1024;

/// The search, with the messages that were examined already.
#[derive(Debug)]
pub(super) struct MessageSearch<'a> {
    token_signer: &'a TokenSigner,
    own_token: &'a str,
    sent_at: Timestamp,
    /// Messages of others, by number and unique-id. At most [`MAX_MESSAGES`].
    foreign_messages: HashSet<MessageEntry>,
    /// Whether the server refused TOP.
    is_top_refused: bool,
    /// Whether only the message of this check is looked for, since another message broke the session.
    pub(super) skips_stale: bool,
}

/// The result of one pass.
#[derive(Debug, Default)]
pub(super) struct SearchResult {
    /// The message of this check, with its index in the list.
    pub(super) own_message: Option<(usize, MessageEntry)>,
    /// Messages of earlier checks, older than a day.
    pub(super) stale_messages: Vec<MessageEntry>,
    /// Whether some messages were not examined yet.
    pub(super) has_unexamined: bool,
    /// Whether a message that is too long is still being received, so that no command can be sent.
    pub(super) is_session_broken: bool,
}

impl<'a> MessageSearch<'a> {
    /// Creates a search for the message with the token `own_token`, sent at `now`.
    pub(super) fn new(token_signer: &'a TokenSigner, own_token: &'a str, now: Timestamp) -> Self {
        Self {
            token_signer,
            own_token,
            sent_at: now,
            foreign_messages: HashSet::new(),
            is_top_refused: false,
            skips_stale: false,
        }
    }

    /// Forgets messages that are no longer in `listed`.
    pub(super) fn forget_unlisted_messages(&mut self, listed: &[MessageEntry]) {
        self.foreign_messages.retain(|message| listed.contains(message));
    }

    /// Examines `messages` until the own message is found, or `deadline` has passed.
    pub(super) async fn run(
        &mut self,
        mailbox: &mut Pop3Mailbox<'_, '_>,
        messages: &[MessageEntry],
        deadline: Option<Instant>,
    ) -> Result<SearchResult, Failure> {
        let mut search_result = SearchResult::default();
        let mut bytes_read = 0;
        for (index, message) in messages.iter().enumerate() {
            if self.foreign_messages.contains(message) {
                continue;
            }
            if bytes_read > MAX_SEARCH_BYTES || deadline.is_some_and(|deadline| Instant::now() > deadline) {
                search_result.has_unexamined = true;
                return Ok(search_result);
            }
            let mut scanner = HeaderScanner::new(TOKEN_HEADER);
            let read_outcome = self.read_head(mailbox, message, &mut scanner).await?;
            bytes_read += scanner.message_bytes();
            match self.classify(read_outcome, &scanner) {
                MessageOrigin::ThisCheck => {
                    search_result.own_message = Some((index, message.clone()));
                    return Ok(search_result);
                }
                MessageOrigin::StaleCheck => search_result.stale_messages.push(message.clone()),
                MessageOrigin::Other => self.remember_foreign(message),
            }
            if read_outcome == ReadOutcome::TooLong {
                (search_result.has_unexamined, search_result.is_session_broken) = (true, true);
                return Ok(search_result);
            }
        }
        Ok(search_result)
    }

    /// Reads the whole `message` and verifies that it is the message of this check, before it is deleted.
    pub(super) async fn fetch_and_verify_own(
        &self,
        mailbox: &mut Pop3Mailbox<'_, '_>,
        message: &MessageEntry,
    ) -> Result<(), Failure> {
        let mut scanner = HeaderScanner::new(TOKEN_HEADER);
        let fail = |kind, detail: &str| Err(Failure::new(Phase::Fetch, kind, detail));
        match mailbox.read_full_message(message.number, &mut scanner, MAX_MESSAGE_BYTES).await? {
            ReadOutcome::Refused => {
                fail(FailureKind::UnexpectedReply, "it lists the message, but refuses RETR")
            }
            ReadOutcome::TooLong => {
                fail(FailureKind::ResponseTooLarge, "the message came back with more than 1 MiB")
            }
            ReadOutcome::Complete
                if self.classify(ReadOutcome::Complete, &scanner) == MessageOrigin::ThisCheck =>
            {
                Ok(())
            }
            ReadOutcome::Complete => {
                fail(FailureKind::ResponseInvalid, "RETR gives another message than TOP; nothing was deleted")
            }
        }
    }

    fn classify(&self, read_outcome: ReadOutcome, scanner: &HeaderScanner) -> MessageOrigin {
        let value = scanner.single_value().filter(|_| read_outcome == ReadOutcome::Complete);
        value.map_or(MessageOrigin::Other, |value| {
            self.token_signer.classify(&value, self.own_token, self.sent_at)
        })
    }

    /// Message numbers are only valid in one session, so messages without unique-id are not remembered.
    fn remember_foreign(&mut self, message: &MessageEntry) {
        if !message.uid.is_empty() {
            self.foreign_messages.insert(message.clone());
        }
    }

    /// Reads the header of `message`. On servers without TOP, reads the whole message unless it is too long.
    async fn read_head(
        &mut self,
        mailbox: &mut Pop3Mailbox<'_, '_>,
        message: &MessageEntry,
        scanner: &mut HeaderScanner,
    ) -> Result<ReadOutcome, Failure> {
        if !self.is_top_refused {
            let read_outcome = mailbox.read_header(message.number, scanner, MAX_HEADER_BYTES).await?;
            if read_outcome != ReadOutcome::Refused {
                return Ok(read_outcome);
            }
            self.is_top_refused = true;
        }
        match mailbox.message_bytes(message.number).await? {
            Some(size) if size <= MAX_MESSAGE_BYTES as u64 => {
                mailbox.read_full_message(message.number, scanner, MAX_MESSAGE_BYTES).await
            }
            _ => Ok(ReadOutcome::Refused),
        }
    }
}
