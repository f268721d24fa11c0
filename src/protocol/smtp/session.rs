//! An SMTP session without sockets.

use super::message::OutgoingMessage;
use super::reply::{SmtpReply, SmtpReplyParser};
use crate::domain::{Failure, FailureKind, MailFacts, Phase};
use crate::protocol::auth::{Credentials, SaslExchange, SaslMechanism, choose_mechanism};
use crate::protocol::line_session::{LineProtocol, OutgoingLine, ProtocolAction};

/// Options of a session.
#[derive(Clone, Debug)]
pub struct SmtpOptions {
    /// The EHLO name of this host: a name, or an address as `[192.0.2.1]`.
    pub ehlo_name: String,
    /// Whether TLS is established before the greeting.
    pub implicit_tls: bool,
    /// Whether a server without TLS fails.
    pub require_tls: bool,
    /// The login, if there is one.
    pub credentials: Option<Credentials>,
    /// The mechanism; `None` leaves the choice to [`choose_mechanism`].
    pub mechanism: Option<SaslMechanism>,
    /// The message to send.
    pub message: Option<OutgoingMessage>,
}

/// One session, from the greeting to QUIT.
#[derive(Debug)]
pub struct SmtpSession {
    options: SmtpOptions,
    awaited_reply: AwaitedReply,
    is_encrypted: bool,
    reply_parser: SmtpReplyParser,
    sasl_exchange: Option<SaslExchange>,
    /// Whether the message is still sent when no login is offered, or when the login is refused.
    login_is_optional: bool,
    /// The refusal of an optional login.
    login_refusal: Option<Failure>,
    /// The first line of the greeting.
    pub banner: String,
    /// The capabilities: the lines of the last reply to EHLO except the first.
    pub capabilities: Vec<String>,
    /// The mechanism of the login, once it was started.
    pub mechanism: Option<SaslMechanism>,
    /// Whether the password was sent without TLS, readable for an eavesdropper.
    pub password_in_clear: bool,
    /// Whether the server accepted the message.
    pub was_message_accepted: bool,
}

/// The reply that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwaitedReply {
    Greeting,
    Ehlo,
    Helo,
    Starttls,
    Auth,
    Mail,
    Rcpt,
    Data,
    MessageSent,
    Quit,
}

impl LineProtocol for SmtpSession {
    fn phase(&self) -> Phase {
        match self.awaited_reply {
            AwaitedReply::Greeting => Phase::Banner,
            AwaitedReply::Ehlo | AwaitedReply::Helo => Phase::Ehlo,
            AwaitedReply::Starttls => Phase::Starttls,
            AwaitedReply::Auth => Phase::Auth,
            AwaitedReply::Mail | AwaitedReply::Rcpt | AwaitedReply::Data | AwaitedReply::MessageSent => {
                Phase::Submit
            }
            AwaitedReply::Quit => Phase::Quit,
        }
    }

    fn on_line(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        // The session is complete; the reply to QUIT does not matter.
        if self.awaited_reply == AwaitedReply::Quit {
            return Ok(ProtocolAction::Done);
        }
        let reply = self
            .reply_parser
            .push_line(line)
            .map_err(|reason| self.failure(FailureKind::ResponseInvalid, reason))?;
        match reply {
            None => Ok(ProtocolAction::ReadLine),
            Some(reply) => self.on_reply(reply),
        }
    }

    fn on_tls_established(&mut self) -> ProtocolAction {
        self.is_encrypted = true;
        // RFC 3207 4.2: capabilities from before TLS are void.
        self.capabilities.clear();
        self.send_ehlo()
    }
}

impl SmtpSession {
    /// Creates a session that waits for its greeting.
    #[must_use]
    pub fn new(options: SmtpOptions) -> Self {
        Self {
            is_encrypted: options.implicit_tls,
            options,
            awaited_reply: AwaitedReply::Greeting,
            reply_parser: SmtpReplyParser::default(),
            sasl_exchange: None,
            login_is_optional: false,
            login_refusal: None,
            banner: String::new(),
            capabilities: Vec::new(),
            mechanism: None,
            password_in_clear: false,
            was_message_accepted: false,
        }
    }

    /// Makes the login optional: it is only used where offered, and the message is sent even if it is refused. Many
    /// servers accept mail for their own mailboxes without a login.
    #[must_use]
    pub fn with_optional_login(mut self) -> Self {
        self.login_is_optional = true;
        self
    }

