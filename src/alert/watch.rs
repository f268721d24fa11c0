//! What is remembered of a monitor between its runs, and what a new answer, answerless time or a change of the
//! monitor does to it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::outage::{Outage, Owed};
use super::run::{Ask, Over, Run, one_of};
use super::{Contacts, Effect, Heard, Policy};
use crate::model::{EpisodeId, LocationId, Outcome, RecipientId, Status, Timestamp, Verification};
use crate::schedule::Calendar;

/// What decisions are made by. Everything here is of the moment of the call.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// What the monitor says.
    pub policy: &'a Policy,
    /// Who there is.
    pub contacts: &'a Contacts,
    /// What is silenced.
    pub calendar: &'a Calendar,
    /// Locations without a live agent now.
    pub away: &'a [LocationId],
    /// Now.
    pub now: Timestamp,
}

/// What is remembered of one monitor. Its JSON is kept in the transaction of what follows from it; one that
/// [`Watch::is_idle`] need not be kept.
///
/// A fresh one, one that was read back and one that was closed know of no run to come: a [`Watch::tick`] when the
/// monitor begins or goes on tells them, so that the absence of its first run is noticed too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    closed: bool,
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

/// A clock that is set back by up to this much is waited for, as the agents do; no run comes twice then.
const STEP_BACK: Duration = Duration::from_hours(1);

/// A tick that comes so much too late says that this process stood still, not that the agents did.
const STANDSTILL: Duration = Duration::from_mins(1);

/// Open runs at most. Far above what timeouts allow; beyond it the oldest is settled by what is there.
const OPEN: usize = 64;

impl Watch {
    /// Takes what a location found. Runs are settled in their order; an answer to a settled run changes nothing.
    ///
    /// Closes no run, however late it is: where several answers waited, all of them are to be taken before the
    /// [`Watch::tick`] that closes what is left.
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

    /// Lets time pass: closes runs whose time is over. Call at [`Watch::due`], also when late.
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

    /// When [`Watch::tick`] has something to do next.
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
            () if any(|heard| heard.part().fails()) => Health::Failing,
            () if any(|heard| heard.part().tells()) => Health::Up,
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

    /// Whether there is nothing to remember that [`Watch::resume`] would not bring back.
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

    /// Adapts what is remembered to a clock that was set back and to a monitor that changed.
    fn adapt(&mut self, terms: &Terms<'_>) {
        let latest = terms.now + STEP_BACK;
        if self.settled.is_some_and(|settled| settled > latest) {
            // Less the time that a run may be under way already.
            self.settled = Some(terms.now - terms.policy.plan.slots.interval());
            self.expect_after(terms.now, terms);
        }
        self.runs.retain(|run| run.planned_at <= latest);
        for run in &mut self.runs {
            if let Some(ask) = run.ask.as_mut().filter(|ask| ask.answer.is_none()) {
                ask.limit(terms);
            }
            if run.expected.is_empty() {
                self.settled = run.learn(terms).max(self.settled);
            }
        }
        let settled = self.settled;
        self.runs.retain(|run| settled.is_none_or(|settled| run.planned_at > settled));
        let slots = &terms.policy.plan.slots;
        match (self.next, self.settled) {
            (Some(next), _) if slots.last_at_or_before(next.planned_at) == next.planned_at => {}
            (None, Some(settled)) if !self.closed => self.go_on(settled, terms),
            _ => self.expect_after(terms.now, terms),
        }
        self.closed = false;
    }

    /// Notices a clock that was set back by the run of the present that lies before what is settled. Agents that
    /// still wait for the clock plan no such run, and answers from before the step lie ahead of the clock.
    fn notice_step_back(&mut self, heard: &Heard, terms: &Terms<'_>) {
        let plan = &terms.policy.plan;
        let planned_at = heard.last_planned_at;
        let present = planned_at <= terms.now && terms.now < planned_at + plan.slots.interval();
        if present && self.settled.is_some_and(|settled| settled >= planned_at && settled > terms.now) {
            self.settled = Some(planned_at - Duration::from_micros(1));
            self.runs.retain(|run| run.planned_at <= terms.now);
            self.expect_after(planned_at, terms);
        }
    }

