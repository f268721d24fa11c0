//! The alert state of a monitor between its runs, and its transitions on results, ticks and changes of the monitor.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::alert_context::AlertContext;
use super::effect::Effect;
use super::location_result::LocationResult;
use super::monitor_health::{FirstCheckHealth, MonitorHealth};
use super::open_episode::{OpenEpisode, PendingClears};
use super::parent_monitors::Suppression;
use super::pending_run::{PendingRun, PendingVerification};
use crate::domain::{EpisodeId, Outcome, RecipientId, Status, Timestamp, Verification};

/// Alert state of one monitor. Its JSON is stored in the same transaction as its effects; a state that
/// [`AlertState::is_derivable`] need not be stored.
///
/// A new, restored or closed state expects no run. Call [`AlertState::on_tick`] when the monitor starts or resumes,
/// so that a missing first run is noticed too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AlertState {
    /// Planned time of the last resolved run. Later results of it and of earlier runs cause no alert.
    #[serde(rename = "settled")]
    pub(super) resolved_until: Option<Timestamp>,
    /// Unresolved runs, oldest first.
    #[serde(rename = "runs")]
    pub(super) pending_runs: Vec<PendingRun>,
    /// The run after the last resolved one, whether or not it has results. Not stored: after a downtime of this
    /// process, the agents know which runs took place and report those that they missed.
    #[serde(skip)]
    pub(super) expected_run: Option<ExpectedRun>,
    /// Whether the state was closed. Runs planned while inactive are ignored.
    #[serde(skip)]
    pub(super) was_inactive: bool,
    #[serde(rename = "health")]
    pub(super) last_run_health: MonitorHealth,
    #[serde(rename = "outage")]
    pub(super) episode: Option<OpenEpisode>,
    /// When the last episode ended, while a new one would still count as flapping.
    #[serde(rename = "ended")]
    pub(super) last_episode_ended_at: Option<Timestamp>,
    #[serde(rename = "drought")]
    pub(super) no_data_streak: NoDataStreak,
    #[serde(rename = "owed")]
    pub(super) pending_clears: Vec<PendingClears>,
    /// Size in bytes of the page in the last change notification, and when that was sent.
    #[serde(rename = "page")]
    pub(super) last_page_change: Option<(u64, Timestamp)>,
    /// Planned time of the run that last caused a certificate notification.
    #[serde(rename = "certificate")]
    pub(super) certificate_notified_at: Option<Timestamp>,
    /// Set while the errors of the monitor are suppressed, since one that it depends on is down.
    #[serde(rename = "suppressed", skip_serializing_if = "Option::is_none")]
    pub(super) suppression: Option<Suppression>,
    /// Health after the last first check. Not stored: the last results of the locations tell it.
    #[serde(skip)]
    pub(super) first_check: Option<FirstCheckHealth>,
}

/// A run that has to take place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExpectedRun {
    pub(super) planned_at: Timestamp,
    /// When the run is given up if no location reports.
    pub(super) expires_at: Timestamp,
}

/// Consecutive runs without a conclusive result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoDataStreak {
    #[serde(rename = "runs")]
    pub(super) run_count: u32,
    /// Planned time of the first of these runs.
    pub(super) since: Option<Timestamp>,
    #[serde(rename = "told")]
    pub(super) notified_recipients: Vec<RecipientId>,
}

impl AlertState {
    /// Applies the result of one location. Runs are resolved in order; a result of a resolved run changes nothing.
    ///
    /// Never closes an overdue run. When several results are queued, apply all of them before the
    /// [`AlertState::on_tick`] that closes the rest.
    pub fn on_result(&mut self, result: LocationResult, cx: &AlertContext<'_>) -> Vec<Effect> {
        self.adapt_to_clock_and_plan(cx);
        self.detect_clock_step_back(&result, cx);
        let pool = &cx.policy.run_plan.location_pool;
        if self.resolved_until.is_none_or(|resolved_until| result.last_planned_at > resolved_until)
            && pool.contains(&result.location_id)
        {
            self.record_result(result, cx);
        }
        self.resolve_ready_runs(cx)
    }

    /// Applies the response to an [`Effect::RequestVerification`]. A response that no run waits for changes nothing.
    pub fn on_verification(
        &mut self,
        planned_at: Timestamp,
        response: Verification,
        cx: &AlertContext<'_>,
    ) -> Vec<Effect> {
        self.adapt_to_clock_and_plan(cx);
        let pending_run = self.pending_runs.iter_mut().find(|run| run.planned_at == planned_at);
        match pending_run
            .and_then(|run| run.verification.as_mut())
            .filter(|verification| verification.response.is_none())
        {
            Some(verification) => verification.response = Some(response),
            None => return Vec::new(),
        }
        self.resolve_ready_runs(cx)
    }

    /// Advances to the current time and closes overdue runs. Call at [`AlertState::next_tick_at`] or later.
    pub fn on_tick(&mut self, cx: &AlertContext<'_>) -> Vec<Effect> {
        self.adapt_to_clock_and_plan(cx);
        self.expire_expected_runs(cx);
        for run in &mut self.pending_runs {
            run.close_if_complete_or_overdue(cx);
            let is_overdue = |verification: &&mut PendingVerification| {
                verification.response.is_none()
                    && verification.deadline.is_some_and(|deadline| deadline <= cx.now)
            };
            if let Some(verification) = run.verification.as_mut().filter(is_overdue) {
                verification.response = Some(timed_out_verification(cx.now));
            }
            run.give_up_parent_check(|deadline| deadline <= cx.now);
        }
        self.resolve_ready_runs(cx)
    }

