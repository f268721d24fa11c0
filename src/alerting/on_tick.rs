//! Runs as they come, and as time, a clock that is set and a monitor that changes pass over them.

use std::time::Duration;

use super::alert_state::AlertState;
use super::alert_state::{ExpectedRun, verification_timed_out};
use super::context::AlertContext;
use super::location_result::LocationResult;
use super::pending_run::{CloseReason, PendingRun, missed_run_from_series};
use crate::domain::Timestamp;

/// A clock that is set back by up to this much is waited for, as the agents do; no run comes twice then.
const CLOCK_STEP_TOLERANCE: Duration = Duration::from_hours(1);

/// A tick that comes so much too late says that this process stood still, not that the agents did.
const STALL_THRESHOLD: Duration = Duration::from_mins(1);

/// Open runs at most. Far above what timeouts allow; beyond it the oldest is settled by what is there.
const MAX_OPEN_RUNS: usize = 64;

impl AlertState {
    /// Adapts what is remembered to a clock that was set back and to a monitor that changed.
    pub(super) fn adapt_to_changes(&mut self, terms: &AlertContext<'_>) {
        let latest = terms.now + CLOCK_STEP_TOLERANCE;
        if self.resolved_until.is_some_and(|settled| settled > latest) {
            // Less the time that a run may be under way already.
            self.resolved_until = Some(terms.now - terms.policy.run_plan.slots.interval());
            self.expect_next_run(terms.now, terms);
        }
        self.runs.retain(|run| run.planned_at <= latest);
        for run in &mut self.runs {
            if let Some(ask) = run.verification.as_mut().filter(|ask| ask.answer.is_none()) {
                ask.set_deadline(terms);
            }
            if run.expected.is_empty() {
                self.resolved_until = run.restore_expected(terms).max(self.resolved_until);
            }
        }
        let settled = self.resolved_until;
        self.runs.retain(|run| settled.is_none_or(|settled| run.planned_at > settled));
        let slots = &terms.policy.run_plan.slots;
        match (self.next, self.resolved_until) {
            (Some(next), _) if slots.last_at_or_before(next.planned_at) == next.planned_at => {}
            (None, Some(settled)) if !self.is_closed => self.resume_after(settled, terms),
            _ => self.expect_next_run(terms.now, terms),
        }
        self.is_closed = false;
    }

    /// Notices a clock that was set back by the run of the present that lies before what is settled. Agents that
    /// still wait for the clock plan no such run, and answers from before the step lie ahead of the clock.
    pub(super) fn detect_clock_step_back(&mut self, heard: &LocationResult, terms: &AlertContext<'_>) {
        let plan = &terms.policy.run_plan;
        let planned_at = heard.last_planned_at;
        let present = planned_at <= terms.now && terms.now < planned_at + plan.slots.interval();
        if present && self.resolved_until.is_some_and(|settled| settled >= planned_at && settled > terms.now)
        {
            self.resolved_until = Some(planned_at - Duration::from_micros(1));
            self.runs.retain(|run| run.planned_at <= terms.now);
            self.expect_next_run(planned_at, terms);
        }
    }

    /// Goes on after a start of the process: the run after the last one may still come, late.
    fn resume_after(&mut self, settled: Timestamp, terms: &AlertContext<'_>) {
        self.expect_next_run(settled, terms);
        if self.next.is_some_and(|next| next.expires_at <= terms.now) {
            self.expect_next_run(terms.now, terms);
        }
    }

    /// Expects the run that comes after `time` and after all that are settled.
    pub(super) fn expect_next_run(&mut self, time: Timestamp, terms: &AlertContext<'_>) {
        let after = self.resolved_until.map_or(time, |settled| settled.max(time));
        let planned_at = terms.policy.run_plan.slots.next_after(after);
        self.next = Some(ExpectedRun { planned_at, expires_at: PendingRun::expires_at(planned_at, terms) });
    }

    pub(super) fn record_result(&mut self, heard: LocationResult, terms: &AlertContext<'_>) {
        let planned_at = heard.last_planned_at;
        if heard.slots > 1 {
            let series = heard.planned_at..planned_at;
            let had_part = |run: &&mut PendingRun| {
                series.contains(&run.planned_at) && run.expected.contains(&heard.location)
            };
            for run in self.runs.iter_mut().filter(had_part) {
                run.record_result(missed_run_from_series(&heard, run.planned_at, terms));
                run.close_if_complete(false, terms);
            }
        }
        let at = self.runs.partition_point(|run| run.planned_at < planned_at);
        if self.runs.get(at).is_none_or(|run| run.planned_at != planned_at) {
            self.runs.insert(at, PendingRun::new(planned_at, terms));
        }
        if let Some(run) = self.runs.get_mut(at) {
            run.record_result(heard);
            run.close_if_complete(false, terms);
        }
        if self.runs.len() > MAX_OPEN_RUNS {
            self.force_close_oldest(terms);
        }
    }

    /// Ends the oldest run, whatever it waits for.
    fn force_close_oldest(&mut self, terms: &AlertContext<'_>) {
        let Some(run) = self.runs.first_mut() else { return };
        let (end, planned_at) = (run.close_reason_now(terms), run.planned_at);
        run.close_reason.get_or_insert(end);
        if let Some(ask) = &mut run.verification {
            ask.answer.get_or_insert_with(|| verification_timed_out(terms.now));
        }
        self.expect_next_run(planned_at, terms);
    }

    /// Gives up expected runs of which nobody was heard.
    pub(super) fn expire_expected_runs(&mut self, terms: &AlertContext<'_>) {
        while let Some(next) = self.next.filter(|next| next.expires_at <= terms.now) {
            if terms.now > next.expires_at + STALL_THRESHOLD {
                return self.expect_next_run(terms.now, terms);
            }
            let at = self.runs.partition_point(|run| run.planned_at < next.planned_at);
            let settled = self.resolved_until.is_some_and(|settled| settled >= next.planned_at);
            if !settled && self.runs.get(at).is_none_or(|run| run.planned_at != next.planned_at) {
                let silent = PendingRun {
                    close_reason: Some(CloseReason::OnTime),
                    ..PendingRun::new(next.planned_at, terms)
                };
                self.runs.insert(at, silent);
            }
            let planned_at = terms.policy.run_plan.slots.next_after(next.planned_at);
            self.next =
                Some(ExpectedRun { planned_at, expires_at: PendingRun::expires_at(planned_at, terms) });
        }
    }
}

impl PendingRun {
    /// Learns who was expected of a run that was read back; what locations said that left the pool since is
    /// dropped. Answers up to when runs are settled, if nobody is missing any more.
    fn restore_expected(&mut self, terms: &AlertContext<'_>) -> Option<Timestamp> {
        let plan = &terms.policy.run_plan;
        self.expected = plan.expected_locations(self.planned_at);
        self.closes_at = Self::new(self.planned_at, terms).closes_at;
        self.heard.retain(|heard| plan.pool.contains(&heard.location));
        let complete = self.heard.is_empty() || self.unreported_locations().is_empty();
        let settled = std::mem::take(&mut self.resolved_before_restart) && complete;
        settled.then_some(self.planned_at)
    }
}
