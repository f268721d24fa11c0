//! An SMTP session without a socket.

use super::message::Message;
use super::reply::{Replies, Reply};
use crate::domain::{Failure, FailureKind, MailFacts, Phase};
use crate::protocol::auth::{Credentials, Exchange, Mechanism, choose};
use crate::protocol::session::{Act, Core, Line};

/// What a session is for.
#[derive(Clone, Debug)]
pub struct Wish {
    /// How this host calls itself in EHLO: a name, or an address as `[192.0.2.1]`.
    pub hello: String,
    /// Whether TLS stands before the greeting.
    pub implicit_tls: bool,
    /// Whether a server without TLS fails.
    pub require_tls: bool,
    /// Who logs in; nobody without.
    pub credentials: Option<Credentials>,
    /// How; `None` leaves the choice to [`choose`].
    pub mechanism: Option<Mechanism>,
    /// What is handed over.
    pub message: Option<Message>,
}

/// One session, from the greeting to QUIT.
#[derive(Debug)]
pub struct Smtp {
    wish: Wish,
    step: Step,
    secure: bool,
    replies: Replies,
    login: Option<Exchange>,
    /// Whether a message is handed over without a login when there is none to be had.
    login_is_optional: bool,
    /// Why the login was refused that was not needed so far.
    refused_login: Option<Failure>,
    /// The greeting, its first line.
    pub banner: String,
    /// What the server offers: the lines of its last answer to EHLO but the first.
    pub offers: Vec<String>,
    /// How the login was done, once it was begun.
    pub mechanism: Option<Mechanism>,
    /// Whether the password went out without TLS, so that a listener could read it.
    pub password_in_clear: bool,
    /// Whether the server took the message.
    pub delivered: bool,
}

/// Which answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Greeting,
    Ehlo,
    Helo,
    Starttls,
    Auth,
    Mail,
    Rcpt,
    Data,
    End,
    Quit,
}

impl Core for Smtp {
    fn phase(&self) -> Phase {
        match self.step {
            Step::Greeting => Phase::Banner,
            Step::Ehlo | Step::Helo => Phase::Ehlo,
            Step::Starttls => Phase::Starttls,
            Step::Auth => Phase::Auth,
            Step::Mail | Step::Rcpt | Step::Data | Step::End => Phase::Deliver,
            Step::Quit => Phase::Quit,
        }
    }

    fn hear(&mut self, line: &str) -> Result<Act, Failure> {
        // It did what it was asked for; how it says farewell changes nothing.
        if self.step == Step::Quit {
            return Ok(Act::Done);
        }
        let reply = self.replies.take(line).map_err(|why| self.failed(FailureKind::ResponseInvalid, why))?;
        match reply {
            None => Ok(Act::Listen),
            Some(reply) => self.answered(reply),
        }
    }

    fn secured(&mut self) -> Act {
        self.secure = true;
        // RFC 3207 4.2: what it offered before counts no more.
        self.offers.clear();
        self.ehlo()
    }
}

impl Smtp {
    /// A session that waits for its greeting.
    #[must_use]
    pub fn new(wish: Wish) -> Self {
        Self {
            secure: wish.implicit_tls,
            wish,
            step: Step::Greeting,
            replies: Replies::default(),
            login: None,
            login_is_optional: false,
            refused_login: None,
            banner: String::new(),
            offers: Vec::new(),
            mechanism: None,
            password_in_clear: false,
            delivered: false,
        }
    }

    /// The same, but whoever is to log in does so only where that is offered, and hands the message over all
    /// the same when it is refused: many servers take mail for their own mailboxes from everybody.
    #[must_use]
    pub fn with_optional_login(mut self) -> Self {
        self.login_is_optional = true;
        self
    }

    fn answered(&mut self, reply: Reply) -> Result<Act, Failure> {
        match self.step {
            Step::Greeting => {
                self.banner = reply.texts.first().cloned().unwrap_or_default();
                if reply.code != 220 {
                    return Err(self.unexpected(format!("it greets with `{reply}`")));
                }
                Ok(self.ehlo())
            }
            // Those that do not know EHLO say so with 500 or 502; some say 501, 503, 504 or 550.
            Step::Ehlo if reply.code / 100 == 5 => {
                let line = format!("HELO {}", self.wish.hello);
                Ok(self.ask(Step::Helo, line))
            }
            Step::Ehlo | Step::Helo => {
                self.good(&reply)?;
                self.offers = reply.texts.into_iter().skip(1).collect();
                self.introduced()
            }
            Step::Starttls => {
                self.good(&reply)?;
                Ok(Act::Secure)
            }
            Step::Auth => self.authenticated(&reply),
            Step::Mail => {
                self.good(&reply)?;
                let line = self.wish.message.as_ref().map(|message| format!("RCPT TO:<{}>", message.to));
                Ok(self.ask(Step::Rcpt, line.unwrap_or_default()))
            }
            Step::Rcpt => {
                self.good(&reply)?;
                Ok(self.ask(Step::Data, "DATA"))
            }
            Step::Data => {
                if reply.code != 354 {
                    return Err(self.refused(&reply));
                }
                self.step = Step::End;
                Ok(self.wish.message.as_ref().map_or(Act::Done, |message| Act::Say(message.data())))
            }
            Step::End => {
                self.good(&reply)?;
                self.delivered = true;
                Ok(self.ask(Step::Quit, "QUIT"))
            }
            Step::Quit => Ok(Act::Done),
        }
    }

