//! How runs are opened, expire and adapt to clock steps and changes of the monitor.

use std::time::Duration;

use super::alert_context::AlertContext;
use super::alert_state::AlertState;
use super::alert_state::{ExpectedRun, timed_out_verification};
use super::location_result::LocationResult;
use super::pending_run::{CloseTimeliness, PendingRun, single_missed_run};
use crate::domain::Timestamp;

/// When the clock is set back by at most this, alerting waits until it has
/// caught up, as agents do, so that no run happens twice.
const CLOCK_STEP_TOLERANCE: Duration = Duration::from_hours(1);

/// A tick later than this means that this process stalled, not that the agents did.
const STALL_THRESHOLD: Duration = Duration::from_mins(1);

/// Maximum number of open runs, far above what timeouts allow; above it, the oldest one is closed.
const MAX_OPEN_RUNS: usize = 64;

impl AlertState {
    /// Adapts the state to a clock that was set back and to changes of the monitor.
    pub(super) fn adapt_to_clock_and_plan(&mut self, cx: &AlertContext<'_>) {
        let latest_plausible_time = cx.now + CLOCK_STEP_TOLERANCE;
        if self.resolved_until.is_some_and(|resolved_until| resolved_until > latest_plausible_time) {
            // A run of the last interval may be in progress already.
            self.resolved_until = Some(cx.now - cx.policy.run_plan.slot_grid.interval());
            self.expect_next_run(cx.now, cx);
        }
        self.pending_runs.retain(|run| run.planned_at <= latest_plausible_time);
        for run in &mut self.pending_runs {
            if let Some(verification) =
                run.verification.as_mut().filter(|verification| verification.response.is_none())
            {
                verification.set_deadline(cx);
            }
            run.limit_parent_check_deadline(cx.now);
            if run.expected_locations.is_empty() {
                self.resolved_until = run.restore_expected_locations(cx).max(self.resolved_until);
            }
        }
        let resolved_until = self.resolved_until;
        self.pending_runs
            .retain(|run| resolved_until.is_none_or(|resolved_until| run.planned_at > resolved_until));
        let slot_grid = &cx.policy.run_plan.slot_grid;
        match (self.expected_run, self.resolved_until) {
            (Some(expected_run), _)
                if slot_grid.last_slot_at_or_before(expected_run.planned_at) == expected_run.planned_at => {}
            (None, Some(resolved_until)) if !self.was_inactive => {
                self.expect_run_after_restart(resolved_until, cx);
            }
            _ => self.expect_next_run(cx.now, cx),
        }
        self.was_inactive = false;
    }

    /// Detects a clock that was set back: a result of the current interval is planned no later than the last resolved
    /// run. Agents that wait for the clock plan no such run, and results from before the step lie in the future.
    pub(super) fn detect_clock_step_back(&mut self, result: &LocationResult, cx: &AlertContext<'_>) {
        let plan = &cx.policy.run_plan;
        let planned_at = result.last_planned_at;
        let is_current = planned_at <= cx.now && cx.now < planned_at + plan.slot_grid.interval();
        if is_current
            && self
                .resolved_until
                .is_some_and(|resolved_until| resolved_until >= planned_at && resolved_until > cx.now)
        {
            self.resolved_until = Some(planned_at - Duration::from_micros(1));
            self.pending_runs.retain(|run| run.planned_at <= cx.now);
            self.expect_next_run(planned_at, cx);
        }
    }

    /// Continues after a start of the process: the run after the last resolved one may still be reported, late.
    fn expect_run_after_restart(&mut self, resolved_until: Timestamp, cx: &AlertContext<'_>) {
        self.expect_next_run(resolved_until, cx);
        if self.expected_run.is_some_and(|expected_run| expected_run.expires_at <= cx.now) {
            self.expect_next_run(cx.now, cx);
        }
    }

    /// Expects the first run after `start_after` and after all resolved runs.
    pub(super) fn expect_next_run(&mut self, start_after: Timestamp, cx: &AlertContext<'_>) {
        let after = self.resolved_until.map_or(start_after, |resolved_until| resolved_until.max(start_after));
        let planned_at = cx.policy.run_plan.slot_grid.next_slot_after(after);
        self.expected_run =
            Some(ExpectedRun { planned_at, expires_at: PendingRun::expiry_without_results(planned_at, cx) });
    }

