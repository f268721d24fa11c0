//! Resolution of the runs of a monitor in order, and the notifications of each.

use std::time::Duration;

use super::alert_context::AlertContext;
use super::alert_state::AlertState;
use super::effect::{Effect, NotificationDraft};
use super::location_result::LocationResult;
use super::monitor_health::MonitorHealth;
use super::open_episode::{FailedRun, OpenEpisode, PendingClears, confirmation_by, should_traceroute};
use super::pending_run::{CloseTimeliness, PendingRun, PendingVerification};
use super::recipient_selection::{is_monitor_silenced, recipients_with_groups, select_recipients};
use crate::domain::{LocationId, NotificationKind, Outcome, RecipientId, Timestamp, Verification};
use crate::evaluate::settle::{LocationOutcome, SettlePolicy, Settlement, settle};

/// An episode that starts within this many runs after the end of another one is flapping.
const FLAPPING_WINDOW_RUNS: u32 = 5;

/// Minimum time between two notifications of the same certificate, or of page changes to the same size.
const REPEAT_INTERVAL: Duration = Duration::from_hours(24);

/// Recipients, each with the group that names it.
type RecipientsWithGroup = Vec<(RecipientId, Option<i64>)>;

impl AlertState {
    /// Resolves all runs that are closed and verified, oldest first.
    pub(super) fn resolve_ready_runs(&mut self, cx: &AlertContext<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        while self.is_oldest_run_ready() {
            let run = self.pending_runs.remove(0);
            if let Some(run) = self.resolve_run(run, cx, &mut effects) {
                self.pending_runs.insert(0, run);
                break;
            }
        }
        effects
    }

    /// Whether the oldest run is closed and no earlier run is still expected.
    fn is_oldest_run_ready(&self) -> bool {
        self.pending_runs.first().is_some_and(|run| {
            let earlier_run_expected =
                self.expected_run.is_some_and(|expected_run| expected_run.planned_at < run.planned_at);
            run.close_timeliness.is_some()
                && run.open_verification().is_none()
                && run.open_parent_check().is_none()
                && !earlier_run_expected
        })
    }

    /// Resolves `run`; returns it when it has to wait for a verification, or for checks of the monitors that this one
    /// depends on.
    fn resolve_run(
        &mut self,
        mut run: PendingRun,
        cx: &AlertContext<'_>,
        effects: &mut Vec<Effect>,
    ) -> Option<PendingRun> {
        run.sort_results_by_plan();
        let outcomes = run.to_outcomes();
        let policy = cx.policy;
        let settle_policy = SettlePolicy {
            location_mode: policy.location_mode,
            home_location: policy.primary_location,
            quorum: policy.quorum,
        };
        let response = run.verification.as_ref().and_then(|request| request.response.clone());
        let settlement = settle(&outcomes, &settle_policy, response.as_ref().map(|response| response.status));
        let is_late = run.close_timeliness == Some(CloseTimeliness::Late);
        if let (Settlement::NeedsVerification { deciding_index }, None, false) =
            (settlement, &response, is_late)
        {
            let request = new_pending_verification(&run, &outcomes, deciding_index, cx);
            effects.push(request.to_request_effect(run.planned_at));
            run.verification = Some(request);
            return Some(run);
        }
        if let (Settlement::Failed { deciding_index, .. }, false) = (settlement, is_late)
            && let Some((parent_check, request)) =
                self.request_parent_check(&run, run.results[deciding_index].location_id, cx)
        {
            effects.push(request);
            run.parent_check = Some(parent_check);
            return Some(run);
        }
        let run_count = run.covered_run_count(self.resolved_until, cx);
        self.resolved_until = Some(run.planned_at);
        self.expect_next_run(run.planned_at, cx);
        push_missed_effect(&run, cx, effects);
        let verification = push_verification_effects(&run, settlement, response, cx, effects);
        if !is_late {
            self.send_pending_clears(cx, effects);
        }
        match settlement {
            Settlement::NoData => self.on_no_data_run(&run, run_count, cx, effects),
            Settlement::Blackout => self.last_run_health = MonitorHealth::BlackedOut,
            _ => self.apply_settlement(&run, settlement, verification, cx, effects),
        }
        None
    }