    /// What was learned of the server.
    #[must_use]
    pub fn facts(self) -> MailFacts {
        MailFacts {
            mail_banner: self.banner,
            mail_offers: self.offers,
            mail_auth: self.mechanism.map(|mechanism| mechanism.label().to_owned()),
            password_in_clear: self.password_in_clear,
            ..MailFacts::default()
        }
    }

    fn ehlo(&mut self) -> Act {
        let line = format!("EHLO {}", self.wish.hello);
        self.ask(Step::Ehlo, line)
    }

    /// Once the server has said what it offers: TLS, then the login, then what the session is for.
    fn introduced(&mut self) -> Result<Act, Failure> {
        if !self.secure {
            if self.offers("STARTTLS").is_some() {
                return Ok(self.ask(Step::Starttls, "STARTTLS"));
            }
            if self.wish.require_tls {
                return Err(self.failed(FailureKind::TlsNotOffered, "it offers no STARTTLS"));
            }
        }
        let Some(credentials) = self.wish.credentials.clone() else { return self.deliver() };
        let offered = self.offers("AUTH").unwrap_or_default().to_owned();
        let mechanism = match choose(self.wish.mechanism, offered.split_whitespace(), self.secure) {
            Ok(mechanism) => mechanism,
            Err(_) if self.login_is_optional => return self.deliver(),
            Err(failure) => return Err(failure),
        };
        self.mechanism = Some(mechanism);
        self.password_in_clear = !self.secure && mechanism.shows_password();
        let mut login = Exchange::new(mechanism, credentials);
        let line = login.begin("AUTH", true);
        self.login = Some(login);
        self.step = Step::Auth;
        Ok(Act::Say(line))
    }

    /// What the server says behind `keyword` in its answer to EHLO. `AUTH=LOGIN` is how it was written
    /// before RFC 2554, and some still say it.
    fn offers(&self, keyword: &str) -> Option<&str> {
        self.offers.iter().find_map(|line| {
            let (word, rest) = line.split_at_checked(keyword.len())?;
            let ends = rest.is_empty() || rest.starts_with([' ', '=']);
            (word.eq_ignore_ascii_case(keyword) && ends).then(|| rest.trim_start_matches([' ', '=']))
        })
    }

    fn authenticated(&mut self, reply: &Reply) -> Result<Act, Failure> {
        match reply.code {
            334 => {
                let challenge = reply.texts.first().cloned().unwrap_or_default();
                let login = self.login.as_mut();
                login.map_or(Ok(Act::Done), |login| login.answer(&challenge).map(Act::Say))
            }
            code if code / 100 == 2 => {
                self.login = None;
                self.deliver()
            }
            // RFC 4954 6; others mean the password as well, but for the first ones, which mean the command.
            432 | 505..=599 => {
                let user = self.wish.credentials.as_ref().map_or("", |credentials| &credentials.user);
                let how = self.mechanism.map_or("", Mechanism::name);
                let detail = format!("`{user}` by {how}: `{reply}`");
                let failure = self.failed(FailureKind::LoginRefused, detail);
                if self.login_is_optional {
                    self.refused_login = Some(failure);
                    return self.deliver();
                }
                Err(failure)
            }
            _ => Err(self.refused(reply)),
        }
    }

    fn deliver(&mut self) -> Result<Act, Failure> {
        let Some(message) = &self.wish.message else { return Ok(self.ask(Step::Quit, "QUIT")) };
        let size = message.size();
        let mut line = format!("MAIL FROM:<{}>", message.from);
        self.step = Step::Mail;
        if let Some(most) = self.offers("SIZE") {
            // Nothing, or 0, is no limit (RFC 1870 3).
            if most.trim().parse::<usize>().is_ok_and(|most| most > 0 && most < size) {
                let detail = format!("it takes {most} bytes at most, the message has {size}");
                return Err(self.unexpected(detail));
            }
            line = format!("{line} SIZE={size}");
        }
        Ok(self.ask(Step::Mail, line))
    }

    fn ask(&mut self, step: Step, line: impl Into<String>) -> Act {
        self.step = step;
        Act::Say(Line::plain(line))
    }

    fn good(&self, reply: &Reply) -> Result<(), Failure> {
        if reply.is_good() { Ok(()) } else { Err(self.refused(reply)) }
    }

    /// The server said no to what was asked last.
    fn refused(&self, reply: &Reply) -> Failure {
        let message = self.wish.message.as_ref();
        let to = |of: fn(&Message) -> &str| message.map_or("", of);
        let asked = match self.step {
            Step::Greeting | Step::Quit => "the connection".to_owned(),
            Step::Ehlo => "`EHLO`".to_owned(),
            Step::Helo => "`HELO`".to_owned(),
            Step::Starttls => "`STARTTLS`, which it offers,".to_owned(),
            Step::Auth => format!("`AUTH {}`", self.mechanism.map_or("", Mechanism::name)),
            Step::Mail => format!("`MAIL FROM:<{}>`", to(|message| &message.from)),
            Step::Rcpt => format!("`RCPT TO:<{}>`", to(|message| &message.to)),
            Step::Data => "`DATA`".to_owned(),
            Step::End => "the message".to_owned(),
        };
        let detail = format!("it answers {asked} with `{reply}`");
        match &self.refused_login {
            Some(login) if matches!(self.step, Step::Mail | Step::Rcpt) => {
                let detail = format!("{}; without a login, {detail}", login.detail);
                Failure { detail, ..login.clone() }
            }
            _ => self.unexpected(detail),
        }
    }

    fn unexpected(&self, detail: String) -> Failure {
        self.failed(FailureKind::DialogueUnexpected, detail)
    }

    fn failed(&self, kind: FailureKind, detail: impl Into<String>) -> Failure {
        Failure::new(self.phase(), kind, detail)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