    fn on_reply(&mut self, reply: SmtpReply) -> Result<ProtocolAction, Failure> {
        match self.awaited_reply {
            AwaitedReply::Greeting => {
                self.banner = reply.lines.first().cloned().unwrap_or_default();
                if reply.code != 220 {
                    return Err(self.unexpected_reply_failure(format!("it greets with `{reply}`")));
                }
                Ok(self.send_ehlo())
            }
            // Servers without EHLO reply with 500 or 502; some with 501, 503, 504 or 550.
            AwaitedReply::Ehlo if reply.code / 100 == 5 => {
                let line = format!("HELO {}", self.options.ehlo_name);
                Ok(self.send_command(AwaitedReply::Helo, line))
            }
            AwaitedReply::Ehlo | AwaitedReply::Helo => {
                self.expect_success(&reply)?;
                self.capabilities = reply.lines.into_iter().skip(1).collect();
                self.on_capabilities()
            }
            AwaitedReply::Starttls => {
                self.expect_success(&reply)?;
                Ok(ProtocolAction::StartTls)
            }
            AwaitedReply::Auth => self.on_auth_reply(&reply),
            AwaitedReply::Mail => {
                self.expect_success(&reply)?;
                let line =
                    self.options.message.as_ref().map(|message| format!("RCPT TO:<{}>", message.recipient));
                Ok(self.send_command(AwaitedReply::Rcpt, line.unwrap_or_default()))
            }
            AwaitedReply::Rcpt => {
                self.expect_success(&reply)?;
                Ok(self.send_command(AwaitedReply::Data, "DATA"))
            }
            AwaitedReply::Data => {
                if reply.code != 354 {
                    return Err(self.refusal_failure(&reply));
                }
                self.awaited_reply = AwaitedReply::MessageSent;
                Ok(self
                    .options
                    .message
                    .as_ref()
                    .map_or(ProtocolAction::Done, |message| ProtocolAction::SendLine(message.to_data())))
            }
            AwaitedReply::MessageSent => {
                self.expect_success(&reply)?;
                self.was_message_accepted = true;
                Ok(self.send_command(AwaitedReply::Quit, "QUIT"))
            }
            AwaitedReply::Quit => Ok(ProtocolAction::Done),
        }
    }

    /// Returns the facts about the server.
    #[must_use]
    pub fn facts(self) -> MailFacts {
        MailFacts {
            mail_banner: self.banner,
            mail_capabilities: self.capabilities,
            mail_auth_method: self.mechanism.map(|mechanism| mechanism.label().to_owned()),
            sent_password_in_cleartext: self.password_in_clear,
            ..MailFacts::default()
        }
    }

    fn send_ehlo(&mut self) -> ProtocolAction {
        let line = format!("EHLO {}", self.options.ehlo_name);
        self.send_command(AwaitedReply::Ehlo, line)
    }

    /// Continues after the capabilities: TLS first, then the login, then the message.
    fn on_capabilities(&mut self) -> Result<ProtocolAction, Failure> {
        if !self.is_encrypted {
            if self.capability_arguments("STARTTLS").is_some() {
                return Ok(self.send_command(AwaitedReply::Starttls, "STARTTLS"));
            }
            if self.options.require_tls {
                return Err(self.failure(FailureKind::TlsNotOffered, "it offers no STARTTLS"));
            }
        }
        let Some(credentials) = self.options.credentials.clone() else { return self.send_mail_or_quit() };
        let offered = self.capability_arguments("AUTH").unwrap_or_default().to_owned();
        let mechanism =
            match choose_mechanism(self.options.mechanism, offered.split_whitespace(), self.is_encrypted) {
                Ok(mechanism) => mechanism,
                Err(_) if self.login_is_optional => return self.send_mail_or_quit(),
                Err(failure) => return Err(failure),
            };
        self.mechanism = Some(mechanism);
        self.password_in_clear = !self.is_encrypted && mechanism.exposes_password();
        let mut login = SaslExchange::new(mechanism, credentials);
        let line = login.initial_line("AUTH", true);
        self.sasl_exchange = Some(login);
        self.awaited_reply = AwaitedReply::Auth;
        Ok(ProtocolAction::SendLine(line))
    }

    /// Returns the arguments of the capability `keyword`. `AUTH=LOGIN` is the form from before RFC 2554, which some
    /// servers still send.
    fn capability_arguments(&self, keyword: &str) -> Option<&str> {
        self.capabilities.iter().find_map(|line| {
            let (name, rest) = line.split_at_checked(keyword.len())?;
            let is_whole_keyword = rest.is_empty() || rest.starts_with([' ', '=']);
            (name.eq_ignore_ascii_case(keyword) && is_whole_keyword)
                .then(|| rest.trim_start_matches([' ', '=']))
        })
    }

