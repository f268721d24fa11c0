//! From the greeting to the opened mailbox (RFC 1939 3 to 5, RFC 2449, RFC 2595 4).

use super::super::line_session::{LineProtocol, OutgoingLine, ProtocolAction};
use super::login::{LoginOptions, LoginState};
use super::reply::{StatusLine, unexpected_reply_failure};
use crate::domain::{Failure, FailureKind, MailFacts, Phase, replace_control_chars};

/// Maximum number of lines of CAPA that are read; RFC 2449 defines a dozen capabilities.
const MAX_CAPABILITIES: usize = 200;
/// Maximum number of capabilities that the facts keep.
const MAX_FACT_CAPABILITIES: usize = 50;
const MAX_CAPABILITY_CHARS: usize = 100;
/// Longest greeting that the facts keep, in characters.
const MAX_BANNER_CHARS: usize = 200;

/// Options of a session.
#[derive(Debug)]
pub struct OpeningDialogueOptions {
    /// Whether a server without TLS fails.
    pub require_tls: bool,
    /// The login; `None` leaves the mailbox closed.
    pub login: Option<LoginOptions>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwaitedReply {
    Banner,
    /// The status line of CAPA; then come the `Capabilities`, line by line.
    CapaStatus,
    Capabilities,
    Stls,
    Login,
    Stat,
}

/// Opens a mailbox: greeting, CAPA, STLS if offered, login, STAT. Ends after STAT, or without a login before it; the
/// caller sends QUIT.
#[derive(Debug)]
pub struct OpeningDialogue {
    options: OpeningDialogueOptions,
    awaited_reply: AwaitedReply,
    is_encrypted: bool,
    capabilities: Vec<String>,
    /// The timestamp of the greeting that APOP needs, with its angle brackets.
    apop_timestamp: Option<String>,
    login_state: Option<LoginState>,
    should_retry_later: bool,
    facts: MailFacts,
}

impl OpeningDialogue {
    /// Creates an opening that waits for the greeting. `is_encrypted` means that TLS is established already.
    #[must_use]
    pub fn new(options: OpeningDialogueOptions, is_encrypted: bool) -> Self {
        Self {
            options,
            awaited_reply: AwaitedReply::Banner,
            is_encrypted,
            capabilities: Vec::new(),
            apop_timestamp: None,
            login_state: None,
            should_retry_later: false,
            facts: MailFacts::default(),
        }
    }

    /// Returns the facts so far.
    #[must_use]
    pub fn facts(&self) -> MailFacts {
        let truncate = |offer: &String| offer.chars().take(MAX_CAPABILITY_CHARS).collect();
        let mail_capabilities = self.capabilities.iter().take(MAX_FACT_CAPABILITIES).map(truncate).collect();
        MailFacts { mail_capabilities, ..self.facts.clone() }
    }

    /// Whether the login failed because the mailbox is locked or the server asks to retry later (RFC 2449 8.1, RFC 3206
    /// 4).
    #[must_use]
    pub fn should_retry_later(&self) -> bool {
        self.should_retry_later
    }

    /// Returns the minimum number of seconds between logins that the server requires (RFC 2449 6.5).
    #[must_use]
    pub fn login_delay_seconds(&self) -> Option<u64> {
        self.capability_arguments("LOGIN-DELAY").and_then(|rest| rest.split_whitespace().next()?.parse().ok())
    }

    /// Returns the arguments of the capability `name`; `None` when it is not offered.
    fn capability_arguments(&self, name: &str) -> Option<&str> {
        self.capabilities.iter().find_map(|offer| {
            let (keyword, rest) = offer.split_once(' ').unwrap_or((offer, ""));
            keyword.eq_ignore_ascii_case(name).then_some(rest)
        })
    }

    fn on_greeting(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        self.facts.mail_banner =
            replace_control_chars(&line.chars().take(MAX_BANNER_CHARS).collect::<String>());
        match StatusLine::parse(line) {
            Some(StatusLine::Ok(text)) => {
                self.apop_timestamp = find_apop_timestamp(text);
                Ok(self.send_capa())
            }
            _ => Err(unexpected_reply_failure(Phase::Banner, "", line)),
        }
    }

    fn send_capa(&mut self) -> ProtocolAction {
        self.capabilities.clear();
        self.awaited_reply = AwaitedReply::CapaStatus;
        ProtocolAction::SendLine(OutgoingLine::new("CAPA"))
    }

    /// Handles the reply to CAPA. Old servers refuse it; the dialogue then continues without capabilities.
    fn on_capa_reply(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        match StatusLine::parse(line) {
            Some(StatusLine::Ok(_)) => {
                self.awaited_reply = AwaitedReply::Capabilities;
                Ok(ProtocolAction::ReadLine)
            }
            Some(StatusLine::Err(_)) => self.on_capabilities_complete(),
            _ => Err(unexpected_reply_failure(Phase::Capability, "CAPA", line)),
        }
    }

