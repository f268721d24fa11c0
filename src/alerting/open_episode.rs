//! An open episode, and which recipients were notified of it.

use serde::{Deserialize, Serialize};

use super::alert_context::AlertContext;
use super::effect::{Effect, EpisodeEnd, EpisodeSnapshot, NotificationDraft};
use super::location_result::LocationResult;
use super::recipient_selection::{is_monitor_silenced, is_recipient_muted, select_recipients};
use crate::domain::{EpisodeId, LocationId, NotificationKind, RecipientId, Status, Timestamp, Verification};

/// An open episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenEpisode {
    /// Its latest version.
    #[serde(rename = "change")]
    snapshot: EpisodeSnapshot,
    /// Whether someone acknowledged it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "acknowledged")]
    is_acknowledged: bool,
    /// Recipients that were notified.
    #[serde(rename = "told")]
    notified_recipients: Vec<NotifiedRecipient>,
}

/// A recipient that was notified of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotifiedRecipient {
    #[serde(rename = "recipient")]
    recipient_id: RecipientId,
    #[serde(rename = "group")]
    group_id: Option<i64>,
    /// Number of error notifications sent.
    #[serde(rename = "errors")]
    error_notifications: u32,
}

/// A failing run, reduced to what an episode needs.
pub(super) struct FailedRun<'a> {
    pub(super) draft: &'a NotificationDraft,
    /// The result that decided that the run failed.
    pub(super) cause: &'a LocationResult,
    pub(super) failed_locations: Vec<LocationId>,
}

/// Unsent clears of an episode or time without data, from `since` to the run at `planned_at` that `cause` decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingClears {
    /// The ended episode; `None` for a time without data.
    #[serde(rename = "episode")]
    episode_id: Option<EpisodeId>,
    since: Timestamp,
    planned_at: Timestamp,
    /// The result that decided the run that ended it.
    cause: LocationResult,
    recipients: Vec<(RecipientId, Option<i64>)>,
}

impl OpenEpisode {
    /// Opens the episode that starts with a failing run.
    pub(super) fn open(failed_run: &FailedRun<'_>, is_flapping: bool, cx: &AlertContext<'_>) -> Self {
        let since = failed_run.draft.planned_at;
        let snapshot = EpisodeSnapshot {
            id: EpisodeId::new(cx.policy.monitor_id, since),
            since,
            cause: failed_run.cause.clone(),
            failed_runs: 0,
            last_failed_at: since,
            last_status: failed_run.cause.status,
            failed_locations: Vec::new(),
            verification: failed_run.draft.verification.clone(),
            is_flapping,
            end: None,
        };
        Self { snapshot, is_acknowledged: false, notified_recipients: Vec::new() }
    }

    pub(super) fn id(&self) -> EpisodeId {
        self.snapshot.id
    }

    /// Whether no failing run was counted yet.
    pub(super) fn is_new(&self) -> bool {
        self.snapshot.failed_runs == 0
    }

    /// Counts a failing run.
    pub(super) fn record_failed_run(&mut self, failed_run: &FailedRun<'_>) -> Effect {
        let snapshot = &mut self.snapshot;
        snapshot.failed_runs = snapshot.failed_runs.saturating_add(1);
        snapshot.last_failed_at = failed_run.draft.planned_at;
        snapshot.last_status = failed_run.cause.status;
        for location in &failed_run.failed_locations {
            if !snapshot.failed_locations.contains(location) {
                snapshot.failed_locations.push(*location);
            }
        }
        Effect::UpdateEpisode(snapshot.clone())
    }

    /// Returns the recipients to notify of the last counted failing run, and counts them as notified.
    pub(super) fn take_recipients_to_notify(
        &mut self,
        cause: &LocationResult,
        cx: &AlertContext<'_>,
    ) -> Vec<(RecipientId, Option<i64>)> {
        let kind = NotificationKind::SiteError;
        if !cx.policy.notify_on_error
            || self.is_acknowledged
            || is_monitor_silenced(cx, kind, self.snapshot.last_failed_at)
        {
            return Vec::new();
        }
        let mut recipients = select_recipients(cx, kind, Some(cause));
        recipients.retain(|(id, group)| self.try_count_notification(*id, *group, cx));
        recipients
    }

    /// Counts one more notification of `recipient_id` and returns true, if the recipient's thresholds allow it.
    fn try_count_notification(
        &mut self,
        recipient_id: RecipientId,
        group: Option<i64>,
        cx: &AlertContext<'_>,
    ) -> bool {
        let Some(recipient) = cx.contacts.recipient(recipient_id) else { return false };
        if self.snapshot.failed_runs < recipient.start_threshold {
            return false;
        }
        let Some(entry) =
            self.notified_recipients.iter_mut().find(|entry| entry.recipient_id == recipient_id)
        else {
            self.notified_recipients.push(NotifiedRecipient {
                recipient_id,
                group_id: group,
                error_notifications: 1,
            });
            return true;
        };
        let is_due = recipient.stop_threshold == 0 || entry.error_notifications < recipient.stop_threshold;
        entry.error_notifications = entry.error_notifications.saturating_add(u32::from(is_due));
        is_due
    }

