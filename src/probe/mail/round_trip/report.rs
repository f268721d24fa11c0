//! The observation and the failures of a mail round trip.

use std::time::Duration;

use tokio::time::Instant;

use super::super::super::service_target::build_session_observation;
use super::mailbox_poll::MailboxPoll;
use super::send::AcceptedMessage;
use crate::domain::{
    CapturedFile, Failure, FailureKind, MailFacts, Observation, Phase, Phases, RoundTripFacts,
};
use crate::probe::mail::mail_server_target::{MailServerTarget, redact_facts};
use crate::protocol::LineSession;

/// The state of a round trip after the message was accepted.
pub(super) struct RoundTripState {
    pub(super) facts: RoundTripFacts,
    started: Instant,
    /// Phases of the SMTP session.
    phases: Phases,
    transcript: Option<CapturedFile>,
    /// Whether the SMTP session sent the password without TLS.
    password_in_clear: bool,
}

impl RoundTripState {
    /// Creates the state after the SMTP `session` that started at `started`; `mail_facts` are the facts of the SMTP
    /// server.
    pub(super) fn after_send(
        started: Instant,
        facts: RoundTripFacts,
        message: &AcceptedMessage,
        session: &LineSession<'_>,
        mail_facts: &MailFacts,
    ) -> Self {
        Self {
            facts: RoundTripFacts {
                round_trip_send_us: to_micros(message.accepted_instant - started),
                ..facts
            },
            started,
            phases: session.connect_trace.phases,
            transcript: session.transcript.to_capture(),
            password_in_clear: mail_facts.sent_password_in_cleartext,
        }
    }
}

/// Builds the observation of a round trip that ended with `poll`, `transit_duration` after the message was accepted.
/// Of earlier polls only the time is reported, as part of the transit.
pub(super) fn build_round_trip_observation(
    pop_target: &MailServerTarget,
    transit_duration: Duration,
    state: RoundTripState,
    poll: MailboxPoll<'_>,
    poll_result: Result<(), Failure>,
) -> Observation {
    let mut mail_facts = poll.facts();
    mail_facts.sent_password_in_cleartext |= state.password_in_clear;
    let mail_facts = redact_facts(&poll.session.transcript, mail_facts);
    let mut session = poll.session;
    if poll_result.as_ref().is_err_and(|failure| failure.phase == Phase::Transit) {
        // The time since the message was accepted is part of the transit already.
        session.connect_trace.phases = Phases::default();
    }
    let poll_result =
        poll_result.map_err(|failure| pop_target.with_tls_hint(failure, &session.connect_trace));
    let failed = poll_result.is_err();
    let mut observation = build_session_observation(state.started, session, poll_result);
    // The message is sent already; another attempt would send another one.
    observation.may_need_weak_suites = false;
    observation.phases.merge(&state.phases);
    observation.phases.add(Phase::Transit, transit_duration);
    observation.facts.mail = mail_facts.map(Box::new);
    observation.facts.round_trip = Some(Box::new(state.facts));
    if let Some(capture) = state.transcript.filter(|_| failed) {
        observation.captures.push(CapturedFile { name: "transcript-smtp.txt".to_owned(), ..capture });
    }
    observation
}

/// Returns the failure of a message that did not arrive.
pub(super) fn not_delivered_failure(accepted_message: &AcceptedMessage, facts: &RoundTripFacts) -> Failure {
    let (accepted_at, reply) = (accepted_message.accepted_wall_time, &accepted_message.reply);
    let waited = accepted_message.accepted_instant.elapsed().as_secs_f64();
    let times = |count: u32| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let locked_text = match facts.mailbox_locked_count {
        0 => String::new(),
        count => format!(" and found locked {}", times(count)),
    };
    let polls_text = match facts.mailbox_polls {
        0 => "it could never be opened".to_owned(),
        count => format!("it was polled {}", times(count)),
    };
    let detail = format!(
        "the SMTP server accepted the message at {accepted_at} (`{reply}`), but it did not show up in the POP3 mailbox \
         in {waited:.1} s; {polls_text}{locked_text}"
    );
    Failure::new(Phase::Transit, FailureKind::TimedOut, detail)
}

/// Adds to `failure`, which occurred before the message was accepted, that sending failed. Phases such as `auth`
/// occur in the SMTP and the POP3 session, so the detail names the session.
pub(super) fn with_send_context(failure: Failure, smtp_target: &MailServerTarget) -> Failure {
    with_prefix(failure, format!("sending by SMTP through `{}` failed", smtp_target.host()))
}

/// Adds to `failure` of a poll whether fetching or, after the message was fetched, deleting failed.
pub(super) fn with_fetch_context(failure: Failure, pop_target: &MailServerTarget) -> Failure {
    let action = match failure.phase {
        Phase::Delete | Phase::Quit => "deleting by POP3 at",
        _ => "fetching by POP3 from",
    };
    with_prefix(failure, format!("{action} `{}` failed", pop_target.host()))
}

fn with_prefix(failure: Failure, prefix: String) -> Failure {
    let detail = if failure.detail.is_empty() { prefix } else { format!("{prefix}: {}", failure.detail) };
    Failure { detail, ..failure }
}

pub(super) fn to_micros(time: Duration) -> Option<u64> {
    u64::try_from(time.as_micros()).ok()
}
