//! The probe of mail round trips.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::mailbox_poll::{MailboxPoll, PollOutcome};
use super::message_search::MessageSearch;
use super::poll_schedule::PollSchedule;
use super::report::{
    RoundTripState, build_observation, fetching_failure, not_delivered_failure, sending_failure, to_micros,
};
use super::send::AcceptedMessage;
use super::token::TokenSigner;
use super::{message, send};
use crate::domain::{Failure, FailureKind, MailFacts, Observation, Phase, RoundTripFacts};
use crate::probe::contract::{AttemptFuture, Probe, ProbeContext};
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::mail::mail_account::MailAccount;
use crate::probe::mail::pop::PORTS as POP_PORTS;
use crate::probe::service_target::parse_service;
use crate::probe::settings::ProbeSettings;
use crate::protocol::LineSession;
use crate::protocol::auth::Credentials;
use crate::schema::table::mail::{POP_SCHEMES, SMTP_SCHEMES};
use crate::schema::typed::mail::RoundTripSettings;
use crate::schema::{InvalidSettings, MonitorDocument};

/// Ports of SMTP without and with implicit TLS (RFC 8314 7.3).
const SMTP_PORTS: (u16, u16) = (25, 465);

#[derive(Debug)]
pub(super) struct RoundTripProbe {
    smtp: MailAccount,
    pub(super) pop: MailAccount,
    email: String,
    hello: Option<Arc<str>>,
    tokens: TokenSigner,
}

/// Builds the probe of a validated `email-round-trip` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, settings: &ProbeSettings) -> Arc<dyn Probe> {
    match RoundTripProbe::new(document, settings) {
        Ok(probe) => Arc::new(probe),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

impl RoundTripProbe {
    fn new(document: &MonitorDocument, settings: &ProbeSettings) -> Result<Self, InvalidSettings> {
        let round_trip: RoundTripSettings<'_> = document.to_typed()?;
        let email = round_trip.email.trim();
        let user = round_trip.email_username.filter(|user| !user.is_empty()).unwrap_or(email).to_owned();
        let credentials =
            Credentials { user, password: round_trip.email_password.unwrap_or_default().to_owned() };
        let account = |host, schemes, ports| {
            MailAccount::new(document, parse_service(host, None, None, schemes, ports), schemes, (None, None))
        };
        let pop = account(round_trip.pop3_hostname, POP_SCHEMES, POP_PORTS)?;
        let smtp = account(round_trip.smtp_hostname, SMTP_SCHEMES, SMTP_PORTS)?;
        Ok(Self {
            smtp: MailAccount {
                credentials: Some(credentials.clone()).filter(|login| !login.password.is_empty()),
                ..smtp
            },
            pop: MailAccount { credentials: Some(credentials), ..pop },
            email: email.to_owned(),
            hello: settings.ehlo_name.clone(),
            tokens: TokenSigner::new(settings.keyring.as_ref(), settings.monitor),
        })
    }
}

impl Probe for RoundTripProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    /// Returns the SMTP server: a probe has only one target host, so the POP3 server has no limit of its own.
    fn target(&self) -> Option<&str> {
        Some(self.smtp.host())
    }
}

impl RoundTripProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        if !self.email.is_ascii() {
            let detail = format!("`{}` is not ASCII; SMTPUTF8 (RFC 6531) is not spoken", self.email);
            return Observation::from_failure(Failure::new(Phase::Prepare, FailureKind::Unsupported, detail));
        }
        let (started, now) = (Instant::now(), cx.clock.now());
        let token = self.tokens.issue(now);
        let (message, message_id) = message::compose(&self.email, &token, now);
        let facts = RoundTripFacts { message_id, ..RoundTripFacts::default() };
        let mut session = LineSession::new(cx.net, cx.deadline);
        let mut mail = MailFacts::default();
        let hello = self.hello.as_deref();
        let sent = send::send(&self.smtp, hello, &mut session, message, cx.clock, &mut mail).await;
        session.close().await;
        match sent {
            Err(failure) => {
                let failure = sending_failure(failure, &self.smtp);
                let mut observation = self.smtp.to_observation(started, session, Err(failure), mail);
                observation.facts.round_trip = Some(Box::new(facts));
                observation
            }
            Ok(accepted) => {
                let state = RoundTripState::after_send(started, facts, &accepted, &session, &mail);
                let search = MessageSearch::new(&self.tokens, &token, now);
                self.poll_mailbox(cx, state, search, &accepted).await
            }
        }
    }

    /// Polls the mailbox until the message arrives, something fails, or the time is over.
    async fn poll_mailbox(
        &self,
        cx: ProbeContext<'_>,
        mut state: RoundTripState,
        mut search: MessageSearch<'_>,
        message: &AcceptedMessage,
    ) -> Observation {
        let mut schedule = PollSchedule::new(cx.deadline.at);
        let mut last = MailboxPoll::new(cx);
        while let Some(next) = schedule.next_poll(Instant::now()) {
            sleep_until(next).await;
            let started = Instant::now();
            let mut poll = MailboxPoll::new(cx);
            let outcome = poll.run(&self.pop, &mut search).await;
            schedule.record_poll(started.elapsed(), poll.login_delay());
            state.facts.deleted_stale += poll.deleted_stale;
            state.facts.mailbox_polls += u32::from(poll.was_opened());
            match outcome {
                PollOutcome::NotFound { more: true } => schedule.poll_soon(),
                PollOutcome::NotFound { more: false } => {}
                PollOutcome::Locked => state.facts.mailbox_locked += 1,
                PollOutcome::Failed(failure) => {
                    let failure = fetching_failure(failure, &self.pop);
                    return build_observation(
                        &self.pop,
                        started - message.accepted,
                        state,
                        poll,
                        Err(failure),
                    );
                }
                PollOutcome::Fetched { found: seen, fetched } => {
                    state.facts.trip_transit_us = to_micros(seen - message.accepted);
                    state.facts.trip_fetch_us = to_micros(fetched - seen);
                    return build_observation(&self.pop, started - message.accepted, state, poll, Ok(()));
                }
            }
            last = poll;
        }
        let failure = not_delivered_failure(message, &state.facts);
        build_observation(&self.pop, message.accepted.elapsed(), state, last, Err(failure))
    }
}
