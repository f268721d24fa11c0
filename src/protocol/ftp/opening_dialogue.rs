//! The dialogue before the login: the greeting, and AUTH TLS (RFC 4217 4). Without sockets.

use super::reply::{FtpReply, FtpReplyParser};
use crate::domain::{Failure, FailureKind as Kind, Phase};
use crate::protocol::line_session::{LineProtocol, OutgoingLine, ProtocolAction};

/// Longest greeting that is kept, in characters.
const MAX_BANNER_CHARS: usize = 200;

/// The opening of a session, up to the login.
#[derive(Debug, Default)]
pub struct OpeningDialogue {
    requests_tls: bool,
    is_auth_tls_sent: bool,
    reply_parser: FtpReplyParser,
    banner: Option<String>,
    is_logged_in: bool,
}

impl OpeningDialogue {
    /// Creates an opening; with `requests_tls` it also starts TLS.
    #[must_use]
    pub fn new(requests_tls: bool) -> Self {
        Self { requests_tls, ..Self::default() }
    }

    /// Returns the first line of the greeting, once received; cut to 200 characters.
    #[must_use]
    pub fn banner(&self) -> Option<&str> {
        self.banner.as_deref()
    }

    /// Whether the greeting was a 230: nobody has to log in.
    #[must_use]
    pub fn is_logged_in(&self) -> bool {
        self.is_logged_in
    }

    fn on_greeting(&mut self, reply: &FtpReply) -> Result<ProtocolAction, Failure> {
        match reply.code {
            // The server will be ready in some minutes, and then greet (RFC 959 4.2).
            120 => Ok(ProtocolAction::ReadLine),
            // 230: the server knows the client by its address. With TLS, a login follows all the same.
            220 | 230 => {
                let first = crate::domain::replace_control_chars(&reply.first_line);
                self.banner = Some(first.chars().take(MAX_BANNER_CHARS).collect());
                if !self.requests_tls {
                    self.is_logged_in = reply.code == 230;
                    return Ok(ProtocolAction::Done);
                }
                self.is_auth_tls_sent = true;
                Ok(ProtocolAction::SendLine(OutgoingLine::new("AUTH TLS")))
            }
            _ => {
                let detail = format!("it greets with `{}`", reply.to_quoted());
                Err(Failure::new(self.phase(), Kind::UnexpectedReply, detail))
            }
        }
    }
}

impl LineProtocol for OpeningDialogue {
    fn phase(&self) -> Phase {
        if self.is_auth_tls_sent { Phase::Starttls } else { Phase::Banner }
    }

    fn on_line(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        let reply = self.reply_parser.push_line(line).map_err(|error| error.into_failure(self.phase()))?;
        let Some(reply) = reply else { return Ok(ProtocolAction::ReadLine) };
        match reply.code {
            _ if !self.is_auth_tls_sent => self.on_greeting(&reply),
            234 => Ok(ProtocolAction::StartTls),
            _ => {
                let kind = if reply.code < 500 { Kind::UnexpectedReply } else { Kind::TlsNotOffered };
                let detail = format!("it replies to `AUTH TLS` with `{}`", reply.to_quoted());
                Err(Failure::new(self.phase(), kind, detail))
            }
        }
    }

    fn on_tls_established(&mut self) -> ProtocolAction {
        ProtocolAction::Done
    }
}