    /// Applies a conclusive settlement. A run resolved too late to notify anyone changes only the health.
    fn apply_settlement(
        &mut self,
        run: &PendingRun,
        settlement: Settlement,
        verification: Option<Verification>,
        cx: &AlertContext<'_>,
        effects: &mut Vec<Effect>,
    ) {
        self.clear_no_data(run, settlement, cx, effects);
        self.last_run_health = if matches!(settlement, Settlement::Passed { .. }) {
            MonitorHealth::Up
        } else {
            MonitorHealth::Failing
        };
        if run.close_timeliness == Some(CloseTimeliness::Late) {
            return;
        }
        match settlement {
            Settlement::Failed { deciding_index, .. } => {
                if !self.suppress_if_parent_is_down(run, cx, effects) {
                    self.on_failed_run(run, &run.results[deciding_index], verification, cx, effects);
                }
            }
            Settlement::Passed { deciding_index } | Settlement::BelowQuorum { deciding_index } => {
                self.suppression = None;
                self.on_passed_run(run, &run.results[deciding_index], cx, effects);
            }
            Settlement::NoData | Settlement::Blackout | Settlement::NeedsVerification { .. } => {}
        }
        self.notify_page_change(run, cx, effects);
        self.notify_certificate_expiry(run, cx, effects);
    }

    /// Opens or continues an episode after a failing run.
    fn on_failed_run(
        &mut self,
        run: &PendingRun,
        cause: &LocationResult,
        verification: Option<Verification>,
        cx: &AlertContext<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let draft =
            NotificationDraft { deciding_result: Some(cause.clone()), verification, ..base_draft(run) };
        let failed_results = run.results.iter().filter(|result| result.outcome == Outcome::Error);
        let failed_run = FailedRun {
            draft: &draft,
            cause,
            failed_locations: failed_results.map(|result| result.location_id).collect(),
        };
        let is_flapping = self.is_flapping(run.planned_at, cx);
        let episode = self.episode.get_or_insert_with(|| OpenEpisode::open(&failed_run, is_flapping, cx));
        let is_new = episode.is_new();
        effects.push(episode.record_failed_run(&failed_run));
        let recipients = episode.take_recipients_to_notify(cause, cx);
        let policy = cx.policy;
        let runs_traceroute =
            is_new && policy.traceroute_on_error && policy.notify_on_error && should_traceroute(cause.status);
        if runs_traceroute {
            effects.push(Effect::RunTraceroute {
                planned_at: run.planned_at,
                location: cause.location_id,
                check_id: cause.check_id,
                recipients: recipients.clone(),
            });
        }
        let draft = NotificationDraft { awaits_traceroute: runs_traceroute, ..episode.enrich_draft(&draft) };
        push_notifications(recipients, &draft, effects);
        self.last_episode_ended_at = None;
    }

    /// Closes the episode after a run that did not fail.
    fn on_passed_run(
        &mut self,
        run: &PendingRun,
        cause: &LocationResult,
        cx: &AlertContext<'_>,
        effects: &mut Vec<Effect>,
    ) {
        if !self.is_flapping(run.planned_at, cx) {
            self.last_episode_ended_at = None;
        }
        let Some(mut episode) = self.episode.take() else { return };
        self.last_episode_ended_at = Some(run.planned_at);
        effects.push(episode.close_recovered(run.planned_at));
        let mut clears = episode.new_pending_clears(run.planned_at, cause);
        effects.extend(clears.take_due_notifications(&run.results, &run.unreported_locations(), cx));
        if !clears.is_empty() {
            self.pending_clears.push(clears);
        }
    }

    /// Ends the runs without data: clears the No Data notifications that were sent. A run resolved too late leaves the
    /// clears to the next one.
    fn clear_no_data(
        &mut self,
        run: &PendingRun,
        settlement: Settlement,
        cx: &AlertContext<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let streak = std::mem::take(&mut self.no_data_streak);
        let (Some(since), Some(deciding_index)) = (streak.since, settlement.deciding_index()) else { return };
        let recipients =
            recipients_with_groups(cx, NotificationKind::NoDataClear, &streak.notified_recipients);
        let mut clears =
            PendingClears::new_for_no_data(since, recipients, run.planned_at, &run.results[deciding_index]);
        if run.close_timeliness != Some(CloseTimeliness::Late) {
            effects.extend(clears.take_due_notifications(&run.results, &run.unreported_locations(), cx));
        }
        if !clears.is_empty() {
            self.pending_clears.push(clears);
        }
    }

