//! Commands on an opened mailbox: UIDL, LIST, TOP, RETR, DELE, RSET, QUIT (RFC 1939 5 to 7).

use std::collections::BTreeMap;

use super::super::line_session::{LineSession, OutgoingLine};
use super::message_lines::{DataLine, HeaderScanner};
use super::reply::{StatusLine, unexpected_reply_failure};
use crate::domain::{Failure, FailureKind, Phase};

/// Longest unique-id that is kept, in bytes (RFC 1939 7 allows 70).
const MAX_UID_BYTES: usize = 128;

/// A message of the mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageEntry {
    /// Its number in this session, from 1.
    pub number: u64,
    /// Its unique-id; empty when the server has none.
    pub uid: String,
}

/// How reading a message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// It was read to its last line.
    Complete,
    /// The server refused the command.
    Refused,
    /// It is longer than the limit. The rest is still being received, so no command can be sent in this session.
    TooLong,
}

/// An opened mailbox. Lists and messages are not added to the transcript, since they belong to users.
pub struct Pop3Mailbox<'s, 'n> {
    session: &'s mut LineSession<'n>,
}

impl<'s, 'n> Pop3Mailbox<'s, 'n> {
    /// Creates the mailbox that `session` has opened.
    #[must_use]
    pub fn new(session: &'s mut LineSession<'n>) -> Self {
        Self { session }
    }

    /// Returns the `max_messages` newest of `message_count` messages, newest first. Higher numbers are taken as
    /// newer. Without UIDL, which is optional (RFC 1939 7), only numbers are returned.
    pub async fn newest_messages(
        &mut self,
        message_count: u64,
        max_messages: usize,
    ) -> Result<Vec<MessageEntry>, Failure> {
        if message_count == 0 {
            return Ok(Vec::new());
        }
        let line = self.send_command(&OutgoingLine::new("UIDL"), Phase::Select).await?;
        let uids_by_number = match StatusLine::parse(&line) {
            Some(StatusLine::Ok(_)) => self.read_uidl(max_messages).await?,
            Some(StatusLine::Err(_)) => {
                let first = message_count.saturating_sub(max_messages as u64) + 1;
                (first..=message_count).map(|number| (number, String::new())).collect()
            }
            _ => return Err(unexpected_reply_failure(Phase::Select, "UIDL", &line)),
        };
        Ok(uids_by_number.into_iter().rev().map(|(number, uid)| MessageEntry { number, uid }).collect())
    }

    /// Reads the lines of UIDL, and keeps only the highest numbers.
    async fn read_uidl(&mut self, max_messages: usize) -> Result<BTreeMap<u64, String>, Failure> {
        let mut entries = BTreeMap::new();
        let mut line_count = 0_u64;
        loop {
            let line = self.next_data_line(Phase::Select).await?;
            let DataLine::Content(line) = DataLine::parse(&line) else { break };
            line_count += 1;
            let (number, uid) = parse_uidl_line(line).ok_or_else(|| {
                let start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                Failure::new(
                    Phase::Select,
                    FailureKind::ResponseInvalid,
                    format!("`{start}` is not a line of UIDL"),
                )
            })?;
            entries.insert(number, uid);
            if entries.len() > max_messages {
                entries.pop_first();
            }
        }
        self.session.transcript.add_note(&format!("{line_count} lines"));
        Ok(entries)
    }

    /// Returns the size of message `number` in bytes; `None` if LIST fails or gives no size.
    pub async fn message_bytes(&mut self, number: u64) -> Result<Option<u64>, Failure> {
        let line = self.send_command(&OutgoingLine::new(format!("LIST {number}")), Phase::Fetch).await?;
        Ok(match StatusLine::parse(&line) {
            Some(StatusLine::Ok(text)) => text.split_whitespace().nth(1).and_then(|size| size.parse().ok()),
            _ => None,
        })
    }

    /// Reads the header of message `number` with TOP (RFC 1939 7, optional), at most `max_bytes` bytes.
    pub async fn read_header(
        &mut self,
        number: u64,
        scanner: &mut HeaderScanner,
        max_bytes: usize,
    ) -> Result<ReadOutcome, Failure> {
        self.read_message(&format!("TOP {number} 0"), scanner, max_bytes).await
    }

