//! From the greeting to the opened mailbox (RFC 1939 3 to 5, RFC 2449, RFC 2595 4).

use super::super::session::{Act, Core, Line};
use super::login::{Login, LoginStep};
use super::reply::{Reply, unexpected};
use crate::domain::{Failure, FailureKind, MailFacts, Phase, replace_control_chars};

/// Lines of CAPA that are read; RFC 2449 names a dozen capabilities.
const OFFERS: usize = 200;
/// Capabilities that the facts keep, and characters of each.
const KEPT: usize = 50;
const KEPT_CHARS: usize = 100;
/// Characters of the greeting that the facts keep.
const BANNER: usize = 200;

/// How far a session goes.
#[derive(Debug)]
pub struct Goal {
    /// Whether a server that offers no TLS fails.
    pub require_tls: bool,
    /// Who logs in; `None` leaves the mailbox closed.
    pub login: Option<Login>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Banner,
    Asked,
    Offers,
    Stls,
    Login,
    Stat,
}

/// The way into a mailbox: greeting, CAPA, STLS when it is offered, login, STAT. Ends after STAT, or before
/// the login when there is none; QUIT is up to the caller.
#[derive(Debug)]
pub struct Opening {
    goal: Goal,
    state: State,
    secure: bool,
    offers: Vec<String>,
    /// The timestamp of the greeting that APOP needs, with its angle brackets.
    timestamp: Option<String>,
    login: Option<LoginStep>,
    waits: bool,
    facts: MailFacts,
}

impl Opening {
    /// One that reads the greeting next. `secure` says whether TLS stands already.
    #[must_use]
    pub fn new(goal: Goal, secure: bool) -> Self {
        Self {
            goal,
            state: State::Banner,
            secure,
            offers: Vec::new(),
            timestamp: None,
            login: None,
            waits: false,
            facts: MailFacts::default(),
        }
    }

    /// What was learned so far.
    #[must_use]
    pub fn facts(&self) -> MailFacts {
        let kept = |offer: &String| offer.chars().take(KEPT_CHARS).collect();
        let mail_offers = self.offers.iter().take(KEPT).map(kept).collect();
        MailFacts { mail_offers, ..self.facts.clone() }
    }

    /// Whether the login failed because the mailbox is locked or the server asks to come again later: a
    /// matter of waiting (RFC 2449 8.1, RFC 3206 4).
    #[must_use]
    pub fn wants_patience(&self) -> bool {
        self.waits
    }

    /// Seconds between logins that the server asks for (RFC 2449 6.5).
    #[must_use]
    pub fn login_delay(&self) -> Option<u64> {
        self.offer("LOGIN-DELAY").and_then(|rest| rest.split_whitespace().next()?.parse().ok())
    }

    /// What stands behind the capability called `name`; `None` when it is not offered.
    fn offer(&self, name: &str) -> Option<&str> {
        self.offers.iter().find_map(|offer| {
            let (word, rest) = offer.split_once(' ').unwrap_or((offer, ""));
            word.eq_ignore_ascii_case(name).then_some(rest)
        })
    }

    fn greeted(&mut self, line: &str) -> Result<Act, Failure> {
        self.facts.mail_banner = replace_control_chars(&line.chars().take(BANNER).collect::<String>());
        match Reply::of(line) {
            Some(Reply::Good(text)) => {
                self.timestamp = timestamp(text);
                Ok(self.ask())
            }
            _ => Err(unexpected(Phase::Banner, "", line)),
        }
    }

    fn ask(&mut self) -> Act {
        self.offers.clear();
        self.state = State::Asked;
        Act::Say(Line::plain("CAPA"))
    }

    /// Servers without CAPA are older than 1998; they go on, and offer nothing.
    fn asked(&mut self, line: &str) -> Result<Act, Failure> {
        match Reply::of(line) {
            Some(Reply::Good(_)) => {
                self.state = State::Offers;
                Ok(Act::Listen)
            }
            Some(Reply::Bad(_)) => self.offered(),
            _ => Err(unexpected(Phase::Capability, "CAPA", line)),
        }
    }