    /// Sends the clears of episodes that ended while their recipients were silenced.
    fn send_pending_clears(&mut self, cx: &AlertContext<'_>, effects: &mut Vec<Effect>) {
        for clears in &mut self.pending_clears {
            effects.extend(clears.take_due_notifications_at_later_run(cx));
        }
        self.pending_clears.retain(|clears| !clears.is_empty());
    }

    /// Whether an episode that starts at `planned_at` closely follows the last one.
    fn is_flapping(&self, planned_at: Timestamp, cx: &AlertContext<'_>) -> bool {
        let window = cx.policy.run_plan.slot_grid.interval() * FLAPPING_WINDOW_RUNS;
        self.last_episode_ended_at
            .is_some_and(|ended_at| planned_at <= ended_at + window && ended_at <= planned_at)
    }

    /// Counts a run without a conclusive result. Each recipient is notified once per streak, but not by the report of a
    /// downtime that starts the streak, since that report is late.
    fn on_no_data_run(
        &mut self,
        run: &PendingRun,
        run_count: u32,
        cx: &AlertContext<'_>,
        effects: &mut Vec<Effect>,
    ) {
        self.last_run_health = MonitorHealth::Unknown;
        let policy = cx.policy;
        let is_first = self.no_data_streak.run_count == 0;
        self.no_data_streak.run_count = self.no_data_streak.run_count.saturating_add(run_count);
        let since = *self.no_data_streak.since.get_or_insert(run.planned_at);
        let kind = NotificationKind::NoData;
        // Runs missed while one takes longer than the interval are not missing data.
        let streak_exceeds_check_duration = run.planned_at + policy.run_plan.slot_grid.interval()
            >= since + policy.run_plan.max_check_duration;
        if policy.no_data_threshold == 0
            || !streak_exceeds_check_duration
            || self.no_data_streak.run_count < policy.no_data_threshold
            || !policy.notify_on_error
            || run.close_timeliness == Some(CloseTimeliness::Late)
            || is_first && run_count > 1
            || is_monitor_silenced(cx, kind, run.planned_at)
        {
            return;
        }
        let unknown_result = run.results.iter().find(|result| result.outcome == Outcome::Unknown);
        let cause = unknown_result.or_else(|| run.results.first());
        let mut recipients = select_recipients(cx, kind, cause);
        recipients.retain(|(id, _)| !self.no_data_streak.notified_recipients.contains(id));
        self.no_data_streak.notified_recipients.extend(recipients.iter().map(|(id, _)| *id));
        let draft = NotificationDraft {
            kind,
            started_at: Some(since),
            deciding_result: cause.cloned(),
            consecutive_runs: self.no_data_streak.run_count,
            ..base_draft(run)
        };
        push_notifications(recipients, &draft, effects);
    }

    /// Notifies of a changed page; once, though each location notices the change in its own run.
    fn notify_page_change(&mut self, run: &PendingRun, cx: &AlertContext<'_>, effects: &mut Vec<Effect>) {
        let kind = NotificationKind::WebChange;
        self.last_page_change = self
            .last_page_change
            .filter(|(_, notified_at)| is_within_repeat_interval(*notified_at, run.planned_at));
        let notified_bytes = self.last_page_change.map(|(bytes, _)| bytes);
        // Findings also change while others make the scan fail; a page that failed is none to compare.
        let passing = run.results.iter().filter(|result| {
            let has_finding_changes =
                result.page_change.as_ref().is_some_and(|change| change.finding_changes.is_some());
            result.outcome != Outcome::Error || has_finding_changes
        });
        let mut changed = passing.filter_map(|result| result.page_change.as_ref().map(|page| (result, page)));
        let Some((cause, page)) = changed.find(|(_, page)| notified_bytes != Some(page.bytes_now)) else {
            return;
        };
        // A change of objects or findings is set only where the monitor compares them.
        let is_requested = page.object_changes.is_some() || page.finding_changes.is_some();
        if !cx.policy.notify_on_content_change && !is_requested {
            return;
        }
        self.last_page_change = Some((page.bytes_now, run.planned_at));
        if !is_monitor_silenced(cx, kind, run.planned_at) {
            let draft = NotificationDraft { kind, deciding_result: Some(cause.clone()), ..base_draft(run) };
            push_notifications(select_recipients(cx, kind, Some(cause)), &draft, effects);
        }
    }

