//! Login by USER and PASS, APOP (RFC 1939 7), or AUTH (RFC 5034).

use super::super::auth::{Credentials, Exchange, Mechanism, apop};
use super::super::session::{Act, Line};
use super::reply::{Reply, refused_login, unexpected};
use crate::domain::{Failure, FailureKind, Phase};

/// Who logs in, and how.
#[derive(Clone, Debug)]
pub struct Login {
    /// Name and password.
    pub credentials: Credentials,
    /// A mechanism of AUTH; `None` takes USER and PASS, and without TLS APOP where it is offered.
    pub mechanism: Option<Mechanism>,
}

/// How far a login is.
#[derive(Debug)]
pub(super) enum LoginStep {
    /// USER was said; PASS follows.
    User(Line),
    /// PASS was said.
    Pass,
    /// APOP was said.
    Apop,
    /// AUTH goes back and forth.
    Sasl(Exchange),
}

impl Login {
    /// The first command. `timestamp` is that of the greeting, `sasl` the mechanisms that CAPA tells.
    pub(super) fn begin(
        &self,
        secure: bool,
        timestamp: Option<&str>,
        sasl: Option<&str>,
    ) -> Result<(LoginStep, Act), Failure> {
        let Credentials { user, password } = &self.credentials;
        if let Some(mechanism) = self.mechanism {
            // A server that names no mechanisms may have them all the same: CAPA is younger than AUTH.
            if let Some(offered) = sasl {
                super::super::auth::choose(Some(mechanism), offered.split_whitespace(), secure)?;
            }
            let mut exchange = Exchange::new(mechanism, self.credentials.clone());
            let first = exchange.begin("AUTH", sasl.is_some());
            return Ok((LoginStep::Sasl(exchange), Act::Say(first)));
        }
        // Anything else would let a name or a password say commands of its own.
        if [user, password].iter().any(|text| text.contains(['\r', '\n', '\0'])) {
            let detail = "a POP3 user name or password cannot hold a line break";
            return Err(Failure::new(Phase::Auth, FailureKind::Unsupported, detail));
        }
        if let Some(timestamp) = timestamp.filter(|_| !secure) {
            let line = format!("APOP {user} {}", apop(timestamp, password));
            return Ok((LoginStep::Apop, Act::Say(Line::plain(line))));
        }
        let pass = Line::secret("PASS", format!("PASS {password}"));
        Ok((LoginStep::User(pass), Act::Say(Line::plain(format!("USER {user}")))))
    }
}

impl LoginStep {
    /// The word of the facts.
    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::User(_) | Self::Pass => "user",
            Self::Apop => "apop",
            Self::Sasl(exchange) => exchange.mechanism().label(),
        }
    }

    /// Whether a listener on the line can log in afterwards.
    pub(super) fn shows_password(&self) -> bool {
        match self {
            Self::User(_) | Self::Pass => true,
            Self::Apop => false,
            Self::Sasl(exchange) => exchange.mechanism().shows_password(),
        }
    }

    /// What follows `line`; `None` when the login is done.
    pub(super) fn hear(&mut self, line: &str) -> Result<Option<Act>, Failure> {
        let command = self.command();
        match (Reply::of(line), &mut *self) {
            (Some(Reply::Good(_)), Self::User(pass)) => {
                let pass = pass.clone();
                *self = Self::Pass;
                Ok(Some(Act::Say(pass)))
            }
            (Some(Reply::Good(_)), _) => Ok(None),
            (Some(Reply::More(challenge)), Self::Sasl(exchange)) => {
                Ok(Some(Act::Say(exchange.answer(challenge)?)))
            }
            (Some(Reply::Bad(text)), _) => Err(refused_login(command, text)),
            _ => Err(unexpected(Phase::Auth, command, line)),
        }
    }

    /// What was said last, without what stands behind it.
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
