//! A run that is not settled yet.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::context::AlertContext;
use super::location_result::LocationResult;
use crate::domain::{CheckId, LocationId, RunId, Timestamp, Verification};
use crate::evaluate::settle::LocationOutcome;

/// How much later than planned a run closes: the last deadline is kept to the microsecond by nobody.
const CLOSE_GRACE: Duration = Duration::from_secs(10);

/// How much longer than a check the answer of a second location is waited for.
const VERIFICATION_TIMEOUT: Duration = Duration::from_mins(1);

/// A run that is not settled yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingRun {
    /// When it was planned.
    pub(super) planned_at: Timestamp,
    /// Who checks it, in the order of the plan; empty while that is not known (see [`super::AlertState::restore`]).
    pub(super) expected: Vec<LocationId>,
    /// When it is over even if not all have answered.
    #[serde(rename = "closes")]
    pub(super) closes_at: Timestamp,
    /// What was heard, each location once.
    pub(super) heard: Vec<LocationResult>,
    /// Set once nothing more is waited for.
    #[serde(rename = "over")]
    pub(super) close_reason: Option<CloseReason>,
    /// The second location that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "ask")]
    pub(super) verification: Option<PendingVerification>,
    /// Whether it was settled before a restart, if all were heard.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "known")]
    pub(super) resolved_before_restart: bool,
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CloseReason {
    /// In its time.
    #[serde(rename = "InTime")]
    OnTime,
    /// So late that its news is none any more.
    Late,
}

/// A question to a second location.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingVerification {
    /// The check that failed.
    pub(super) check: CheckId,
    /// Where.
    pub(super) location: LocationId,
    /// Everywhere where the run failed.
    pub(super) failed: Vec<LocationId>,
    /// The answer.
    pub(super) answer: Option<Verification>,
    /// Until when it is waited for; counts anew after a restart, as the question is asked again then.
    #[serde(skip)]
    pub(super) until: Option<Timestamp>,
}

impl PendingRun {
    /// The run of `planned_at`, of which the first word comes now. One that starts late still gets its time.
    pub(super) fn new(planned_at: Timestamp, cx: &AlertContext<'_>) -> Self {
        let plan = &cx.policy.run_plan;
        Self {
            planned_at,
            expected: plan.expected_locations(planned_at),
            closes_at: plan.closes_at(planned_at).max(cx.now + plan.max_check_duration) + CLOSE_GRACE,
            heard: Vec::new(),
            close_reason: None,
            verification: None,
            resolved_before_restart: false,
        }
    }

    /// When a run of which nobody was heard is given up: a start may be late by up to its interval.
    pub(super) fn expires_at(planned_at: Timestamp, cx: &AlertContext<'_>) -> Timestamp {
        let plan = &cx.policy.run_plan;
        plan.closes_at(planned_at).max(plan.slots.next_after(planned_at)) + CLOSE_GRACE
    }

    /// Takes what a location says. Only the first word counts, but something real counts more than that a
    /// check did not happen.
    pub(super) fn record_result(&mut self, result: LocationResult) {
        if self.close_reason.is_some() {
            return;
        }
        match self.heard.iter_mut().find(|before| before.location == result.location) {
            None => self.heard.push(result),
            Some(before) if !before.is_conclusive() && result.is_conclusive() => *before = result,
            Some(_) => {}
        }
    }

    /// Notes that nothing more is waited for, when that is so: all answered that can, or `closing` and its time
    /// is up.
    pub(super) fn close_if_complete(&mut self, closing: bool, cx: &AlertContext<'_>) {
        let waits_for = |location: &LocationId| {
            !self.has_result_from(*location) && !cx.offline_locations.contains(location)
        };
        let complete = !self.heard.is_empty() && !self.expected.iter().any(waits_for);
        if self.close_reason.is_none() && (complete || closing && self.closes_at <= cx.now) {
            self.close_reason = Some(self.close_reason_now(cx));
        }
    }

    /// How it ends when it ends now: late once the run after it should be over as well.
    pub(super) fn close_reason_now(&self, cx: &AlertContext<'_>) -> CloseReason {
        let plan = &cx.policy.run_plan;
        let late = cx.now > plan.closes_at(self.planned_at) + plan.slots.interval();
        if late { CloseReason::Late } else { CloseReason::OnTime }
    }

    /// Whether `location` was heard.
    fn has_result_from(&self, location: LocationId) -> bool {
        self.heard.iter().any(|result| result.location == location)
    }

    /// Locations that were expected and not heard.
    pub(super) fn unreported_locations(&self) -> Vec<LocationId> {
        self.expected.iter().copied().filter(|location| !self.has_result_from(*location)).collect()
    }

    /// Puts what was heard into the order of the plan, so that it does not matter who came first.
    pub(super) fn sort_by_plan(&mut self) {
        let place =
            |location| self.expected.iter().position(|other| *other == location).unwrap_or(usize::MAX);
        self.heard.sort_by_key(|result| (place(result.location), result.location));
    }

    pub(super) fn to_votes(&self) -> Vec<LocationOutcome> {
        self.heard.iter().map(LocationResult::to_vote).collect()
    }

    /// Planned runs that it stands for, counted from after `settled`: a series of missed ones is one run here.
    pub(super) fn slot_count(&self, settled: Option<Timestamp>, cx: &AlertContext<'_>) -> u32 {
        let max = self.heard.iter().map(|result| result.slots).max().unwrap_or(1);
        let Some(settled) = settled.filter(|_| max > 1) else { return max };
        let since = cx
            .policy
            .run_plan
            .slots
            .slots_between(settled + Duration::from_micros(1), self.planned_at + Duration::from_micros(1));
        max.min(u32::try_from(since).unwrap_or(u32::MAX)).max(1)
    }

    /// The question that waits for its answer.
    pub(super) fn open_verification(&self) -> Option<&PendingVerification> {
        self.verification.as_ref().filter(|verification| verification.answer.is_none())
    }
}

impl PendingVerification {
    /// Sets the end of the wait where it is not set, or too far ahead because the clock was set back.
    pub(super) fn set_deadline(&mut self, cx: &AlertContext<'_>) {
        let until = cx.now + cx.policy.run_plan.max_check_duration + VERIFICATION_TIMEOUT;
        self.until = Some(self.until.map_or(until, |before| before.min(until)));
    }
}

/// A missed run out of a series.
pub(super) fn missed_run_from_series(
    series: &LocationResult,
    planned_at: Timestamp,
    cx: &AlertContext<'_>,
) -> LocationResult {
    let run = RunId::new(cx.policy.monitor_id, planned_at);
    LocationResult {
        planned_at,
        check_id: CheckId::new(run, series.location),
        slots: 1,
        last_planned_at: planned_at,
        ..series.clone()
    }
}
