//! What is told of a trip.

use std::time::Duration;

use tokio::time::Instant;

use super::super::super::service_target::session_observation;
use super::mailbox_poll::MailboxPoll;
use super::send::AcceptedMessage;
use crate::domain::{Capture, Failure, FailureKind, MailFacts, Observation, Phase, Phases, RoundTripFacts};
use crate::probe::mail::mail_account::{MailAccount, redact_facts};
use crate::protocol::LineSession;

/// What is known of a trip since the message was taken.
pub(super) struct RoundTripState {
    pub(super) facts: RoundTripFacts,
    started: Instant,
    /// Of the way out.
    phases: Phases,
    transcript: Option<Capture>,
    password_in_clear: bool,
}

impl RoundTripState {
    /// What `session`, begun at `started`, leaves to tell; `mail` is what the SMTP server said of itself.
    pub(super) fn after_send(
        started: Instant,
        facts: RoundTripFacts,
        message: &AcceptedMessage,
        session: &LineSession<'_>,
        mail: &MailFacts,
    ) -> Self {
        Self {
            facts: RoundTripFacts { trip_send_us: to_micros(message.at - started), ..facts },
            started,
            phases: session.trace.phases,
            transcript: session.transcript.to_capture(),
            password_in_clear: mail.password_in_clear,
        }
    }
}

/// The observation of a trip that ended with `visit`, `transit` after the message was taken. Of the
/// visits before only the time is told, as part of the transit.
pub(super) fn build_observation(
    pop: &MailAccount,
    transit: Duration,
    known: RoundTripState,
    poll: MailboxPoll<'_>,
    outcome: Result<(), Failure>,
) -> Observation {
    let mut mail = poll.facts();
    mail.password_in_clear |= known.password_in_clear;
    let mail = redact_facts(&poll.session.transcript, mail);
    let mut session = poll.session;
    if outcome.as_ref().is_err_and(|failure| failure.phase == Phase::Transit) {
        // All the time since the message was taken is in the transit already.
        session.trace.phases = Phases::default();
    }
    let outcome = outcome.map_err(|failure| pop.with_tls_hint(failure, &session.trace));
    let failed = outcome.is_err();
    let mut observation = session_observation(known.started, session, outcome);
    observation.phases.merge(&known.phases);
    observation.phases.add(Phase::Transit, transit);
    observation.facts.mail = mail.map(Box::new);
    observation.facts.round_trip = Some(Box::new(known.facts));
    if let Some(capture) = known.transcript.filter(|_| failed) {
        observation.captures.push(Capture { name: "transcript-smtp.txt".to_owned(), ..capture });
    }
    observation
}

/// The failure of a message that never came.
pub(super) fn not_delivered_failure(taken: &AcceptedMessage, facts: &RoundTripFacts) -> Failure {
    let (when, reply) = (taken.accepted_at, &taken.reply);
    let waited = taken.at.elapsed().as_secs_f64();
    let times = |count: u32| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let locked = match facts.mailbox_locked {
        0 => String::new(),
        count => format!(" and found locked {}", times(count)),
    };
    let looked = match facts.mailbox_polls {
        0 => "it was never open to be looked at".to_owned(),
        count => format!("it was looked at {}", times(count)),
    };
    let detail = format!(
        "the SMTP server took the message at {when} (`{reply}`), but it did not show up in the POP3 mailbox \
         in {waited:.1} s; {looked}{locked}"
    );
    Failure::new(Phase::Transit, FailureKind::TimedOut, detail)
}

/// `failure` before the SMTP server had taken the message. Phases such as `auth` are of both halves, so the
/// text says which one it was.
pub(super) fn sending_failure(failure: Failure, smtp: &MailAccount) -> Failure {
    with_prefix(failure, format!("sending by SMTP through `{}` failed", smtp.host()))
}

/// `failure` of a visit to the mailbox. Once the message was fetched, what is left is to delete it.
pub(super) fn fetching_failure(failure: Failure, pop: &MailAccount) -> Failure {
    let doing = match failure.phase {
        Phase::Delete | Phase::Quit => "deleting by POP3 at",
        _ => "fetching by POP3 from",
    };
    with_prefix(failure, format!("{doing} `{}` failed", pop.host()))
}

fn with_prefix(failure: Failure, half: String) -> Failure {
    let detail = if failure.detail.is_empty() { half } else { format!("{half}: {}", failure.detail) };
    Failure { detail, ..failure }
}

pub(super) fn to_micros(time: Duration) -> Option<u64> {
    u64::try_from(time.as_micros()).ok()
}