    /// Notifies of an expiring certificate, once a day.
    fn notify_certificate_expiry(
        &mut self,
        run: &PendingRun,
        cx: &AlertContext<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let kind = NotificationKind::CertificateExpiration;
        self.certificate_notified_at = self
            .certificate_notified_at
            .filter(|notified_at| is_within_repeat_interval(*notified_at, run.planned_at));
        let Some(cause) = run.results.iter().find(|result| result.expiring_certificate.is_some()) else {
            return;
        };
        if self.certificate_notified_at.is_some()
            || !cx.policy.notify_on_expiry
            || is_monitor_silenced(cx, kind, run.planned_at)
        {
            return;
        }
        let recipients = select_recipients(cx, kind, Some(cause));
        if !recipients.is_empty() {
            self.certificate_notified_at = Some(run.planned_at);
        }
        let draft = NotificationDraft { kind, deciding_result: Some(cause.clone()), ..base_draft(run) };
        push_notifications(recipients, &draft, effects);
    }
}

/// Whether a notification for the run at `notified_at` is less than a day from `planned_at`. A clock that was set
/// back since does not count.
fn is_within_repeat_interval(notified_at: Timestamp, planned_at: Timestamp) -> bool {
    planned_at < notified_at + REPEAT_INTERVAL && notified_at < planned_at + REPEAT_INTERVAL
}

/// Returns the request to verify the failure at `deciding_index`.
fn new_pending_verification(
    run: &PendingRun,
    outcomes: &[LocationOutcome],
    deciding_index: usize,
    cx: &AlertContext<'_>,
) -> PendingVerification {
    let failed = outcomes
        .iter()
        .filter(|location_outcome| location_outcome.outcome == Outcome::Error)
        .map(|location_outcome| location_outcome.location_id);
    let result = &run.results[deciding_index];
    let mut verification = PendingVerification {
        check_id: result.check_id,
        location_id: result.location_id,
        failed_locations: failed.collect(),
        response: None,
        deadline: None,
    };
    verification.set_deadline(cx);
    verification
}

/// Records the run as missed at offline locations.
fn push_missed_effect(run: &PendingRun, cx: &AlertContext<'_>, effects: &mut Vec<Effect>) {
    let locations: Vec<LocationId> = run
        .unreported_locations()
        .into_iter()
        .filter(|location| cx.offline_locations.contains(location))
        .collect();
    if !locations.is_empty() {
        effects.push(Effect::RecordMissed { planned_at: run.planned_at, locations });
    }
}

/// Records the verifications of a run; returns the one for the notification.
fn push_verification_effects(
    run: &PendingRun,
    settlement: Settlement,
    response: Option<Verification>,
    cx: &AlertContext<'_>,
    effects: &mut Vec<Effect>,
) -> Option<Verification> {
    let planned_at = run.planned_at;
    if let (Some(verification), Some(response)) = (&run.verification, &response) {
        let response = response.clone();
        effects.push(Effect::RecordVerification {
            planned_at,
            location: verification.location_id,
            verification: response,
        });
    }
    let Settlement::Failed { deciding_index, confirmed_by_index: Some(confirming_index) } = settlement else {
        return response;
    };
    let (deciding_result, confirming_result) = (&run.results[deciding_index], &run.results[confirming_index]);
    let confirmation = confirmation_by(confirming_result, cx.now);
    for (result, response) in [
        (deciding_result, confirmation.clone()),
        (confirming_result, confirmation_by(deciding_result, cx.now)),
    ] {
        effects.push(Effect::RecordVerification {
            planned_at,
            location: result.location_id,
            verification: response,
        });
    }
    Some(confirmation)
}

/// Returns the parts of a draft that are common to all kinds.
fn base_draft(run: &PendingRun) -> NotificationDraft {
    NotificationDraft {
        kind: NotificationKind::SiteError,
        planned_at: run.planned_at,
        episode_id: None,
        started_at: None,
        deciding_result: None,
        location_results: run.results.clone(),
        unreported_locations: run.unreported_locations(),
        verification: None,
        consecutive_runs: 0,
        awaits_traceroute: false,
    }
}

fn push_notifications(recipients: RecipientsWithGroup, draft: &NotificationDraft, effects: &mut Vec<Effect>) {
    let to_effect = |(recipient, group)| Effect::Notify {
        recipient_id: recipient,
        group_id: group,
        draft: draft.clone(),
    };
    effects.extend(recipients.into_iter().map(to_effect));
}