    /// Goes on after a start of the process: the run after the last one may still come, late.
    fn go_on(&mut self, settled: Timestamp, terms: &Terms<'_>) {
        self.expect_after(settled, terms);
        if self.next.is_some_and(|next| next.given_up <= terms.now) {
            self.expect_after(terms.now, terms);
        }
    }

    /// Expects the run that comes after `time` and after all that are settled.
    pub(super) fn expect_after(&mut self, time: Timestamp, terms: &Terms<'_>) {
        let after = self.settled.map_or(time, |settled| settled.max(time));
        let planned_at = terms.policy.plan.slots.next_after(after);
        self.next = Some(Next { planned_at, given_up: Run::given_up(planned_at, terms) });
    }

    fn note(&mut self, heard: Heard, terms: &Terms<'_>) {
        let planned_at = heard.last_planned_at;
        if heard.slots > 1 {
            let series = heard.planned_at..planned_at;
            let had_part =
                |run: &&mut Run| series.contains(&run.planned_at) && run.expected.contains(&heard.location);
            for run in self.runs.iter_mut().filter(had_part) {
                run.hear(one_of(&heard, run.planned_at, terms));
                run.conclude(false, terms);
            }
        }
        let at = self.runs.partition_point(|run| run.planned_at < planned_at);
        if self.runs.get(at).is_none_or(|run| run.planned_at != planned_at) {
            self.runs.insert(at, Run::new(planned_at, terms));
        }
        if let Some(run) = self.runs.get_mut(at) {
            run.hear(heard);
            run.conclude(false, terms);
        }
        if self.runs.len() > OPEN {
            self.force(terms);
        }
    }

    /// Ends the oldest run, whatever it waits for.
    fn force(&mut self, terms: &Terms<'_>) {
        let Some(run) = self.runs.first_mut() else { return };
        let (end, planned_at) = (run.end(terms), run.planned_at);
        run.over.get_or_insert(end);
        if let Some(ask) = &mut run.ask {
            ask.answer.get_or_insert_with(|| no_answer(terms.now));
        }
        self.expect_after(planned_at, terms);
    }

    /// Gives up expected runs of which nobody was heard.
    fn give_up(&mut self, terms: &Terms<'_>) {
        while let Some(next) = self.next.filter(|next| next.given_up <= terms.now) {
            if terms.now > next.given_up + STANDSTILL {
                return self.expect_after(terms.now, terms);
            }
            let at = self.runs.partition_point(|run| run.planned_at < next.planned_at);
            let settled = self.settled.is_some_and(|settled| settled >= next.planned_at);
            if !settled && self.runs.get(at).is_none_or(|run| run.planned_at != next.planned_at) {
                let silent = Run { over: Some(Over::InTime), ..Run::new(next.planned_at, terms) };
                self.runs.insert(at, silent);
            }
            let planned_at = terms.policy.plan.slots.next_after(next.planned_at);
            self.next = Some(Next { planned_at, given_up: Run::given_up(planned_at, terms) });
        }
    }
}

impl Run {
    /// Learns who was expected of a run that was read back. Answers up to when are settled, if all were heard.
    fn learn(&mut self, terms: &Terms<'_>) -> Option<Timestamp> {
        self.expected = terms.policy.plan.expected(self.planned_at);
        self.closes = Self::new(self.planned_at, terms).closes;
        let settled = std::mem::take(&mut self.known) && self.silent().is_empty();
        settled.then_some(self.planned_at)
    }
}

impl Ask {
    pub(super) fn effect(&self, planned_at: Timestamp) -> Effect {
        Effect::Verify { planned_at, check: self.check, location: self.location, failed: self.failed.clone() }
    }
}

fn no_answer(at: Timestamp) -> Verification {
    Verification { status: Status::VERIFIED_NO_ANSWER, location_id: None, found: None, at }
}