    fn on_auth_reply(&mut self, reply: &SmtpReply) -> Result<ProtocolAction, Failure> {
        match reply.code {
            334 => {
                let challenge = reply.lines.first().cloned().unwrap_or_default();
                let login = self.sasl_exchange.as_mut();
                login.map_or(Ok(ProtocolAction::Done), |login| {
                    login.respond(&challenge).map(ProtocolAction::SendLine)
                })
            }
            code if code / 100 == 2 => {
                self.sasl_exchange = None;
                self.send_mail_or_quit()
            }
            // RFC 4954 6. Other 5xx codes also refuse the password; only 500 to 504 refuse the command.
            432 | 505..=599 => {
                let user = self.options.credentials.as_ref().map_or("", |credentials| &credentials.user);
                let method = self.mechanism.map_or("", SaslMechanism::sasl_name);
                let detail = format!("`{user}` by {method}: `{reply}`");
                let failure = self.failure(FailureKind::LoginRejected, detail);
                if self.login_is_optional {
                    self.login_refusal = Some(failure);
                    return self.send_mail_or_quit();
                }
                Err(failure)
            }
            _ => Err(self.refusal_failure(reply)),
        }
    }

    fn send_mail_or_quit(&mut self) -> Result<ProtocolAction, Failure> {
        let Some(message) = &self.options.message else {
            return Ok(self.send_command(AwaitedReply::Quit, "QUIT"));
        };
        let size = message.size_bytes();
        let mut line = format!("MAIL FROM:<{}>", message.sender);
        self.awaited_reply = AwaitedReply::Mail;
        if let Some(max) = self.capability_arguments("SIZE") {
            // No value, or 0, means no limit (RFC 1870 3).
            if max.trim().parse::<usize>().is_ok_and(|max| max > 0 && max < size) {
                let detail = format!("it accepts at most {max} bytes, the message has {size}");
                return Err(self.unexpected_reply_failure(detail));
            }
            line = format!("{line} SIZE={size}");
        }
        Ok(self.send_command(AwaitedReply::Mail, line))
    }

    fn send_command(&mut self, next_reply: AwaitedReply, line: impl Into<String>) -> ProtocolAction {
        self.awaited_reply = next_reply;
        ProtocolAction::SendLine(OutgoingLine::new(line))
    }

    fn expect_success(&self, reply: &SmtpReply) -> Result<(), Failure> {
        if reply.is_success() { Ok(()) } else { Err(self.refusal_failure(reply)) }
    }

    /// Returns the failure of a refused command.
    fn refusal_failure(&self, reply: &SmtpReply) -> Failure {
        let message = self.options.message.as_ref();
        let envelope = |address: fn(&OutgoingMessage) -> &str| message.map_or("", address);
        let command = match self.awaited_reply {
            AwaitedReply::Greeting | AwaitedReply::Quit => "the connection".to_owned(),
            AwaitedReply::Ehlo => "`EHLO`".to_owned(),
            AwaitedReply::Helo => "`HELO`".to_owned(),
            AwaitedReply::Starttls => "`STARTTLS`, which it offers,".to_owned(),
            AwaitedReply::Auth => format!("`AUTH {}`", self.mechanism.map_or("", SaslMechanism::sasl_name)),
            AwaitedReply::Mail => format!("`MAIL FROM:<{}>`", envelope(|message| &message.sender)),
            AwaitedReply::Rcpt => format!("`RCPT TO:<{}>`", envelope(|message| &message.recipient)),
            AwaitedReply::Data => "`DATA`".to_owned(),
            AwaitedReply::MessageSent => "the message".to_owned(),
        };
        let detail = format!("it replies to {command} with `{reply}`");
        match &self.login_refusal {
            Some(login) if matches!(self.awaited_reply, AwaitedReply::Mail | AwaitedReply::Rcpt) => {
                let detail = format!("{}; without a login, {detail}", login.detail);
                Failure { detail, ..login.clone() }
            }
            _ => self.unexpected_reply_failure(detail),
        }
    }

    fn unexpected_reply_failure(&self, detail: String) -> Failure {
        self.failure(FailureKind::UnexpectedReply, detail)
    }

    fn failure(&self, kind: FailureKind, detail: impl Into<String>) -> Failure {
        Failure::new(self.phase(), kind, detail)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
