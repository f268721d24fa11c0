//! Looks through a mailbox for messages of one's own; every other one stays as it is.

use std::collections::HashSet;

use tokio::time::Instant;

use super::token::{Owner, TOKEN_HEADER, TokenSigner};
use crate::domain::{Failure, FailureKind, Phase, Timestamp};
use crate::protocol::pop3::{HeaderScanner, Mailbox, MessageEntry, ReadOutcome};

/// How many messages are looked at, the newest first (behaviour.md 4).
pub(super) const MAX_MESSAGES: usize = 200;
/// Bytes of one head that are read. One's own has a few thousand, with all that servers add on the way.
const MAX_HEAD_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a whole message that are read, where the server knows no TOP, and of one's own.
const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
/// Bytes that are read in one session; the rest comes with the next one.
const MAX_SESSION_BYTES: usize = 16 * 1024 * 1024;

/// What is looked for, and what was looked at already.
#[derive(Debug)]
pub(super) struct MessageSearch<'a> {
    tokens: &'a TokenSigner,
    own: &'a str,
    now: Timestamp,
    /// Messages of others, by number and unique-id. At most [`MAX_MESSAGES`].
    others: HashSet<MessageEntry>,
    /// Whether the server has refused TOP.
    without_top: bool,
    /// Whether the own message alone is looked for, since another one broke the session off.
    pub(super) own_only: bool,
}

/// What one look found.
#[derive(Debug, Default)]
pub(super) struct SearchOutcome {
    /// The message of this check, and where it stands among those that were looked at.
    pub(super) own: Option<(usize, MessageEntry)>,
    /// Those of earlier checks, older than a day.
    pub(super) stale: Vec<MessageEntry>,
    /// Whether some are left that have not been looked at.
    pub(super) more: bool,
    /// Whether a message is still on its way that was too long, so that nothing can be asked any more.
    pub(super) broken: bool,
}

impl<'a> MessageSearch<'a> {
    /// One for the message that carries the token `own`, sent at `now`.
    pub(super) fn new(tokens: &'a TokenSigner, own: &'a str, now: Timestamp) -> Self {
        Self { tokens, own, now, others: HashSet::new(), without_top: false, own_only: false }
    }

    /// Forgets those that are in `listed` no more.
    pub(super) fn retain_listed(&mut self, listed: &[MessageEntry]) {
        self.others.retain(|message| listed.contains(message));
    }

    /// Looks at `listed` until the own message is found, or `until` has passed.
    pub(super) async fn run(
        &mut self,
        mailbox: &mut Mailbox<'_, '_>,
        listed: &[MessageEntry],
        until: Option<Instant>,
    ) -> Result<SearchOutcome, Failure> {
        let mut looked = SearchOutcome::default();
        let mut spent = 0;
        for (at, message) in listed.iter().enumerate() {
            if self.others.contains(message) {
                continue;
            }
            if spent > MAX_SESSION_BYTES || until.is_some_and(|until| Instant::now() > until) {
                looked.more = true;
                return Ok(looked);
            }
            let mut scanner = HeaderScanner::new(TOKEN_HEADER);
            let ending = self.read_head(mailbox, message, &mut scanner).await?;
            spent += scanner.bytes();
            match self.owner(ending, &scanner) {
                Owner::Own => {
                    looked.own = Some((at, message.clone()));
                    return Ok(looked);
                }
                Owner::Stale => looked.stale.push(message.clone()),
                Owner::Other => self.mark_seen(message),
            }
            if ending == ReadOutcome::TooLong {
                (looked.more, looked.broken) = (true, true);
                return Ok(looked);
            }
        }
        Ok(looked)
    }

    /// Reads `message` whole and makes sure that it is the own one, before anybody deletes it.
    pub(super) async fn fetch_own(
        &self,
        mailbox: &mut Mailbox<'_, '_>,
        message: &MessageEntry,
    ) -> Result<(), Failure> {
        let mut scanner = HeaderScanner::new(TOKEN_HEADER);
        let fail = |kind, detail: &str| Err(Failure::new(Phase::Fetch, kind, detail));
        match mailbox.retrieve(message.number, &mut scanner, MAX_MESSAGE_BYTES).await? {
            ReadOutcome::Refused => {
                fail(FailureKind::DialogueUnexpected, "it lists the message, but refuses RETR")
            }
            ReadOutcome::TooLong => {
                fail(FailureKind::ResponseTooLarge, "the message came back with more than 1 MiB")
            }
            ReadOutcome::Complete if self.owner(ReadOutcome::Complete, &scanner) == Owner::Own => Ok(()),
            ReadOutcome::Complete => {
                fail(FailureKind::ResponseInvalid, "RETR gives another message than TOP; nothing was deleted")
            }
        }
    }

    fn owner(&self, ending: ReadOutcome, scanner: &HeaderScanner) -> Owner {
        let value = scanner.single_value().filter(|_| ending == ReadOutcome::Complete);
        value.map_or(Owner::Other, |value| self.tokens.classify(&value, self.own, self.now))
    }

    /// Numbers alone say nothing in the next session.
    fn mark_seen(&mut self, message: &MessageEntry) {
        if !message.uid.is_empty() {
            self.others.insert(message.clone());
        }
    }

    /// The head of `message`; all of it where the server knows no TOP, unless that is long.
    async fn read_head(
        &mut self,
        mailbox: &mut Mailbox<'_, '_>,
        message: &MessageEntry,
        scanner: &mut HeaderScanner,
    ) -> Result<ReadOutcome, Failure> {
        if !self.without_top {
            let ending = mailbox.top(message.number, scanner, MAX_HEAD_BYTES).await?;
            if ending != ReadOutcome::Refused {
                return Ok(ending);
            }
            self.without_top = true;
        }
        match mailbox.size(message.number).await? {
            Some(size) if size <= MAX_MESSAGE_BYTES as u64 => {
                mailbox.retrieve(message.number, scanner, MAX_MESSAGE_BYTES).await
            }
            _ => Ok(ReadOutcome::Refused),
        }
    }
}
