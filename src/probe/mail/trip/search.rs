//! Looks through a mailbox for messages of one's own; every other one stays as it is.

use std::collections::HashSet;

use tokio::time::Instant;

use super::token::{HEADER, Owner, Tokens};
use crate::domain::{Failure, FailureKind, Phase, Timestamp};
use crate::protocol::pop3::{Ending, Listed, Mailbox, Reading};

/// How many messages are looked at, the newest first (behaviour.md 4).
pub(super) const NEWEST: usize = 200;
/// Bytes of one head that are read. One's own has a few thousand, with all that servers add on the way.
const HEAD: usize = 2 * 1024 * 1024;
/// Bytes of a whole message that are read, where the server knows no TOP, and of one's own.
const WHOLE: usize = 1024 * 1024;
/// Bytes that are read in one session; the rest comes with the next one.
const SESSION: usize = 16 * 1024 * 1024;

/// What is looked for, and what was looked at already.
#[derive(Debug)]
pub(super) struct Search<'a> {
    tokens: &'a Tokens,
    own: &'a str,
    now: Timestamp,
    /// Messages of others, by number and unique-id. At most [`NEWEST`].
    others: HashSet<Listed>,
    /// Whether the server has refused TOP.
    without_top: bool,
    /// Whether the own message alone is looked for, since another one broke the session off.
    pub(super) own_only: bool,
}

/// What one look found.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The message of this check, and where it stands among those that were looked at.
    pub(super) own: Option<(usize, Listed)>,
    /// Those of earlier checks, older than a day.
    pub(super) forgotten: Vec<Listed>,
    /// Whether some are left that have not been looked at.
    pub(super) more: bool,
    /// Whether a message is still on its way that was too long, so that nothing can be asked any more.
    pub(super) broken: bool,
}

impl<'a> Search<'a> {
    /// One for the message that carries the token `own`, sent at `now`.
    pub(super) fn new(tokens: &'a Tokens, own: &'a str, now: Timestamp) -> Self {
        Self { tokens, own, now, others: HashSet::new(), without_top: false, own_only: false }
    }

    /// Forgets those that are in `listed` no more.
    pub(super) fn keep_to(&mut self, listed: &[Listed]) {
        self.others.retain(|message| listed.contains(message));
    }

    /// Looks at `listed` until the own message is found, or `until` has passed.
    pub(super) async fn look(
        &mut self,
        mailbox: &mut Mailbox<'_, '_>,
        listed: &[Listed],
        until: Option<Instant>,
    ) -> Result<Looked, Failure> {
        let mut looked = Looked::default();
        let mut spent = 0;
        for (at, message) in listed.iter().enumerate() {
            if self.others.contains(message) {
                continue;
            }
            if spent > SESSION || until.is_some_and(|until| Instant::now() > until) {
                looked.more = true;
                return Ok(looked);
            }
            let mut reading = Reading::new(HEADER);
            let ending = self.read(mailbox, message, &mut reading).await?;
            spent += reading.bytes();
            match self.owner(ending, &reading) {
                Owner::Own => {
                    looked.own = Some((at, message.clone()));
                    return Ok(looked);
                }
                Owner::Forgotten => looked.forgotten.push(message.clone()),
                Owner::Other => self.pass_over(message),
            }
            if ending == Ending::TooLong {
                (looked.more, looked.broken) = (true, true);
                return Ok(looked);
            }
        }
        Ok(looked)
    }

    /// Reads `message` whole and makes sure that it is the own one, before anybody deletes it.
    pub(super) async fn fetch(&self, mailbox: &mut Mailbox<'_, '_>, message: &Listed) -> Result<(), Failure> {
        let mut reading = Reading::new(HEADER);
        let fail = |kind, detail: &str| Err(Failure::new(Phase::Fetch, kind, detail));
        match mailbox.retrieve(message.number, &mut reading, WHOLE).await? {
            Ending::Refused => {
                fail(FailureKind::DialogueUnexpected, "it lists the message, but refuses RETR")
            }
            Ending::TooLong => {
                fail(FailureKind::ResponseTooLarge, "the message came back with more than 1 MiB")
            }
            Ending::Whole if self.owner(Ending::Whole, &reading) == Owner::Own => Ok(()),
            Ending::Whole => {
                fail(FailureKind::ResponseInvalid, "RETR gives another message than TOP; nothing was deleted")
            }
        }
    }

    fn owner(&self, ending: Ending, reading: &Reading) -> Owner {
        let value = reading.only_value().filter(|_| ending == Ending::Whole);
        value.map_or(Owner::Other, |value| self.tokens.owner(&value, self.own, self.now))
    }

    /// Numbers alone say nothing in the next session.
    fn pass_over(&mut self, message: &Listed) {
        if !message.uid.is_empty() {
            self.others.insert(message.clone());
        }
    }

    /// The head of `message`; all of it where the server knows no TOP, unless that is long.
    async fn read(
        &mut self,
        mailbox: &mut Mailbox<'_, '_>,
        message: &Listed,
        reading: &mut Reading,
    ) -> Result<Ending, Failure> {
        if !self.without_top {
            let ending = mailbox.top(message.number, reading, HEAD).await?;
            if ending != Ending::Refused {
                return Ok(ending);
            }
            self.without_top = true;
        }
        match mailbox.size(message.number).await? {
            Some(size) if size <= WHOLE as u64 => mailbox.retrieve(message.number, reading, WHOLE).await,
            _ => Ok(Ending::Refused),
        }
    }
}