    fn on_capability(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        if line == "." {
            return self.on_capabilities_complete();
        }
        if self.capabilities.len() == MAX_CAPABILITIES {
            let detail = format!("its answer to CAPA has more than {MAX_CAPABILITIES} lines");
            return Err(Failure::new(Phase::Capability, FailureKind::ResponseTooLarge, detail));
        }
        self.capabilities.push(replace_control_chars(line.strip_prefix('.').unwrap_or(line)));
        Ok(ProtocolAction::ReadLine)
    }

    fn on_capabilities_complete(&mut self) -> Result<ProtocolAction, Failure> {
        if !self.is_encrypted && self.capability_arguments("STLS").is_some() {
            self.awaited_reply = AwaitedReply::Stls;
            return Ok(ProtocolAction::SendLine(OutgoingLine::new("STLS")));
        }
        if !self.is_encrypted && self.options.require_tls {
            let detail = if self.capabilities.is_empty() {
                "it announces no capabilities"
            } else {
                "it offers no STLS"
            };
            return Err(Failure::new(Phase::Capability, FailureKind::TlsNotOffered, detail));
        }
        self.log_in_or_finish()
    }

    fn log_in_or_finish(&mut self) -> Result<ProtocolAction, Failure> {
        let Some(login) = &self.options.login else { return Ok(ProtocolAction::Done) };
        let (login_state, action) = login.choose_method(
            self.is_encrypted,
            self.apop_timestamp.as_deref(),
            self.capability_arguments("SASL"),
            self.capability_arguments("USER").is_some(),
        )?;
        self.facts.mail_auth_method = Some(login_state.method_label().to_owned());
        self.facts.sent_password_in_cleartext = !self.is_encrypted && login_state.exposes_password();
        self.login_state = Some(login_state);
        self.awaited_reply = AwaitedReply::Login;
        Ok(action)
    }

    fn on_login_line(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        let Some(login_state) = self.login_state.as_mut() else { return Err(login_not_started_failure()) };
        match login_state.on_line(line) {
            Ok(Some(action)) => Ok(action),
            Ok(None) => {
                self.awaited_reply = AwaitedReply::Stat;
                Ok(ProtocolAction::SendLine(OutgoingLine::new("STAT")))
            }
            Err(failure) => {
                let refusal_text = match StatusLine::parse(line) {
                    Some(StatusLine::Err(text)) => text,
                    _ => "",
                };
                self.should_retry_later = failure.kind == FailureKind::MailboxLocked
                    || super::reply::is_temporary_refusal(refusal_text);
                Err(failure)
            }
        }
    }

    fn on_stat_reply(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        let counts = match StatusLine::parse(line) {
            Some(StatusLine::Ok(text)) => parse_stat(text),
            _ => None,
        };
        let (messages, bytes) =
            counts.ok_or_else(|| unexpected_reply_failure(Phase::Select, "STAT", line))?;
        (self.facts.mailbox_messages, self.facts.mailbox_bytes) = (Some(messages), Some(bytes));
        Ok(ProtocolAction::Done)
    }
}

impl LineProtocol for OpeningDialogue {
    fn phase(&self) -> Phase {
        match self.awaited_reply {
            AwaitedReply::Banner => Phase::Banner,
            AwaitedReply::CapaStatus | AwaitedReply::Capabilities => Phase::Capability,
            AwaitedReply::Stls => Phase::Starttls,
            AwaitedReply::Login => Phase::Auth,
            AwaitedReply::Stat => Phase::Select,
        }
    }

    fn on_line(&mut self, line: &str) -> Result<ProtocolAction, Failure> {
        match self.awaited_reply {
            AwaitedReply::Banner => self.on_greeting(line),
            AwaitedReply::CapaStatus => self.on_capa_reply(line),
            AwaitedReply::Capabilities => self.on_capability(line),
            AwaitedReply::Stls => match StatusLine::parse(line) {
                Some(StatusLine::Ok(_)) => Ok(ProtocolAction::StartTls),
                _ => Err(unexpected_reply_failure(Phase::Starttls, "STLS", line)),
            },
            AwaitedReply::Login => self.on_login_line(line),
            AwaitedReply::Stat => self.on_stat_reply(line),
        }
    }

    /// Requests the capabilities again: those from before TLS may be forged (RFC 2595 4).
    fn on_tls_established(&mut self) -> ProtocolAction {
        self.is_encrypted = true;
        self.send_capa()
    }
}

/// Returns the timestamp in a greeting, which has the form of a Message-ID (RFC 1939 7, APOP).
fn find_apop_timestamp(text: &str) -> Option<String> {
    let start = text.find('<')?;
    let end = start + text[start..].find('>')?;
    let inner = &text[start + 1..end];
    let is_valid = inner.contains('@') && inner.bytes().all(|byte| byte.is_ascii_graphic());
    is_valid.then(|| text[start..=end].to_owned())
}

/// Parses the two numbers at the start of a STAT reply; the rest is ignored.
fn parse_stat(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split_whitespace().map(str::parse);
    Some((words.next()?.ok()?, words.next()?.ok()?))
}

fn login_not_started_failure() -> Failure {
    Failure::new(Phase::Auth, FailureKind::Internal, "the login has no step")
}

#[cfg(test)]
#[path = "opening_tests.rs"]
mod tests;