    /// Records a result in its run. One result can cover a series of missed runs, whose last is at `last_planned_at`.
    pub(super) fn record_result(&mut self, result: LocationResult, cx: &AlertContext<'_>) {
        let planned_at = result.last_planned_at;
        if result.run_count > 1 {
            let series_range = result.planned_at..planned_at;
            let was_expected = |run: &&mut PendingRun| {
                series_range.contains(&run.planned_at) && run.expected_locations.contains(&result.location_id)
            };
            for run in self.pending_runs.iter_mut().filter(was_expected) {
                run.record_result(single_missed_run(&result, run.planned_at, cx));
                run.close_if_complete(cx);
            }
        }
        let insert_index = self.pending_runs.partition_point(|run| run.planned_at < planned_at);
        if self.pending_runs.get(insert_index).is_none_or(|run| run.planned_at != planned_at) {
            self.pending_runs.insert(insert_index, PendingRun::new(planned_at, cx));
        }
        if let Some(run) = self.pending_runs.get_mut(insert_index) {
            run.record_result(result);
            run.close_if_complete(cx);
        }
        if self.pending_runs.len() > MAX_OPEN_RUNS {
            self.force_close_oldest(cx);
        }
    }

    /// Closes the oldest run, whatever it waits for.
    fn force_close_oldest(&mut self, cx: &AlertContext<'_>) {
        let Some(run) = self.pending_runs.first_mut() else { return };
        let (close_timeliness, planned_at) = (run.close_timeliness_now(cx), run.planned_at);
        run.close_timeliness.get_or_insert(close_timeliness);
        if let Some(verification) = &mut run.verification {
            verification.response.get_or_insert_with(|| timed_out_verification(cx.now));
        }
        run.give_up_parent_check(|_| true);
        self.expect_next_run(planned_at, cx);
    }

    /// Gives up expected runs that no location reported.
    pub(super) fn expire_expected_runs(&mut self, cx: &AlertContext<'_>) {
        while let Some(expected_run) =
            self.expected_run.filter(|expected_run| expected_run.expires_at <= cx.now)
        {
            if cx.now > expected_run.expires_at + STALL_THRESHOLD {
                return self.expect_next_run(cx.now, cx);
            }
            let insert_index =
                self.pending_runs.partition_point(|run| run.planned_at < expected_run.planned_at);
            let is_resolved =
                self.resolved_until.is_some_and(|resolved_until| resolved_until >= expected_run.planned_at);
            if !is_resolved
                && self
                    .pending_runs
                    .get(insert_index)
                    .is_none_or(|run| run.planned_at != expected_run.planned_at)
            {
                let unreported_run = PendingRun {
                    close_timeliness: Some(CloseTimeliness::OnTime),
                    ..PendingRun::new(expected_run.planned_at, cx)
                };
                self.pending_runs.insert(insert_index, unreported_run);
            }
            let planned_at = cx.policy.run_plan.slot_grid.next_slot_after(expected_run.planned_at);
            self.expected_run = Some(ExpectedRun {
                planned_at,
                expires_at: PendingRun::expiry_without_results(planned_at, cx),
            });
        }
    }
}

impl PendingRun {
    /// Sets the expected locations of a restored run and drops results of locations that have left the pool. Returns
    /// its planned time if it was resolved before the restart and all its locations have reported.
    fn restore_expected_locations(&mut self, cx: &AlertContext<'_>) -> Option<Timestamp> {
        let plan = &cx.policy.run_plan;
        self.expected_locations = plan.locations_of_run(self.planned_at);
        self.closes_at = Self::new(self.planned_at, cx).closes_at;
        self.results.retain(|result| plan.location_pool.contains(&result.location_id));
        let is_complete = self.results.is_empty() || self.unreported_locations().is_empty();
        let is_resolved = std::mem::take(&mut self.resolved_if_complete) && is_complete;
        is_resolved.then_some(self.planned_at)
    }
}
