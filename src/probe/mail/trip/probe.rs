//! The probe of mail round trips.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::patience::Patience;
use super::report::{Known, concluded_with, micros, missing, while_fetching, while_sending};
use super::search::Search;
use super::send::Taken;
use super::token::Tokens;
use super::visit::{End, Visit};
use super::{message, send};
use crate::domain::{Failure, FailureKind, MailFacts, Observation, Phase, RoundTripFacts};
use crate::probe::contract::{Attempting, Context, Probe};
use crate::probe::mail::account::Account;
use crate::probe::mail::pop::PORTS as POP_PORTS;
use crate::probe::settings::ProbeSettings;
use crate::probe::target::service;
use crate::probe::unusable::Unusable;
use crate::protocol::Session;
use crate::protocol::auth::Credentials;
use crate::schema::table::mail::{POP_SCHEMES, SMTP_SCHEMES};
use crate::schema::typed::mail::RoundTripSettings;
use crate::schema::{Document, InvalidSettings};

/// Ports of SMTP without and with implicit TLS (RFC 8314 7.3).
const SMTP_PORTS: (u16, u16) = (25, 465);

#[derive(Debug)]
pub(super) struct RoundTrip {
    smtp: Account,
    pub(super) pop: Account,
    email: String,
    hello: Option<Arc<str>>,
    tokens: Tokens,
}

/// The probe of a checked `email-round-trip` monitor.
pub(in crate::probe) fn build(document: &Document, settings: &ProbeSettings) -> Arc<dyn Probe> {
    match RoundTrip::new(document, settings) {
        Ok(probe) => Arc::new(probe),
        Err(error) => Arc::new(Unusable::from(error)),
    }
}

impl RoundTrip {
    fn new(document: &Document, settings: &ProbeSettings) -> Result<Self, InvalidSettings> {
        let wanted: RoundTripSettings<'_> = document.read()?;
        let email = wanted.email.trim();
        let user = wanted.email_username.filter(|user| !user.is_empty()).unwrap_or(email).to_owned();
        let credentials =
            Credentials { user, password: wanted.email_password.unwrap_or_default().to_owned() };
        let at = |host, schemes, ports| {
            Account::new(document, service(host, None, None, schemes, ports), schemes, (None, None))
        };
        let pop = at(wanted.pop3_hostname, POP_SCHEMES, POP_PORTS)?;
        let smtp = at(wanted.smtp_hostname, SMTP_SCHEMES, SMTP_PORTS)?;
        Ok(Self {
            smtp: Account {
                credentials: Some(credentials.clone()).filter(|login| !login.password.is_empty()),
                ..smtp
            },
            pop: Account { credentials: Some(credentials), ..pop },
            email: email.to_owned(),
            hello: settings.hello.clone(),
            tokens: Tokens::new(settings.keyring.as_ref(), settings.monitor),
        })
    }
}

impl Probe for RoundTrip {
    fn attempt<'a>(&'a self, cx: Context<'a>) -> Attempting<'a> {
        Box::pin(self.run(cx))
    }

    /// The server that the message goes to; one has to be named.
    fn target(&self) -> Option<&str> {
        Some(self.smtp.host())
    }
}

impl RoundTrip {
    async fn run(&self, cx: Context<'_>) -> Observation {
        if !self.email.is_ascii() {
            let detail = format!("`{}` is not ASCII; SMTPUTF8 (RFC 6531) is not spoken", self.email);
            return Observation::from_failure(Failure::new(Phase::Prepare, FailureKind::Unsupported, detail));
        }
        let (started, now) = (Instant::now(), cx.clock.now());
        let token = self.tokens.issue(now);
        let (message, message_id) = message::compose(&self.email, &token, now);
        let facts = RoundTripFacts { message_id, ..RoundTripFacts::default() };
        let mut session = Session::new(cx.net, cx.deadline);
        let mut mail = MailFacts::default();
        let hello = self.hello.as_deref();
        let sent = send::send(&self.smtp, hello, &mut session, message, cx.clock, &mut mail).await;
        session.close().await;
        match sent {
            Err(failure) => {
                let failure = while_sending(failure, &self.smtp);
                let mut seen = self.smtp.concluded(started, session, Err(failure), mail);
                seen.facts.round_trip = Some(Box::new(facts));
                seen
            }
            Ok(taken) => {
                let known = Known::of_the_way_out(started, facts, &taken, &session, &mail);
                let search = Search::new(&self.tokens, &token, now);
                self.wait(cx, known, search, &taken).await
            }
        }
    }

    /// Visits the mailbox until the message is there, something fails, or the time is over.
    async fn wait(
        &self,
        cx: Context<'_>,
        mut known: Known,
        mut search: Search<'_>,
        taken: &Taken,
    ) -> Observation {
        let mut patience = Patience::new(cx.deadline.at);
        let mut last = Visit::new(cx);
        while let Some(next) = patience.next(Instant::now()) {
            sleep_until(next).await;
            let began = Instant::now();
            let mut visit = Visit::new(cx);
            let end = visit.go(&self.pop, &mut search).await;
            patience.took(began.elapsed(), visit.login_delay());
            known.facts.swept += visit.swept;
            known.facts.mailbox_polls += u32::from(visit.opened());
            match end {
                End::Absent { more: true } => patience.hurry(),
                End::Absent { more: false } => {}
                End::Locked => known.facts.mailbox_locked += 1,
                End::Failed(failure) => {
                    let failure = while_fetching(failure, &self.pop);
                    return concluded_with(&self.pop, began - taken.at, known, visit, Err(failure));
                }
                End::Fetched { seen, fetched } => {
                    known.facts.trip_transit_us = micros(seen - taken.at);
                    known.facts.trip_fetch_us = micros(fetched - seen);
                    return concluded_with(&self.pop, began - taken.at, known, visit, Ok(()));
                }
            }
            last = visit;
        }
        let failure = missing(taken, &known.facts);
        concluded_with(&self.pop, taken.at.elapsed(), known, last, Err(failure))
    }
}
