//! A run that is not resolved yet.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::alert_context::AlertContext;
use super::location_result::LocationResult;
use super::parent_monitors::PendingParentCheck;
use crate::domain::{CheckId, LocationId, RunId, Timestamp, Verification};
use crate::evaluate::settle::LocationOutcome;

/// How much later than its last deadline a run closes, since no check keeps its deadline to the microsecond.
const CLOSE_GRACE: Duration = Duration::from_secs(10);

/// How much longer than a check to wait for a verification.
const VERIFICATION_GRACE: Duration = Duration::from_mins(1);

/// A run that is not resolved yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingRun {
    /// Planned time.
    pub(super) planned_at: Timestamp,
    /// Locations that check it, in the order of the plan; empty after [`super::AlertState::restore_from_results`].
    #[serde(rename = "expected")]
    pub(super) expected_locations: Vec<LocationId>,
    /// When it closes even if some locations have not reported.
    #[serde(rename = "closes")]
    pub(super) closes_at: Timestamp,
    /// Results received, one for each location.
    #[serde(rename = "heard")]
    pub(super) results: Vec<LocationResult>,
    /// Set once no further result is waited for.
    #[serde(rename = "over")]
    pub(super) close_timeliness: Option<CloseTimeliness>,
    /// The verification that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "ask")]
    pub(super) verification: Option<PendingVerification>,
    /// The checks of the monitors that this one depends on.
    #[serde(skip)]
    pub(super) parent_check: Option<PendingParentCheck>,
    /// Whether it was resolved before a restart, provided that every location had reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "known")]
    pub(super) resolved_if_complete: bool,
}

/// Whether a run closed in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CloseTimeliness {
    /// In time.
    #[serde(rename = "InTime")]
    OnTime,
    /// Too late to notify anyone.
    Late,
}

/// A verification request to another location.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingVerification {
    /// The failed check.
    #[serde(rename = "check")]
    pub(super) check_id: CheckId,
    /// Location of that check.
    #[serde(rename = "location")]
    pub(super) location_id: LocationId,
    /// All locations where the run failed.
    #[serde(rename = "failed")]
    pub(super) failed_locations: Vec<LocationId>,
    /// The response, once received.
    #[serde(rename = "answer")]
    pub(super) response: Option<Verification>,
    /// When to stop waiting. Starts anew after a restart, since the request is then sent again.
    #[serde(skip)]
    pub(super) deadline: Option<Timestamp>,
}

impl PendingRun {
    /// Creates the run planned at `planned_at` on its first result. A run that starts late still gets its full time.
    pub(super) fn new(planned_at: Timestamp, cx: &AlertContext<'_>) -> Self {
        let plan = &cx.policy.run_plan;
        Self {
            planned_at,
            expected_locations: plan.locations_of_run(planned_at),
            closes_at: plan.closes_at(planned_at).max(cx.now + plan.max_check_duration) + CLOSE_GRACE,
            results: Vec::new(),
            close_timeliness: None,
            verification: None,
            parent_check: None,
            resolved_if_complete: false,
        }
    }

    /// Returns when a run without any result is given up: a start may be late by up to its interval.
    pub(super) fn expiry_without_results(planned_at: Timestamp, cx: &AlertContext<'_>) -> Timestamp {
        let plan = &cx.policy.run_plan;
        plan.closes_at(planned_at).max(plan.slot_grid.next_slot_after(planned_at)) + CLOSE_GRACE
    }

    /// Records the result of a location. Only its first result counts, except that a conclusive result replaces an
    /// inconclusive one.
    pub(super) fn record_result(&mut self, result: LocationResult) {
        if self.close_timeliness.is_some() {
            return;
        }
        match self.results.iter_mut().find(|previous| previous.location_id == result.location_id) {
            None => self.results.push(result),
            Some(previous) if !previous.is_conclusive() && result.is_conclusive() => *previous = result,
            Some(_) => {}
        }
    }

    /// Closes the run once every expected location has reported that is not offline.
    pub(super) fn close_if_complete(&mut self, cx: &AlertContext<'_>) {
        if self.is_complete(cx) {
            self.close(cx);
        }
    }

