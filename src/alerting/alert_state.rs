//! What is remembered of a monitor between its runs, and what a new answer, answerless time or a change of the
//! monitor does to it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::context::AlertContext;
use super::effect::Effect;
use super::location_result::LocationResult;
use super::open_episode::{OpenEpisode, PendingClear};
use super::pending_run::{PendingRun, PendingVerification};
use crate::domain::{EpisodeId, Outcome, RecipientId, Status, Timestamp, Verification};

/// What is remembered of one monitor. Its JSON is kept in the transaction of what follows from it; one that
/// [`AlertState::is_default`] need not be kept.
///
/// A fresh one, one that was read back and one that was closed know of no run to come: a [`AlertState::on_tick`] when the
/// monitor begins or goes on tells them, so that the absence of its first run is noticed too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlertState {
    /// The last run that was settled; late answers to it and those before it alert nobody.
    #[serde(rename = "settled")]
    pub(super) resolved_until: Option<Timestamp>,
    /// Runs that are not settled, the oldest first.
    pub(super) runs: Vec<PendingRun>,
    /// The run that comes after the settled one, whether anybody was heard of it or not. Not kept: after a
    /// standstill the agents know better which runs there were, and report those that they missed.
    #[serde(skip)]
    pub(super) next: Option<ExpectedRun>,
    /// Whether it was closed: what was planned until it goes on is nobody's.
    #[serde(skip)]
    pub(super) is_closed: bool,
    pub(super) health: MonitorHealth,
    #[serde(rename = "outage")]
    pub(super) episode: Option<OpenEpisode>,
    /// When the last outage ended, as long as another one now would mean that the monitor flaps.
    #[serde(rename = "ended")]
    pub(super) last_episode_ended_at: Option<Timestamp>,
    #[serde(rename = "drought")]
    pub(super) no_data: NoDataStreak,
    #[serde(rename = "owed")]
    pub(super) pending_clears: Vec<PendingClear>,
    /// Bytes of the page that a change was told to, and when.
    #[serde(rename = "page")]
    pub(super) last_page_change: Option<(u64, Timestamp)>,
    /// The run whose certificate was told last.
    #[serde(rename = "certificate")]
    pub(super) last_certificate_notice: Option<Timestamp>,
}

/// A run that is expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ExpectedRun {
    pub(super) planned_at: Timestamp,
    /// When it is given up, if nobody is heard.
    pub(super) expires_at: Timestamp,
}

/// Runs in a row that said nothing of the target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoDataStreak {
    pub(super) runs: u32,
    /// When the first of them was planned.
    pub(super) since: Option<Timestamp>,
    pub(super) told: Vec<RecipientId>,
}

/// The state of a monitor, for people (issue: up, failing, down, unknown, blacked out; `Disabled` and paused are
/// seen from the monitor itself).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MonitorHealth {
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

impl AlertState {
    /// Takes what a location found. Runs are settled in their order; an answer to a settled run changes nothing.
    ///
    /// Closes no run, however late it is: where several answers waited, all of them are to be taken before the
    /// [`AlertState::on_tick`] that closes what is left.
    pub fn on_result(&mut self, result: LocationResult, cx: &AlertContext<'_>) -> Vec<Effect> {
        self.adapt_to_changes(cx);
        self.detect_clock_step_back(&result, cx);
        let pool = &cx.policy.run_plan.pool;
        if self.resolved_until.is_none_or(|settled| result.last_planned_at > settled)
            && pool.contains(&result.location)
        {
            self.record_result(result, cx);
        }
        self.resolve_ready_runs(cx)
    }

    /// Takes the answer to an [`Effect::RequestVerification`]; one that nobody waits for changes nothing.
    pub fn on_verification(
        &mut self,
        planned_at: Timestamp,
        answer: Verification,
        cx: &AlertContext<'_>,
    ) -> Vec<Effect> {
        self.adapt_to_changes(cx);
        let asked = self.runs.iter_mut().find(|run| run.planned_at == planned_at);
        match asked
            .and_then(|run| run.verification.as_mut())
            .filter(|verification| verification.answer.is_none())
        {
            Some(verification) => verification.answer = Some(answer),
            None => return Vec::new(),
        }
        self.resolve_ready_runs(cx)
    }

    /// Lets time pass: closes runs whose time is over. Call at [`AlertState::next_tick_at`], also when late.
    pub fn on_tick(&mut self, cx: &AlertContext<'_>) -> Vec<Effect> {
        self.adapt_to_changes(cx);
        self.expire_expected_runs(cx);
        for run in &mut self.runs {
            run.close_if_complete(true, cx);
            let overdue = |verification: &&mut PendingVerification| {
                verification.answer.is_none() && verification.until.is_some_and(|until| until <= cx.now)
            };
            if let Some(verification) = run.verification.as_mut().filter(overdue) {
                verification.answer = Some(verification_timed_out(cx.now));
            }
        }
        self.resolve_ready_runs(cx)
    }

