//! What is asked of an opened mailbox: UIDL, LIST, TOP, RETR, DELE, RSET, QUIT (RFC 1939 5 to 7).

use std::collections::BTreeMap;

use super::super::session::{Line, Session};
use super::message::{Piece, Reading};
use super::reply::{Reply, unexpected};
use crate::domain::{Failure, FailureKind, Phase};

/// Bytes of a unique-id that are kept (RFC 1939 7 allows 70).
const UID: usize = 128;

/// A message of the mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Listed {
    /// Its number in this session, from 1.
    pub number: u64,
    /// Its unique-id; empty when the server has none.
    pub uid: String,
}

/// How the reading of a message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its last line.
    Whole,
    /// The server refused the command.
    Refused,
    /// It is longer than what was to be read. The rest is still on its way: nothing more can be asked in
    /// this session.
    TooLong,
}

/// An opened mailbox. Lists and messages stay out of the transcript: they are other people's mail.
pub struct Mailbox<'s, 'n> {
    session: &'s mut Session<'n>,
}

impl<'s, 'n> Mailbox<'s, 'n> {
    /// The mailbox that `session` has opened.
    #[must_use]
    pub fn new(session: &'s mut Session<'n>) -> Self {
        Self { session }
    }

    /// The `most` newest of `count` messages, the newest first. Numbers grow with age of arrival. A server
    /// without UIDL (it is optional, RFC 1939 7) gives numbers alone.
    pub async fn newest(&mut self, count: u64, most: usize) -> Result<Vec<Listed>, Failure> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let line = self.ask(&Line::plain("UIDL"), Phase::Select).await?;
        let listed = match Reply::of(&line) {
            Some(Reply::Good(_)) => self.uids(most).await?,
            Some(Reply::Bad(_)) => {
                let first = count.saturating_sub(most as u64) + 1;
                (first..=count).map(|number| (number, String::new())).collect()
            }
            _ => return Err(unexpected(Phase::Select, "UIDL", &line)),
        };
        Ok(listed.into_iter().rev().map(|(number, uid)| Listed { number, uid }).collect())
    }

    /// The lines of UIDL; only the highest numbers are kept of however many there are.
    async fn uids(&mut self, most: usize) -> Result<BTreeMap<u64, String>, Failure> {
        let mut kept = BTreeMap::new();
        let mut lines = 0_u64;
        loop {
            let line = self.next(Phase::Select).await?;
            let Piece::Line(line) = Piece::of(&line) else { break };
            lines += 1;
            let (number, uid) = listed(line).ok_or_else(|| {
                let start = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
                Failure::new(
                    Phase::Select,
                    FailureKind::ResponseInvalid,
                    format!("`{start}` is no line of UIDL"),
                )
            })?;
            kept.insert(number, uid);
            if kept.len() > most {
                kept.pop_first();
            }
        }
        self.session.transcript.note(&format!("{lines} lines"));
        Ok(kept)
    }

    /// Bytes of message `number`, as LIST tells; `None` when it does not.
    pub async fn size(&mut self, number: u64) -> Result<Option<u64>, Failure> {
        let line = self.ask(&Line::plain(format!("LIST {number}")), Phase::Fetch).await?;
        Ok(match Reply::of(&line) {
            Some(Reply::Good(text)) => text.split_whitespace().nth(1).and_then(|size| size.parse().ok()),
            _ => None,
        })
    }

    /// Reads the head of message `number` with TOP (RFC 1939 7, optional), at most `most` bytes.
    pub async fn top(&mut self, number: u64, reading: &mut Reading, most: usize) -> Result<Ending, Failure> {
        self.read(&format!("TOP {number} 0"), reading, most).await
    }

    /// Reads all of message `number`, at most `most` bytes.
    pub async fn retrieve(
        &mut self,
        number: u64,
        reading: &mut Reading,
        most: usize,
    ) -> Result<Ending, Failure> {
        self.read(&format!("RETR {number}"), reading, most).await
    }

    async fn read(&mut self, command: &str, reading: &mut Reading, most: usize) -> Result<Ending, Failure> {
        let line = self.ask(&Line::plain(command), Phase::Fetch).await?;
        match Reply::of(&line) {
            Some(Reply::Good(_)) => {}
            Some(Reply::Bad(_)) => return Ok(Ending::Refused),
            _ => return Err(unexpected(Phase::Fetch, command, &line)),
        }
        loop {
            let line = self.next(Phase::Fetch).await?;
            let Piece::Line(line) = Piece::of(&line) else { break };
            reading.take(line);
            if reading.bytes() > most {
                self.session.transcript.note(&format!("more than {most} bytes of a message"));
                return Ok(Ending::TooLong);
            }
        }
        self.session.transcript.note(&format!("{} bytes of a message", reading.bytes()));
        Ok(Ending::Whole)
    }

    /// Marks message `number` as deleted; QUIT makes it so.
    pub async fn delete(&mut self, number: u64) -> Result<(), Failure> {
        self.simple(&format!("DELE {number}"), Phase::Delete).await
    }

    /// Takes every mark of this session back.
    pub async fn reset(&mut self) -> Result<(), Failure> {
        self.simple("RSET", Phase::Delete).await
    }

    /// Leaves; the server deletes what is marked. A server that says that it could not is believed.
    pub async fn quit(&mut self) -> Result<(), Failure> {
        self.simple("QUIT", Phase::Quit).await
    }

    async fn simple(&mut self, command: &str, phase: Phase) -> Result<(), Failure> {
        let line = self.ask(&Line::plain(command), phase).await?;
        match Reply::of(&line) {
            Some(Reply::Good(_)) => Ok(()),
            _ => Err(unexpected(phase, command, &line)),
        }
    }

    async fn ask(&mut self, line: &Line, phase: Phase) -> Result<String, Failure> {
        self.session.say(line).await.map_err(|failure| Failure { phase, ..failure })?;
        self.session.hear(phase).await
    }

    /// The next line of an answer of many. A server that closes has broken off.
    async fn next(&mut self, phase: Phase) -> Result<Vec<u8>, Failure> {
        self.session.hear_quietly(phase).await.map_err(|failure| match failure.kind {
            FailureKind::NoResponse => {
                Failure::new(phase, FailureKind::ResponseTruncated, "closed in the middle of an answer")
            }
            _ => failure,
        })
    }
}

/// The number and the unique-id in a line of UIDL.
fn listed(line: &[u8]) -> Option<(u64, String)> {
    let line = String::from_utf8_lossy(&line[..line.len().min(UID + 24)]);
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok().filter(|number| *number > 0)?;
    Some((number, words.next()?.chars().take(UID).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_uidl() {
        assert_eq!(listed(b"1 whqtswO00WBw418f9t5JxYwZ"), Some((1, "whqtswO00WBw418f9t5JxYwZ".to_owned())));
        assert_eq!(listed(b"2  spaced  more"), Some((2, "spaced".to_owned())));
        for bad in ["", "x", "1", "0 a", "-1 a", "99999999999999999999999 a", "\u{e9} a"] {
            assert_eq!(listed(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(listed(b"1 \xff"), Some((1, "\u{fffd}".to_owned())));
        assert_eq!(listed(format!("7 {}", "u".repeat(5000)).as_bytes()).unwrap().1.len(), UID);
    }
}