    /// Closes the run once it is complete, or its time is over.
    pub(super) fn close_if_complete_or_overdue(&mut self, cx: &AlertContext<'_>) {
        if self.closes_at <= cx.now || self.is_complete(cx) {
            self.close(cx);
        }
    }

    fn close(&mut self, cx: &AlertContext<'_>) {
        let timeliness = self.close_timeliness_now(cx);
        self.close_timeliness.get_or_insert(timeliness);
    }

    /// Whether there are results, and none is missing from a location that is not offline.
    fn is_complete(&self, cx: &AlertContext<'_>) -> bool {
        let is_awaited = |location: &LocationId| {
            !self.has_result_from(*location) && !cx.offline_locations.contains(location)
        };
        !self.results.is_empty() && !self.expected_locations.iter().any(is_awaited)
    }

    /// Returns how the run would close now: late once the run after it should be over as well.
    pub(super) fn close_timeliness_now(&self, cx: &AlertContext<'_>) -> CloseTimeliness {
        let plan = &cx.policy.run_plan;
        let is_late = cx.now > plan.closes_at(self.planned_at) + plan.slot_grid.interval();
        if is_late { CloseTimeliness::Late } else { CloseTimeliness::OnTime }
    }

    /// Whether `location` has reported.
    fn has_result_from(&self, location: LocationId) -> bool {
        self.results.iter().any(|result| result.location_id == location)
    }

    /// Returns the expected locations that have not reported.
    pub(super) fn unreported_locations(&self) -> Vec<LocationId> {
        self.expected_locations.iter().copied().filter(|location| !self.has_result_from(*location)).collect()
    }

    /// Sorts the results in the order of the plan, so that the order of arrival does not matter.
    pub(super) fn sort_results_by_plan(&mut self) {
        let position = |location| {
            self.expected_locations.iter().position(|other| *other == location).unwrap_or(usize::MAX)
        };
        self.results.sort_by_key(|result| (position(result.location_id), result.location_id));
    }

    pub(super) fn to_outcomes(&self) -> Vec<LocationOutcome> {
        self.results.iter().map(LocationResult::to_outcome).collect()
    }

    /// Returns how many planned runs after `resolved_until` it stands for: more than one for a series of missed runs.
    pub(super) fn covered_run_count(&self, resolved_until: Option<Timestamp>, cx: &AlertContext<'_>) -> u32 {
        let max_run_count = self.results.iter().map(|result| result.run_count).max().unwrap_or(1);
        let Some(resolved_until) = resolved_until.filter(|_| max_run_count > 1) else { return max_run_count };
        let runs_since = cx.policy.run_plan.slot_grid.count_slots_between(
            resolved_until + Duration::from_micros(1),
            self.planned_at + Duration::from_micros(1),
        );
        max_run_count.min(u32::try_from(runs_since).unwrap_or(u32::MAX)).max(1)
    }

    /// Returns the verification that waits for its response.
    pub(super) fn open_verification(&self) -> Option<&PendingVerification> {
        self.verification.as_ref().filter(|verification| verification.response.is_none())
    }
}

impl PendingVerification {
    /// Sets the end of the wait if it is unset, or too far ahead because the clock was set back.
    pub(super) fn set_deadline(&mut self, cx: &AlertContext<'_>) {
        let new_deadline = cx.now + cx.policy.run_plan.max_check_duration + VERIFICATION_GRACE;
        self.deadline = Some(self.deadline.map_or(new_deadline, |before| before.min(new_deadline)));
    }
}

/// Returns one missed run of a series.
pub(super) fn single_missed_run(
    series: &LocationResult,
    planned_at: Timestamp,
    cx: &AlertContext<'_>,
) -> LocationResult {
    let run = RunId::new(cx.policy.monitor_id, planned_at);
    LocationResult {
        planned_at,
        check_id: CheckId::new(run, series.location_id),
        run_count: 1,
        last_planned_at: planned_at,
        ..series.clone()
    }
}