    /// When [`AlertState::on_tick`] has something to do next.
    #[must_use]
    pub fn next_tick_at(&self) -> Option<Timestamp> {
        let run = |run: &PendingRun| match (run.open_verification(), run.close_reason) {
            (Some(verification), _) => Some(verification.until.unwrap_or(run.closes_at)),
            (None, None) => Some(run.closes_at),
            (None, Some(_)) => None,
        };
        let next = self.next.map(|next| next.expires_at);
        self.runs.iter().filter_map(run).chain(next).min()
    }

    /// The monitor was disabled, paused or removed: its outage ends without a clear, open runs are dropped.
    pub fn close(&mut self, now: Timestamp) -> Vec<Effect> {
        let ended = self.episode.take().map(|mut outage| outage.close(now, false));
        // Answers of checks that are under way come to nobody any more.
        *self =
            Self { resolved_until: self.resolved_until.max(Some(now)), is_closed: true, ..Self::default() };
        ended.into_iter().collect()
    }

    /// Somebody acknowledged the open outage: it is told no more, but its end is.
    pub fn acknowledge(&mut self, episode: EpisodeId) -> bool {
        self.episode.as_mut().is_some_and(|outage| outage.acknowledge(episode))
    }

    /// Verifications that were asked for and not answered, to be asked again after a restart.
    #[must_use]
    pub fn pending_verifications(&self) -> Vec<Effect> {
        let question = |run: &PendingRun| {
            run.open_verification().map(|verification| verification.to_effect(run.planned_at))
        };
        self.runs.iter().filter_map(question).collect()
    }

    /// What a start of the process knows without a kept watch: the last answers of each location.
    pub fn restore(&mut self, last: &[LocationResult]) {
        let Some(newest) = last.iter().map(|heard| heard.last_planned_at).max() else { return };
        let heard: Vec<LocationResult> =
            last.iter().filter(|heard| heard.last_planned_at == newest).cloned().collect();
        let any = |wanted: fn(&LocationResult) -> bool| heard.iter().any(wanted);
        self.health = match () {
            () if any(|heard| heard.outcome == Outcome::Blackout) => MonitorHealth::BlackedOut,
            () if any(|heard| heard.to_vote().is_failure()) => MonitorHealth::Failing,
            () if any(|heard| heard.to_vote().is_conclusive()) => MonitorHealth::Up,
            () => MonitorHealth::Unknown,
        };
        self.resolved_until = Some(newest - Duration::from_micros(1));
        self.runs = vec![PendingRun {
            planned_at: newest,
            expected: Vec::new(),
            closes_at: newest,
            heard,
            close_reason: None,
            verification: None,
            resolved_before_restart: true,
        }];
    }

    /// Whether there is nothing to remember that [`AlertState::restore`] would not bring back.
    #[must_use]
    pub fn is_default(&self) -> bool {
        let harmless = |result: &LocationResult| {
            matches!(result.outcome, Outcome::Ok | Outcome::Warning)
                && result.page.is_none()
                && result.certificate.is_none()
        };
        let calm = |run: &PendingRun| run.verification.is_none() && run.heard.iter().all(harmless);
        self.episode.is_none()
            && self.last_episode_ended_at.is_none()
            && self.no_data.runs == 0
            && self.pending_clears.is_empty()
            && self.last_page_change.is_none()
            && self.last_certificate_notice.is_none()
            && self.runs.iter().all(|run| run.resolved_before_restart || calm(run))
    }

    /// How the monitor is.
    #[must_use]
    pub fn health(&self) -> MonitorHealth {
        match self.health {
            MonitorHealth::BlackedOut => MonitorHealth::BlackedOut,
            _ if self.episode.is_some() => MonitorHealth::Down,
            _ if self.runs.iter().any(|run| run.open_verification().is_some()) => MonitorHealth::Failing,
            health => health,
        }
    }

    /// The open outage.
    #[must_use]
    pub fn open_episode(&self) -> Option<EpisodeId> {
        self.episode.as_ref().map(OpenEpisode::id)
    }
}

impl PendingVerification {
    pub(super) fn to_effect(&self, planned_at: Timestamp) -> Effect {
        Effect::RequestVerification {
            planned_at,
            check: self.check,
            location: self.location,
            failed: self.failed.clone(),
        }
    }
}

pub(super) fn verification_timed_out(at: Timestamp) -> Verification {
    Verification { status: Status::VERIFIED_NO_ANSWER, location_id: None, found: None, at }
}