    /// Reads the whole message `number`, at most `max_bytes` bytes.
    pub async fn read_full_message(
        &mut self,
        number: u64,
        scanner: &mut HeaderScanner,
        max_bytes: usize,
    ) -> Result<ReadOutcome, Failure> {
        self.read_message(&format!("RETR {number}"), scanner, max_bytes).await
    }

    async fn read_message(
        &mut self,
        command: &str,
        scanner: &mut HeaderScanner,
        max_bytes: usize,
    ) -> Result<ReadOutcome, Failure> {
        let line = self.send_command(&OutgoingLine::new(command), Phase::Fetch).await?;
        match StatusLine::parse(&line) {
            Some(StatusLine::Ok(_)) => {}
            Some(StatusLine::Err(_)) => return Ok(ReadOutcome::Refused),
            _ => return Err(unexpected_reply_failure(Phase::Fetch, command, &line)),
        }
        loop {
            let line = self.next_data_line(Phase::Fetch).await?;
            let DataLine::Content(line) = DataLine::parse(&line) else { break };
            scanner.push_line(line);
            if scanner.message_bytes() > max_bytes {
                self.session.transcript.add_note(&format!("more than {max_bytes} bytes of a message"));
                return Ok(ReadOutcome::TooLong);
            }
        }
        self.session.transcript.add_note(&format!("{} bytes of a message", scanner.message_bytes()));
        Ok(ReadOutcome::Complete)
    }

    /// Marks message `number` as deleted; QUIT deletes it.
    pub async fn delete(&mut self, number: u64) -> Result<(), Failure> {
        self.expect_ok(&format!("DELE {number}"), Phase::Delete).await
    }

    /// Removes all deletion marks of this session.
    pub async fn undo_deletions(&mut self) -> Result<(), Failure> {
        self.expect_ok("RSET", Phase::Delete).await
    }

    /// Ends the session; the server deletes the marked messages. Fails when the server reports that it could not.
    pub async fn quit(&mut self) -> Result<(), Failure> {
        self.expect_ok("QUIT", Phase::Quit).await
    }

    async fn expect_ok(&mut self, command: &str, phase: Phase) -> Result<(), Failure> {
        let line = self.send_command(&OutgoingLine::new(command), phase).await?;
        match StatusLine::parse(&line) {
            Some(StatusLine::Ok(_)) => Ok(()),
            _ => Err(unexpected_reply_failure(phase, command, &line)),
        }
    }

    async fn send_command(&mut self, line: &OutgoingLine, phase: Phase) -> Result<String, Failure> {
        self.session.send(line).await.map_err(|failure| Failure { phase, ..failure })?;
        self.session.read_line(phase).await
    }

    /// Reads the next line of a multi-line reply. If the server closes, the reply counts as truncated.
    async fn next_data_line(&mut self, phase: Phase) -> Result<Vec<u8>, Failure> {
        self.session.read_data_line(phase).await.map_err(|failure| match failure.kind {
            FailureKind::NoResponse => {
                Failure::new(phase, FailureKind::ResponseTruncated, "closed in the middle of an answer")
            }
            _ => failure,
        })
    }
}

/// Parses the number and the unique-id of a line of UIDL.
fn parse_uidl_line(line: &[u8]) -> Option<(u64, String)> {
    let line = String::from_utf8_lossy(&line[..line.len().min(MAX_UID_BYTES + 24)]);
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok().filter(|number| *number > 0)?;
    Some((number, words.next()?.chars().take(MAX_UID_BYTES).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_uidl_are_parsed() {
        assert_eq!(
            parse_uidl_line(b"1 whqtswO00WBw418f9t5JxYwZ"),
            Some((1, "whqtswO00WBw418f9t5JxYwZ".to_owned()))
        );
        assert_eq!(parse_uidl_line(b"2  spaced  more"), Some((2, "spaced".to_owned())));
        for invalid in ["", "x", "1", "0 a", "-1 a", "99999999999999999999999 a", "\u{e9} a"] {
            assert_eq!(parse_uidl_line(invalid.as_bytes()), None, "{invalid}");
        }
        assert_eq!(parse_uidl_line(b"1 \xff"), Some((1, "\u{fffd}".to_owned())));
        assert_eq!(
            parse_uidl_line(format!("7 {}", "u".repeat(5000)).as_bytes()).unwrap().1.len(),
            MAX_UID_BYTES
        );
    }
}
