//! What comes before the login: the greeting, and AUTH TLS (RFC 4217 4). A core without sockets.

use super::reply::{Replies, Reply};
use crate::domain::{Failure, FailureKind as Kind, Phase};
use crate::protocol::session::{Act, Core, Line};

/// Characters of the greeting that are kept.
const BANNER: usize = 200;

/// The opening of a session, up to the point where a login may come.
#[derive(Debug, Default)]
pub struct Opening {
    asks_tls: bool,
    asked: bool,
    replies: Replies,
    banner: Option<String>,
}

impl Opening {
    /// One that with `asks_tls` also asks to go on with TLS.
    #[must_use]
    pub fn new(asks_tls: bool) -> Self {
        Self { asks_tls, ..Self::default() }
    }

    /// First line of the greeting, once it came; cut to 200 characters.
    #[must_use]
    pub fn banner(&self) -> Option<&str> {
        self.banner.as_deref()
    }

    fn greeted(&mut self, reply: &Reply) -> Result<Act, Failure> {
        match reply.code {
            // It will be ready in some minutes and say so (RFC 959 4.2).
            120 => Ok(Act::Listen),
            220 => {
                let first = crate::domain::replace_control_chars(&reply.first);
                self.banner = Some(first.chars().take(BANNER).collect());
                if !self.asks_tls {
                    return Ok(Act::Done);
                }
                self.asked = true;
                Ok(Act::Say(Line::plain("AUTH TLS")))
            }
            _ => {
                let detail = format!("it greets with `{}`", reply.quoted());
                Err(Failure::new(self.phase(), Kind::DialogueUnexpected, detail))
            }
        }
    }
}

impl Core for Opening {
    fn phase(&self) -> Phase {
        if self.asked { Phase::Starttls } else { Phase::Banner }
    }

    fn hear(&mut self, line: &str) -> Result<Act, Failure> {
        let heard = self.replies.hear(line).map_err(|fault| fault.in_phase(self.phase()))?;
        let Some(reply) = heard else { return Ok(Act::Listen) };
        match reply.code {
            _ if !self.asked => self.greeted(&reply),
            234 => Ok(Act::Secure),
            _ => {
                let kind = if reply.code < 500 { Kind::DialogueUnexpected } else { Kind::TlsNotOffered };
                let detail = format!("it answers `AUTH TLS` with `{}`", reply.quoted());
                Err(Failure::new(self.phase(), kind, detail))
            }
        }
    }

    fn secured(&mut self) -> Act {
        Act::Done
    }
}
