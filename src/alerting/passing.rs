//! Runs as they come, and as time, a clock that is set and a monitor that changes pass over them.

use std::time::Duration;

use super::heard::Heard;
use super::run::{Over, Run, one_of};
use super::terms::Terms;
use super::watch::Watch;
use super::watch::{Next, no_answer};
use crate::domain::Timestamp;

/// A clock that is set back by up to this much is waited for, as the agents do; no run comes twice then.
const STEP_BACK: Duration = Duration::from_hours(1);

/// A tick that comes so much too late says that this process stood still, not that the agents did.
const STANDSTILL: Duration = Duration::from_mins(1);

/// Open runs at most. Far above what timeouts allow; beyond it the oldest is settled by what is there.
const OPEN: usize = 64;

impl Watch {
    /// Adapts what is remembered to a clock that was set back and to a monitor that changed.
    pub(super) fn adapt(&mut self, terms: &Terms<'_>) {
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
    pub(super) fn notice_step_back(&mut self, heard: &Heard, terms: &Terms<'_>) {
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

    pub(super) fn note(&mut self, heard: Heard, terms: &Terms<'_>) {
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
    pub(super) fn give_up(&mut self, terms: &Terms<'_>) {
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
    /// Learns who was expected of a run that was read back; what locations said that left the pool since is
    /// dropped. Answers up to when runs are settled, if nobody is missing any more.
    fn learn(&mut self, terms: &Terms<'_>) -> Option<Timestamp> {
        let plan = &terms.policy.plan;
        self.expected = plan.expected_locations(self.planned_at);
        self.closes = Self::new(self.planned_at, terms).closes;
        self.heard.retain(|heard| plan.pool.contains(&heard.location));
        let complete = self.heard.is_empty() || self.silent().is_empty();
        let settled = std::mem::take(&mut self.known) && complete;
        settled.then_some(self.planned_at)
    }
}
