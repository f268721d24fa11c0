//! Suppression of errors while a monitor that this one depends on is down (behaviour.md 6, Dependencies).

use std::time::Duration;

use super::alert_context::AlertContext;
use super::alert_state::AlertState;
use super::effect::Effect;
use super::monitor_health::MonitorHealth;
use super::parent_monitors::{PARENT_CHECK_TIMEOUT, ParentState, PendingParentCheck, Suppression};
use super::pending_run::PendingRun;
use crate::domain::{LocationId, MonitorId, Outcome, Timestamp};

/// How long failed checks of parents outside of their schedule suppress errors, as long as no parent has an open
/// outage: a parent that runs once an hour must not hide an outage for an hour.
const MAX_SUPPRESSION_BY_CHECKS: Duration = Duration::from_mins(5);

impl AlertState {
    /// Returns the state of this monitor for those that depend on it.
    #[must_use]
    pub fn to_parent_state(&self, monitor_id: MonitorId) -> ParentState {
        let is_conclusive =
            !matches!(self.last_run_health, MonitorHealth::Unknown | MonitorHealth::BlackedOut);
        ParentState {
            monitor_id,
            is_down: is_conclusive && (self.episode.is_some() || self.suppression.is_some()),
            last_run_at: self.resolved_until.filter(|_| is_conclusive),
        }
    }

    /// Returns the parents that suppress the errors of the last failing run; empty when none does.
    #[must_use]
    pub fn suppressed_by(&self) -> &[MonitorId] {
        self.suppression.as_ref().map_or(&[], |suppression| &suppression.suppressed_by)
    }

    /// Applies the response to an [`Effect::CheckParents`]: the parents whose check failed. A response that no run
    /// waits for changes nothing.
    pub fn on_parents_checked(
        &mut self,
        planned_at: Timestamp,
        failed_parents: Vec<MonitorId>,
        cx: &AlertContext<'_>,
    ) -> Vec<Effect> {
        self.adapt_to_clock_and_plan(cx);
        let pending_run = self.pending_runs.iter_mut().find(|run| run.planned_at == planned_at);
        match pending_run.and_then(PendingRun::open_parent_check_mut) {
            Some(parent_check) => parent_check.failed_parents = Some(failed_parents),
            None => return Vec::new(),
        }
        self.resolve_ready_runs(cx)
    }

    /// Requests checks of the parents whose last run is older than the failing `run`, which would open an episode.
    /// Returns `None` when there is nothing to wait for.
    pub(super) fn request_parent_check(
        &self,
        run: &PendingRun,
        failed_location: LocationId,
        cx: &AlertContext<'_>,
    ) -> Option<(PendingParentCheck, Effect)> {
        if run.parent_check.is_some()
            || self.episode.is_some()
            || cx.parents.iter().any(|parent| parent.is_down)
            || !self.may_suppress_by_checks(run.planned_at)
        {
            return None;
        }
        let is_stale = |parent: &&ParentState| parent.last_run_at.is_none_or(|at| at < run.planned_at);
        let parents: Vec<MonitorId> =
            cx.parents.iter().filter(is_stale).map(|parent| parent.monitor_id).collect();
        if parents.is_empty() {
            return None;
        }
        let pending = PendingParentCheck { deadline: cx.now + PARENT_CHECK_TIMEOUT, failed_parents: None };
        Some((pending, Effect::CheckParents { planned_at: run.planned_at, failed_location, parents }))
    }

    /// Suppresses the errors of the failing `run` if a parent is down; returns whether it did.
    pub(super) fn suppress_if_parent_is_down(
        &mut self,
        run: &PendingRun,
        cx: &AlertContext<'_>,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let previous = self.suppression.take();
        if self.episode.is_some() {
            return false;
        }
        let is_failing = |parent: &ParentState| {
            let failed = run.parent_check.as_ref().and_then(|check| check.failed_parents.as_ref());
            failed.is_some_and(|failed| failed.contains(&parent.monitor_id))
        };
        let suppressing = cx.parents.iter().filter(|parent| parent.is_down || is_failing(parent));
        let suppressed_by: Vec<MonitorId> = suppressing.map(|parent| parent.monitor_id).collect();
        if suppressed_by.is_empty() {
            return false;
        }
        let only_by_checks_since = if cx.parents.iter().any(|parent| parent.is_down) {
            None
        } else {
            previous.and_then(|previous| previous.only_by_checks_since).or(Some(run.planned_at))
        };
        let failed_results = run.results.iter().filter(|result| result.outcome == Outcome::Error);
        effects.push(Effect::RecordSuppression {
            planned_at: run.planned_at,
            locations: failed_results.map(|result| result.location_id).collect(),
            suppressed_by: suppressed_by.clone(),
        });
        self.suppression = Some(Suppression { suppressed_by, only_by_checks_since });
        true
    }

    /// Whether failed checks outside of the schedule may still suppress the run planned at `planned_at`.
    fn may_suppress_by_checks(&self, planned_at: Timestamp) -> bool {
        let since = self.suppression.as_ref().and_then(|suppression| suppression.only_by_checks_since);
        since.is_none_or(|since| planned_at < since + MAX_SUPPRESSION_BY_CHECKS)
    }
}

impl PendingRun {
    /// Returns the check of the parents that waits for its response.
    pub(super) fn open_parent_check(&self) -> Option<&PendingParentCheck> {
        self.parent_check.as_ref().filter(|check| check.failed_parents.is_none())
    }

    pub(super) fn open_parent_check_mut(&mut self) -> Option<&mut PendingParentCheck> {
        self.parent_check.as_mut().filter(|check| check.failed_parents.is_none())
    }

    /// Brings the end of the wait nearer if it is too far ahead, because the clock was set back.
    pub(super) fn limit_parent_check_deadline(&mut self, now: Timestamp) {
        if let Some(check) = self.open_parent_check_mut() {
            check.deadline = check.deadline.min(now + PARENT_CHECK_TIMEOUT);
        }
    }

    /// Stops waiting for the checks of the parents when `is_due` says so of its deadline.
    pub(super) fn give_up_parent_check(&mut self, is_due: impl Fn(Timestamp) -> bool) {
        if let Some(check) = self.open_parent_check_mut().filter(|check| is_due(check.deadline)) {
            check.failed_parents = Some(Vec::new());
        }
    }
}
