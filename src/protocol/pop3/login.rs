//! Logins by USER and PASS, APOP (RFC 1939 7), or AUTH (RFC 5034).

use super::super::auth::{Credentials, Mechanism, SaslExchange, apop_digest};
use super::super::line_session::{OutgoingLine, ProtocolAction};
use super::reply::{Reply, login_failure, unexpected_reply};
use crate::domain::{Failure, FailureKind, Phase};

/// The login and its method.
#[derive(Clone, Debug)]
pub struct LoginOptions {
    /// Name and password.
    pub credentials: Credentials,
    /// A mechanism of AUTH; `None` uses USER and PASS, and without TLS APOP where it is offered.
    pub mechanism: Option<Mechanism>,
}

/// The state of a login.
#[derive(Debug)]
pub(super) enum LoginStep {
    /// USER was sent; this PASS follows.
    User(OutgoingLine),
    /// PASS was sent.
    Pass,
    /// APOP was sent.
    Apop,
    /// AUTH is in progress.
    Sasl(SaslExchange),
}

impl LoginOptions {
    /// Returns the first command. `timestamp` is that of the greeting, `sasl` the mechanisms announced by CAPA.
    pub(super) fn start(
        &self,
        secure: bool,
        timestamp: Option<&str>,
        sasl: Option<&str>,
    ) -> Result<(LoginStep, ProtocolAction), Failure> {
        let Credentials { user, password } = &self.credentials;
        if let Some(mechanism) = self.mechanism {
            // A server that announces no mechanisms may support them: CAPA is newer than AUTH.
            if let Some(offered) = sasl {
                super::super::auth::choose_mechanism(Some(mechanism), offered.split_whitespace(), secure)?;
            }
            let mut exchange = SaslExchange::new(mechanism, self.credentials.clone());
            let first = exchange.initial_line("AUTH", sasl.is_some());
            return Ok((LoginStep::Sasl(exchange), ProtocolAction::SendLine(first)));
        }
        // A line break in a name or password would inject commands.
        if [user, password].iter().any(|text| text.contains(['\r', '\n', '\0'])) {
            let detail = "a POP3 user name or password cannot hold a line break";
            return Err(Failure::new(Phase::Auth, FailureKind::Unsupported, detail));
        }
        if let Some(timestamp) = timestamp.filter(|_| !secure) {
            let line = format!("APOP {user} {}", apop_digest(timestamp, password));
            return Ok((LoginStep::Apop, ProtocolAction::SendLine(OutgoingLine::new(line))));
        }
        let pass = OutgoingLine::with_secret("PASS", format!("PASS {password}"));
        Ok((LoginStep::User(pass), ProtocolAction::SendLine(OutgoingLine::new(format!("USER {user}")))))
    }
}

impl LoginStep {
    /// Returns the name used in the facts.
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::User(_) | Self::Pass => "user",
            Self::Apop => "apop",
            Self::Sasl(exchange) => exchange.mechanism().label(),
        }
    }

    /// Whether an eavesdropper could log in afterwards.
    pub(super) fn exposes_password(&self) -> bool {
        match self {
            Self::User(_) | Self::Pass => true,
            Self::Apop => false,
            Self::Sasl(exchange) => exchange.mechanism().exposes_password(),
        }
    }

    /// Handles `line` and returns the next action; `None` when the login is complete.
    pub(super) fn on_line(&mut self, line: &str) -> Result<Option<ProtocolAction>, Failure> {
        let command = self.command();
        match (Reply::parse(line), &mut *self) {
            (Some(Reply::Ok(_)), Self::User(pass)) => {
                let pass = pass.clone();
                *self = Self::Pass;
                Ok(Some(ProtocolAction::SendLine(pass)))
            }
            (Some(Reply::Ok(_)), _) => Ok(None),
            (Some(Reply::Continue(challenge)), Self::Sasl(exchange)) => {
                Ok(Some(ProtocolAction::SendLine(exchange.respond(challenge)?)))
            }
            (Some(Reply::Err(text)), _) => Err(login_failure(command, text)),
            _ => Err(unexpected_reply(Phase::Auth, command, line)),
        }
    }

    /// Returns the last command, without its arguments.
    fn command(&self) -> &'static str {
        match self {
            Self::User(_) => "USER",
            Self::Pass => "PASS",
            Self::Apop => "APOP",
            Self::Sasl(exchange) => match exchange.mechanism() {
                Mechanism::Plain => "AUTH PLAIN",
                Mechanism::Login => "AUTH LOGIN",
                Mechanism::CramMd5 => "AUTH CRAM-MD5",
                Mechanism::Xoauth2 => "AUTH XOAUTH2",
            },
        }
    }
}
