//! The probe of mail round trips.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::mailbox_poll::{MailboxPoll, PollResult};
use super::message_search::MessageSearch;
use super::poll_schedule::PollSchedule;
use super::report::{
    RoundTripState, build_round_trip_observation, not_delivered_failure, to_micros, with_fetch_context,
    with_send_context,
};
use super::send::AcceptedMessage;
use super::token::TokenSigner;
use super::{message, send};
use crate::domain::{Failure, FailureKind, MailFacts, Observation, Phase, RoundTripFacts};
use crate::probe::build_context::ProbeBuildContext;
use crate::probe::invalid_probe::InvalidProbe;
use crate::probe::mail::mail_server_target::MailServerTarget;
use crate::probe::mail::pop::DEFAULT_PORTS as POP_PORTS;
use crate::probe::probe_trait::{AttemptFuture, Probe, ProbeContext};
use crate::probe::service_target::parse_service_endpoint;
use crate::protocol::LineSession;
use crate::protocol::auth::Credentials;
use crate::schema::table::mail::{POP_SCHEMES, SMTP_SCHEMES};
use crate::schema::typed::mail::RoundTripSettings;
use crate::schema::{InvalidFieldValue, MonitorDocument};

/// Ports of SMTP without and with implicit TLS (RFC 8314 7.3).
const DEFAULT_SMTP_PORTS: (u16, u16) = (25, 465);

#[derive(Debug)]
pub(super) struct RoundTripProbe {
    smtp_target: MailServerTarget,
    pub(super) pop_target: MailServerTarget,
    email_address: String,
    configured_ehlo_name: Option<Arc<str>>,
    token_signer: TokenSigner,
}

/// Builds the probe of a validated `email-round-trip` monitor.
pub(in crate::probe) fn build(document: &MonitorDocument, context: &ProbeBuildContext) -> Arc<dyn Probe> {
    match RoundTripProbe::new(document, context) {
        Ok(probe) => Arc::new(probe),
        Err(error) => Arc::new(InvalidProbe::from(error)),
    }
}

impl RoundTripProbe {
    fn new(document: &MonitorDocument, context: &ProbeBuildContext) -> Result<Self, InvalidFieldValue> {
        let round_trip: RoundTripSettings<'_> = document.deserialize()?;
        let email = round_trip.email.trim();
        let user = round_trip.email_username.filter(|user| !user.is_empty()).unwrap_or(email).to_owned();
        let credentials =
            Credentials { user, password: round_trip.email_password.unwrap_or_default().to_owned() };
        let build_target = |host, schemes, ports| {
            MailServerTarget::new(
                document,
                parse_service_endpoint(host, None, None, schemes, ports),
                schemes,
                (None, None),
            )
        };
        let pop_target = build_target(round_trip.pop3_hostname, POP_SCHEMES, POP_PORTS)?;
        let smtp_target = build_target(round_trip.smtp_hostname, SMTP_SCHEMES, DEFAULT_SMTP_PORTS)?;
        Ok(Self {
            smtp_target: MailServerTarget {
                credentials: Some(credentials.clone()).filter(|login| !login.password.is_empty()),
                ..smtp_target
            },
            pop_target: MailServerTarget { credentials: Some(credentials), ..pop_target },
            email_address: email.to_owned(),
            configured_ehlo_name: context.ehlo_name.clone(),
            token_signer: TokenSigner::new(context.keyring.as_ref(), context.monitor_id),
        })
    }
}

impl Probe for RoundTripProbe {
    fn attempt<'a>(&'a self, cx: ProbeContext<'a>) -> AttemptFuture<'a> {
        Box::pin(self.run(cx))
    }

    /// Returns the SMTP server: a probe has only one target host, so the POP3 server has no limit of its own.
    fn target_host(&self) -> Option<&str> {
        Some(self.smtp_target.host())
    }
}

impl RoundTripProbe {
    async fn run(&self, cx: ProbeContext<'_>) -> Observation {
        if !self.email_address.is_ascii() {
            let detail = format!("`{}` is not ASCII; SMTPUTF8 (RFC 6531) is not spoken", self.email_address);
            return Observation::from_failure(Failure::new(
                Phase::Prepare,
                FailureKind::ProbeUnsupported,
                detail,
            ));
        }
        let (started, sent_at) = (Instant::now(), cx.clock.now());
        let token = self.token_signer.issue_token(sent_at);
        let (message, message_id) = message::compose(&self.email_address, &token, sent_at);
        let facts = RoundTripFacts { message_id, ..RoundTripFacts::default() };
        let mut session = LineSession::new(cx.net, cx.deadline);
        let mut mail_facts = MailFacts::default();
        let ehlo_name = self.configured_ehlo_name.as_deref();
        let send_result = send::send_message(
            &self.smtp_target,
            ehlo_name,
            &mut session,
            message,
            cx.clock,
            &mut mail_facts,
        )
        .await;
        session.close().await;
        match send_result {
            Err(failure) => {
                let failure = with_send_context(failure, &self.smtp_target);
                let mut observation =
                    self.smtp_target.build_observation(started, session, Err(failure), mail_facts);
                observation.facts.round_trip = Some(Box::new(facts));
                observation
            }
            Ok(accepted) => {
                let state = RoundTripState::after_send(started, facts, &accepted, &session, &mail_facts);
                let search = MessageSearch::new(&self.token_signer, &token, sent_at);
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
        accepted_message: &AcceptedMessage,
    ) -> Observation {
        let mut schedule = PollSchedule::new(cx.deadline.at);
        let mut last_poll = MailboxPoll::new(cx);
        while let Some(next_poll_at) = schedule.next_poll(Instant::now()) {
            sleep_until(next_poll_at).await;
            let started = Instant::now();
            let mut poll = MailboxPoll::new(cx);
            let poll_result = poll.run(&self.pop_target, &mut search).await;
            schedule.record_poll(started.elapsed(), poll.min_login_delay_seconds());
            state.facts.deleted_stale_messages += poll.deleted_stale_count;
            state.facts.mailbox_polls += u32::from(poll.opened_mailbox());
            match poll_result {
                PollResult::NotFound { has_unexamined: true } => schedule.reset_delay(),
                PollResult::NotFound { has_unexamined: false } => {}
                PollResult::Locked => state.facts.mailbox_locked_count += 1,
                PollResult::Failed(failure) => {
                    let failure = with_fetch_context(failure, &self.pop_target);
                    return build_round_trip_observation(
                        &self.pop_target,
                        started - accepted_message.accepted_instant,
                        state,
                        poll,
                        Err(failure),
                    );
                }
                PollResult::Delivered { found_at, fetched_at } => {
                    state.facts.round_trip_transit_us =
                        to_micros(found_at - accepted_message.accepted_instant);
                    state.facts.round_trip_fetch_us = to_micros(fetched_at - found_at);
                    return build_round_trip_observation(
                        &self.pop_target,
                        started - accepted_message.accepted_instant,
                        state,
                        poll,
                        Ok(()),
                    );
                }
            }
            last_poll = poll;
        }
        let failure = not_delivered_failure(accepted_message, &state.facts);
        build_round_trip_observation(
            &self.pop_target,
            accepted_message.accepted_instant.elapsed(),
            state,
            last_poll,
            Err(failure),
        )
    }
}