    fn offer_came(&mut self, line: &str) -> Result<Act, Failure> {
        if line == "." {
            return self.offered();
        }
        if self.offers.len() == OFFERS {
            let detail = format!("its answer to CAPA has more than {OFFERS} lines");
            return Err(Failure::new(Phase::Capability, FailureKind::ResponseTooLarge, detail));
        }
        self.offers.push(replace_control_chars(line.strip_prefix('.').unwrap_or(line)));
        Ok(Act::Listen)
    }

    fn offered(&mut self) -> Result<Act, Failure> {
        if !self.secure && self.offer("STLS").is_some() {
            self.state = State::Stls;
            return Ok(Act::Say(Line::plain("STLS")));
        }
        if !self.secure && self.goal.require_tls {
            let detail =
                if self.offers.is_empty() { "it tells no capabilities" } else { "it offers no STLS" };
            return Err(Failure::new(Phase::Capability, FailureKind::TlsNotOffered, detail));
        }
        self.log_in()
    }

    fn log_in(&mut self) -> Result<Act, Failure> {
        let Some(login) = &self.goal.login else { return Ok(Act::Done) };
        let (step, act) = login.begin(self.secure, self.timestamp.as_deref(), self.offer("SASL"))?;
        self.facts.mail_auth = Some(step.label().to_owned());
        self.facts.password_in_clear = !self.secure && step.shows_password();
        self.login = Some(step);
        self.state = State::Login;
        Ok(act)
    }

    fn logging_in(&mut self, line: &str) -> Result<Act, Failure> {
        let Some(step) = self.login.as_mut() else { return Err(lost()) };
        match step.hear(line) {
            Ok(Some(act)) => Ok(act),
            Ok(None) => {
                self.state = State::Stat;
                Ok(Act::Say(Line::plain("STAT")))
            }
            Err(failure) => {
                let bad = match Reply::of(line) {
                    Some(Reply::Bad(text)) => text,
                    _ => "",
                };
                self.waits = failure.kind == FailureKind::MailboxLocked || super::reply::asks_to_wait(bad);
                Err(failure)
            }
        }
    }

    fn counted(&mut self, line: &str) -> Result<Act, Failure> {
        let counts = match Reply::of(line) {
            Some(Reply::Good(text)) => two_numbers(text),
            _ => None,
        };
        let (messages, bytes) = counts.ok_or_else(|| unexpected(Phase::Select, "STAT", line))?;
        (self.facts.mailbox_messages, self.facts.mailbox_bytes) = (Some(messages), Some(bytes));
        Ok(Act::Done)
    }
}

impl Core for Opening {
    fn phase(&self) -> Phase {
        match self.state {
            State::Banner => Phase::Banner,
            State::Asked | State::Offers => Phase::Capability,
            State::Stls => Phase::Starttls,
            State::Login => Phase::Auth,
            State::Stat => Phase::Select,
        }
    }

    fn hear(&mut self, line: &str) -> Result<Act, Failure> {
        match self.state {
            State::Banner => self.greeted(line),
            State::Asked => self.asked(line),
            State::Offers => self.offer_came(line),
            State::Stls => match Reply::of(line) {
                Some(Reply::Good(_)) => Ok(Act::Secure),
                _ => Err(unexpected(Phase::Starttls, "STLS", line)),
            },
            State::Login => self.logging_in(line),
            State::Stat => self.counted(line),
        }
    }

    /// What was offered before may have been forged on the way, so it is asked for again (RFC 2595 4).
    fn secured(&mut self) -> Act {
        self.secure = true;
        self.ask()
    }
}

/// The timestamp in a greeting, which has the form of a Message-ID (RFC 1939 7, APOP).
fn timestamp(text: &str) -> Option<String> {
    let start = text.find('<')?;
    let end = start + text[start..].find('>')?;
    let inner = &text[start + 1..end];
    let fine = inner.contains('@') && inner.bytes().all(|byte| byte.is_ascii_graphic());
    fine.then(|| text[start..=end].to_owned())
}

/// The two numbers at the start of `text`, as STAT answers them; what follows is for nobody.
fn two_numbers(text: &str) -> Option<(u64, u64)> {
    let mut words = text.split_whitespace().map(str::parse);
    Some((words.next()?.ok()?, words.next()?.ok()?))
}

fn lost() -> Failure {
    Failure::new(Phase::Auth, FailureKind::Internal, "the login has no step")
}

#[cfg(test)]
#[path = "opening_tests.rs"]
mod tests;
