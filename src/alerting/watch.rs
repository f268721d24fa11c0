//! What is remembered of a monitor between its runs, and what a new answer, answerless time or a change of the
//! monitor does to it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::effect::Effect;
use super::heard::Heard;
use super::outage::{Outage, Owed};
use super::run::{Ask, Run};
use super::terms::Terms;
use crate::domain::{EpisodeId, Outcome, RecipientId, Status, Timestamp, Verification};

/// What is remembered of one monitor. Its JSON is kept in the transaction of what follows from it; one that
/// [`SessionRecorder::is_idle`] need not be kept.
///
/// A fresh one, one that was read back and one that was closed know of no run to come: a [`SessionRecorder::tick`] when the
/// monitor begins or goes on tells them, so that the absence of its first run is noticed too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// The last run that was settled; late answers to it and those before it alert nobody.
    pub(super) settled: Option<Timestamp>,
    /// Runs that are not settled, the oldest first.
    pub(super) runs: Vec<Run>,
    /// The run that comes after the settled one, whether anybody was heard of it or not. Not kept: after a
    /// standstill the agents know better which runs there were, and report those that they missed.
    #[serde(skip)]
    pub(super) next: Option<Next>,
    /// Whether it was closed: what was planned until it goes on is nobody's.
    #[serde(skip)]
    pub(super) closed: bool,
    pub(super) health: Health,
    pub(super) outage: Option<Outage>,
    /// When the last outage ended, as long as another one now would mean that the monitor flaps.
    pub(super) ended: Option<Timestamp>,
    pub(super) drought: Drought,
    pub(super) owed: Vec<Owed>,
    /// Bytes of the page that a change was told to, and when.
    pub(super) page: Option<(u64, Timestamp)>,
    /// The run whose certificate was told last.
    pub(super) certificate: Option<Timestamp>,
}

/// A run that is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Next {
    pub(super) planned_at: Timestamp,
    /// When it is given up, if nobody is heard.
    pub(super) given_up: Timestamp,
}

/// Runs in a row that said nothing of the target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Drought {
    pub(super) runs: u32,
    /// When the first of them was planned.
    pub(super) since: Option<Timestamp>,
    pub(super) told: Vec<RecipientId>,
}

/// The state of a monitor, for people (issue: up, failing, down, unknown, blacked out; `Disabled` and paused are
/// seen from the monitor itself).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// No run was settled yet, or the last ones said nothing of the target.
    #[default]
    Unknown,
    /// The last settled run was good.
    Up,
    /// Some location fails, but not as many as the mode asks for; or a failure is being verified.
    Failing,
    /// An outage is open.
    Down,
    /// The last run fell into a blackout.
    BlackedOut,
}

impl Watch {
    /// Takes what a location found. Runs are settled in their order; an answer to a settled run changes nothing.
    ///
    /// Closes no run, however late it is: where several answers waited, all of them are to be taken before the
    /// [`SessionRecorder::tick`] that closes what is left.
    pub fn take(&mut self, heard: Heard, terms: &Terms<'_>) -> Vec<Effect> {
        self.adapt(terms);
        self.notice_step_back(&heard, terms);
        let pool = &terms.policy.plan.pool;
        if self.settled.is_none_or(|settled| heard.last_planned_at > settled)
            && pool.contains(&heard.location)
        {
            self.note(heard, terms);
        }
        self.proceed(terms)
    }

    /// Takes the answer to an [`Effect::Verify`]; one that nobody waits for changes nothing.
    pub fn verified(
        &mut self,
        planned_at: Timestamp,
        answer: Verification,
        terms: &Terms<'_>,
    ) -> Vec<Effect> {
        self.adapt(terms);
        let asked = self.runs.iter_mut().find(|run| run.planned_at == planned_at);
        match asked.and_then(|run| run.ask.as_mut()).filter(|ask| ask.answer.is_none()) {
            Some(ask) => ask.answer = Some(answer),
            None => return Vec::new(),
        }
        self.proceed(terms)
    }