    /// Returns when [`AlertState::on_tick`] is next due.
    #[must_use]
    pub fn next_tick_at(&self) -> Option<Timestamp> {
        let run_due_at = |run: &PendingRun| match (run.open_verification(), run.close_timeliness) {
            (Some(verification), _) => Some(verification.deadline.unwrap_or(run.closes_at)),
            (None, None) => Some(run.closes_at),
            (None, Some(_)) => run.open_parent_check().map(|check| check.deadline),
        };
        let expected_run_expires_at = self.expected_run.map(|expected_run| expected_run.expires_at);
        self.pending_runs.iter().filter_map(run_due_at).chain(expected_run_expires_at).min()
    }

    /// Ends the episode without a clear and drops open runs, since the monitor was disabled, paused or removed.
    pub fn close(&mut self, now: Timestamp) -> Vec<Effect> {
        let episode_end = self.episode.take().map(|mut episode| episode.close_without_recovery(now));
        // Results of checks in progress are ignored from now on.
        *self = Self {
            resolved_until: self.resolved_until.max(Some(now)),
            was_inactive: true,
            ..Self::default()
        };
        episode_end.into_iter().collect()
    }

    /// Acknowledges the open episode: its errors are no longer notified, its end still is.
    pub fn acknowledge_episode(&mut self, episode_id: EpisodeId) -> bool {
        self.episode.as_mut().is_some_and(|open_episode| open_episode.acknowledge(episode_id))
    }

    /// Returns the verification requests without a response, to be sent again after a restart.
    #[must_use]
    pub fn pending_verification_requests(&self) -> Vec<Effect> {
        let to_effect = |run: &PendingRun| {
            run.open_verification().map(|verification| verification.to_request_effect(run.planned_at))
        };
        self.pending_runs.iter().filter_map(to_effect).collect()
    }

    /// Derives the state from the last results of each location, for a start of the process without stored state.
    pub fn restore_from_results(&mut self, last_results: &[LocationResult]) {
        let Some(newest_planned_at) = last_results.iter().map(|result| result.last_planned_at).max() else {
            return;
        };
        let results: Vec<LocationResult> = last_results
            .iter()
            .filter(|result| result.last_planned_at == newest_planned_at)
            .cloned()
            .collect();
        let any = |predicate: fn(&LocationResult) -> bool| results.iter().any(predicate);
        self.last_run_health = match () {
            () if any(|result| result.outcome == Outcome::Blackout) => MonitorHealth::BlackedOut,
            () if any(|result| result.to_outcome().is_failure()) => MonitorHealth::Failing,
            () if any(|result| result.to_outcome().is_conclusive()) => MonitorHealth::Up,
            () => MonitorHealth::Unknown,
        };
        self.resolved_until = Some(newest_planned_at - Duration::from_micros(1));
        self.pending_runs = vec![PendingRun {
            planned_at: newest_planned_at,
            expected_locations: Vec::new(),
            closes_at: newest_planned_at,
            results,
            close_timeliness: None,
            verification: None,
            parent_check: None,
            resolved_if_complete: true,
        }];
    }

    /// Whether [`AlertState::restore_from_results`] would give the same state, so that it need not be stored.
    #[must_use]
    pub fn is_derivable(&self) -> bool {
        let has_no_alert_data = |result: &LocationResult| {
            matches!(result.outcome, Outcome::Ok | Outcome::Warning)
                && result.page_change.is_none()
                && result.expiring_certificate.is_none()
        };
        let is_uneventful =
            |run: &PendingRun| run.verification.is_none() && run.results.iter().all(has_no_alert_data);
        self.episode.is_none()
            && self.last_episode_ended_at.is_none()
            && self.no_data_streak.run_count == 0
            && self.pending_clears.is_empty()
            && self.last_page_change.is_none()
            && self.certificate_notified_at.is_none()
            && self.suppression.is_none()
            && self.pending_runs.iter().all(|run| run.resolved_if_complete || is_uneventful(run))
    }

    /// Returns the health of the monitor.
    #[must_use]
    pub fn health(&self) -> MonitorHealth {
        match self.last_run_health {
            MonitorHealth::BlackedOut => self.first_check_health().unwrap_or(MonitorHealth::BlackedOut),
            _ if self.episode.is_some() => MonitorHealth::Down,
            _ if self.pending_runs.iter().any(|run| run.open_verification().is_some()) => {
                MonitorHealth::Failing
            }
            health => self.first_check_health().unwrap_or(health),
        }
    }

    /// Returns the id of the open episode.
    #[must_use]
    pub fn open_episode_id(&self) -> Option<EpisodeId> {
        self.episode.as_ref().map(OpenEpisode::id)
    }
}

impl PendingVerification {
    pub(super) fn to_request_effect(&self, planned_at: Timestamp) -> Effect {
        Effect::RequestVerification {
            planned_at,
            check_id: self.check_id,
            location_id: self.location_id,
            failed_locations: self.failed_locations.clone(),
        }
    }
}

pub(super) fn timed_out_verification(at: Timestamp) -> Verification {
    Verification {
        status: Status::VERIFICATION_NO_RESPONSE,
        location_id: None,
        recheck_status: None,
        completed_at: at,
    }
}
