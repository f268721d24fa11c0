//! Logins by USER and PASS, APOP (RFC 1939 7), or AUTH (RFC 5034).

use super::super::auth::{Credentials, SaslExchange, SaslMechanism, apop_digest, choose_mechanism};
use super::super::line_session::{OutgoingLine, ProtocolAction};
use super::reply::{StatusLine, login_failure, unexpected_reply_failure};
use crate::domain::{Failure, FailureKind, Phase};

/// The login and its method.
#[derive(Clone, Debug)]
pub struct LoginOptions {
    /// Name and password.
    pub credentials: Credentials,
    /// A mechanism of AUTH. `None` is the best that is offered: under TLS USER and PASS, or AUTH where the server
    /// announces no USER; without TLS what hides the password first, CRAM-MD5 or APOP.
    pub mechanism: Option<SaslMechanism>,
}

/// The state of a login.
#[derive(Debug)]
pub(super) enum LoginState {
    /// USER was sent; this PASS follows.
    UserSent(OutgoingLine),
    /// PASS was sent.
    PassSent,
    /// APOP was sent.
    ApopSent,
    /// AUTH is in progress.
    SaslInProgress(SaslExchange),
}

impl LoginOptions {
    /// Chooses the method, and returns its state and first command. `apop_timestamp` is that of the greeting,
    /// `offered_mechanisms` and `announces_user` are what CAPA announces.
    pub(super) fn choose_method(
        &self,
        is_encrypted: bool,
        apop_timestamp: Option<&str>,
        offered_mechanisms: Option<&str>,
        announces_user: bool,
    ) -> Result<(LoginState, ProtocolAction), Failure> {
        let Credentials { user, password } = &self.credentials;
        let mechanism = match self.mechanism {
            Some(mechanism) => Some(mechanism),
            None => best_mechanism(is_encrypted, apop_timestamp, offered_mechanisms, announces_user)?,
        };
        if let Some(mechanism) = mechanism {
            // A server that announces no mechanisms may support them: CAPA is newer than AUTH.
            if let Some(offered) = offered_mechanisms {
                choose_mechanism(Some(mechanism), offered.split_whitespace(), is_encrypted)?;
            }
            let mut exchange = SaslExchange::new(mechanism, self.credentials.clone());
            let initial_line = exchange.initial_line("AUTH", offered_mechanisms.is_some());
            return Ok((LoginState::SaslInProgress(exchange), ProtocolAction::SendLine(initial_line)));
        }
        // A line break in a name or password would inject commands.
        if [user, password].iter().any(|text| text.contains(['\r', '\n', '\0'])) {
            let detail = "a POP3 user name or password cannot hold a line break";
            return Err(Failure::new(Phase::Auth, FailureKind::ProbeUnsupported, detail));
        }
        if let Some(apop_timestamp) = apop_timestamp.filter(|_| !is_encrypted) {
            let line = format!("APOP {user} {}", apop_digest(apop_timestamp, password));
            return Ok((LoginState::ApopSent, ProtocolAction::SendLine(OutgoingLine::new(line))));
        }
        let pass = OutgoingLine::masked_after("PASS", format!("PASS {password}"));
        Ok((LoginState::UserSent(pass), ProtocolAction::SendLine(OutgoingLine::new(format!("USER {user}")))))
    }
}

/// Returns the mechanism of AUTH that `auto` uses; `None` for APOP, or USER and PASS. Without TLS, one that hides the
/// password comes first. Servers that announce no USER still take it where they take PLAIN or LOGIN.
fn best_mechanism(
    is_encrypted: bool,
    apop_timestamp: Option<&str>,
    offered_mechanisms: Option<&str>,
    announces_user: bool,
) -> Result<Option<SaslMechanism>, Failure> {
    let Some(offered) = offered_mechanisms.filter(|offered| !offered.trim().is_empty()) else {
        return Ok(None);
    };
    let chosen = choose_mechanism(None, offered.split_whitespace(), is_encrypted);
    match chosen {
        Ok(SaslMechanism::CramMd5) if !is_encrypted => Ok(Some(SaslMechanism::CramMd5)),
        _ if announces_user || (apop_timestamp.is_some() && !is_encrypted) => Ok(None),
        Ok(SaslMechanism::Plain | SaslMechanism::Login) => Ok(None),
        other => other.map(Some),
    }
}

impl LoginState {
    /// Returns the name used in the facts.
    pub(super) fn method_label(&self) -> &'static str {
        match self {
            Self::UserSent(_) | Self::PassSent => "user",
            Self::ApopSent => "apop",
            Self::SaslInProgress(exchange) => exchange.mechanism().label(),
        }
    }

    /// Whether an eavesdropper could log in afterwards.
    pub(super) fn exposes_password(&self) -> bool {
        match self {
            Self::UserSent(_) | Self::PassSent => true,
            Self::ApopSent => false,
            Self::SaslInProgress(exchange) => exchange.mechanism().exposes_password(),
        }
    }

    /// Handles `line` and returns the next action; `None` when the login is complete.
    pub(super) fn on_line(&mut self, line: &str) -> Result<Option<ProtocolAction>, Failure> {
        let command = self.last_command();
        match (StatusLine::parse(line), &mut *self) {
            (Some(StatusLine::Ok(_)), Self::UserSent(pass)) => {
                let pass = pass.clone();
                *self = Self::PassSent;
                Ok(Some(ProtocolAction::SendLine(pass)))
            }
            (Some(StatusLine::Ok(_)), _) => Ok(None),
            (Some(StatusLine::Continue(challenge)), Self::SaslInProgress(exchange)) => {
                Ok(Some(ProtocolAction::SendLine(exchange.respond(challenge)?)))
            }
            (Some(StatusLine::Err(text)), _) => Err(login_failure(command, text)),
            _ => Err(unexpected_reply_failure(Phase::Auth, command, line)),
        }
    }

    /// Returns the last command, without its arguments.
    fn last_command(&self) -> &'static str {
        match self {
            Self::UserSent(_) => "USER",
            Self::PassSent => "PASS",
            Self::ApopSent => "APOP",
            Self::SaslInProgress(exchange) => match exchange.mechanism() {
                SaslMechanism::Plain => "AUTH PLAIN",
                SaslMechanism::Login => "AUTH LOGIN",
                SaslMechanism::CramMd5 => "AUTH CRAM-MD5",
                SaslMechanism::Xoauth2 => "AUTH XOAUTH2",
            },
        }
    }
}