    /// Lets time pass: closes runs whose time is over. Call at [`SessionRecorder::due`], also when late.
    pub fn tick(&mut self, terms: &Terms<'_>) -> Vec<Effect> {
        self.adapt(terms);
        self.give_up(terms);
        for run in &mut self.runs {
            run.conclude(true, terms);
            let overdue =
                |ask: &&mut Ask| ask.answer.is_none() && ask.until.is_some_and(|until| until <= terms.now);
            if let Some(ask) = run.ask.as_mut().filter(overdue) {
                ask.answer = Some(no_answer(terms.now));
            }
        }
        self.proceed(terms)
    }

    /// When [`SessionRecorder::tick`] has something to do next.
    #[must_use]
    pub fn due(&self) -> Option<Timestamp> {
        let run = |run: &Run| match (run.waiting(), run.over) {
            (Some(ask), _) => Some(ask.until.unwrap_or(run.closes)),
            (None, None) => Some(run.closes),
            (None, Some(_)) => None,
        };
        let next = self.next.map(|next| next.given_up);
        self.runs.iter().filter_map(run).chain(next).min()
    }

    /// The monitor was disabled, paused or removed: its outage ends without a clear, open runs are dropped.
    pub fn close(&mut self, now: Timestamp) -> Vec<Effect> {
        let ended = self.outage.take().map(|mut outage| outage.end(now, false));
        // Answers of checks that are under way come to nobody any more.
        *self = Self { settled: self.settled.max(Some(now)), closed: true, ..Self::default() };
        ended.into_iter().collect()
    }

    /// Somebody acknowledged the open outage: it is told no more, but its end is.
    pub fn acknowledge(&mut self, episode: EpisodeId) -> bool {
        self.outage.as_mut().is_some_and(|outage| outage.acknowledge(episode))
    }

    /// Verifications that were asked for and not answered, to be asked again after a restart.
    #[must_use]
    pub fn pending(&self) -> Vec<Effect> {
        let question = |run: &Run| run.waiting().map(|ask| ask.effect(run.planned_at));
        self.runs.iter().filter_map(question).collect()
    }

    /// What a start of the process knows without a kept watch: the last answers of each location.
    pub fn resume(&mut self, last: &[Heard]) {
        let Some(newest) = last.iter().map(|heard| heard.last_planned_at).max() else { return };
        let heard: Vec<Heard> =
            last.iter().filter(|heard| heard.last_planned_at == newest).cloned().collect();
        let any = |wanted: fn(&Heard) -> bool| heard.iter().any(wanted);
        self.health = match () {
            () if any(|heard| heard.outcome == Outcome::Blackout) => Health::BlackedOut,
            () if any(|heard| heard.part().is_failure()) => Health::Failing,
            () if any(|heard| heard.part().is_conclusive()) => Health::Up,
            () => Health::Unknown,
        };
        self.settled = Some(newest - Duration::from_micros(1));
        self.runs = vec![Run {
            planned_at: newest,
            expected: Vec::new(),
            closes: newest,
            heard,
            over: None,
            ask: None,
            known: true,
        }];
    }

    /// Whether there is nothing to remember that [`SessionRecorder::resume`] would not bring back.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let harmless = |heard: &Heard| {
            matches!(heard.outcome, Outcome::Ok | Outcome::Warning)
                && heard.page.is_none()
                && heard.certificate.is_none()
        };
        let calm = |run: &Run| run.ask.is_none() && run.heard.iter().all(harmless);
        self.outage.is_none()
            && self.ended.is_none()
            && self.drought.runs == 0
            && self.owed.is_empty()
            && self.page.is_none()
            && self.certificate.is_none()
            && self.runs.iter().all(|run| run.known || calm(run))
    }

    /// How the monitor is.
    #[must_use]
    pub fn health(&self) -> Health {
        match self.health {
            Health::BlackedOut => Health::BlackedOut,
            _ if self.outage.is_some() => Health::Down,
            _ if self.runs.iter().any(|run| run.waiting().is_some()) => Health::Failing,
            health => health,
        }
    }

    /// The open outage.
    #[must_use]
    pub fn episode(&self) -> Option<EpisodeId> {
        self.outage.as_ref().map(Outage::id)
    }
}

impl Ask {
    pub(super) fn effect(&self, planned_at: Timestamp) -> Effect {
        Effect::Verify { planned_at, check: self.check, location: self.location, failed: self.failed.clone() }
    }
}

pub(super) fn no_answer(at: Timestamp) -> Verification {
    Verification { status: Status::VERIFIED_NO_ANSWER, location_id: None, found: None, at }
}