    /// Returns `draft` with the data of this episode.
    pub(super) fn enrich_draft(&self, draft: &NotificationDraft) -> NotificationDraft {
        NotificationDraft {
            episode_id: Some(self.snapshot.id),
            started_at: Some(self.snapshot.since),
            consecutive_runs: self.snapshot.failed_runs,
            ..draft.clone()
        }
    }

    /// Ends the episode with the passing run planned at `ended_at`.
    pub(super) fn close_recovered(&mut self, ended_at: Timestamp) -> Effect {
        self.close(EpisodeEnd { ended_at, is_recovery: true })
    }

    /// Ends the episode although no run passed.
    pub(super) fn close_without_recovery(&mut self, ended_at: Timestamp) -> Effect {
        self.close(EpisodeEnd { ended_at, is_recovery: false })
    }

    fn close(&mut self, end: EpisodeEnd) -> Effect {
        self.snapshot.end = Some(end);
        Effect::UpdateEpisode(self.snapshot.clone())
    }

    /// Returns the clears due after the passing run that `cause` belongs to.
    pub(super) fn new_pending_clears(&self, planned_at: Timestamp, cause: &LocationResult) -> PendingClears {
        let mut recipients: Vec<_> = self
            .notified_recipients
            .iter()
            .map(|recipient| (recipient.recipient_id, recipient.group_id))
            .collect();
        recipients.sort_unstable();
        PendingClears {
            episode_id: Some(self.snapshot.id),
            since: self.snapshot.since,
            planned_at,
            cause: cause.clone(),
            recipients,
        }
    }

    /// Acknowledges the episode if it has this id; returns whether it has.
    pub(super) fn acknowledge(&mut self, episode_id: EpisodeId) -> bool {
        let is_this_episode = self.snapshot.id == episode_id;
        self.is_acknowledged |= is_this_episode;
        is_this_episode
    }
}

impl PendingClears {
    /// Creates the clears of a time without data that started at `since`, after a run with data.
    pub(super) fn new_for_no_data(
        since: Timestamp,
        recipients: Vec<(RecipientId, Option<i64>)>,
        planned_at: Timestamp,
        cause: &LocationResult,
    ) -> Self {
        Self { episode_id: None, since, planned_at, cause: cause.clone(), recipients }
    }

    fn kind(&self) -> NotificationKind {
        if self.episode_id.is_some() { NotificationKind::SiteClear } else { NotificationKind::NoDataClear }
    }

    /// Notifies the recipients that are not muted; the others stay pending. Drops recipients that no longer exist or no
    /// longer subscribe to clears.
    pub(super) fn take_due_notifications(
        &mut self,
        results: &[LocationResult],
        unreported_locations: &[LocationId],
        cx: &AlertContext<'_>,
    ) -> Vec<Effect> {
        let is_subscribed = |id: RecipientId| {
            let recipient = cx.contacts.recipient(id);
            recipient.is_some_and(|recipient| recipient.notify_on_clear && recipient.gets_availability_alerts)
        };
        self.recipients.retain(|(id, _)| cx.policy.notify_on_error && is_subscribed(*id));
        if self.recipients.is_empty() || is_monitor_silenced(cx, self.kind(), cx.now) {
            return Vec::new();
        }
        let (muted, due): (Vec<_>, Vec<_>) =
            self.recipients.drain(..).partition(|(id, _)| is_recipient_muted(cx, *id, cx.now));
        self.recipients = muted;
        let draft = NotificationDraft {
            kind: self.kind(),
            planned_at: self.planned_at,
            episode_id: self.episode_id,
            started_at: Some(self.since),
            deciding_result: Some(self.cause.clone()),
            location_results: results.to_vec(),
            unreported_locations: unreported_locations.to_vec(),
            verification: None,
            consecutive_runs: 0,
            awaits_traceroute: false,
        };
        let to_effect = |(recipient, group)| Effect::Notify {
            recipient_id: recipient,
            group_id: group,
            draft: draft.clone(),
        };
        due.into_iter().map(to_effect).collect()
    }

    /// Like [`PendingClears::take_due_notifications`], at a later run.
    pub(super) fn take_due_notifications_at_later_run(&mut self, cx: &AlertContext<'_>) -> Vec<Effect> {
        let cause = self.cause.clone();
        self.take_due_notifications(&[cause], &[], cx)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.recipients.is_empty()
    }
}

/// Whether this status means that the target could not be reached, so that a traceroute helps (behaviour.md 6).
pub(super) fn should_traceroute(status: Status) -> bool {
    [Status::CONNECT_FAILED, Status::TIMED_OUT, Status::HOST_REPORT_MISSING, Status::HOST_PING_FAILED]
        .contains(&status)
}

/// Returns the verification that another failing location of the same run gives.
pub(super) fn confirmation_by(confirming_result: &LocationResult, at: Timestamp) -> Verification {
    Verification {
        status: Status::VERIFICATION_CONFIRMED,
        location_id: Some(confirming_result.location_id),
        recheck_status: Some(confirming_result.status),
        completed_at: at,
    }
}
