//! An open episode, and which recipients were notified of it.

use serde::{Deserialize, Serialize};

use super::audience::{is_muted, is_silenced, recipients_for};
use super::context::AlertContext;
use super::effect::{Effect, EpisodeChange, EpisodeEnd, NotificationDraft};
use super::location_result::LocationResult;
use crate::domain::{EpisodeId, LocationId, NotificationKind, RecipientId, Status, Timestamp, Verification};

/// An open episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenEpisode {
    /// Its latest version.
    #[serde(rename = "change")]
    latest: EpisodeChange,
    /// Whether someone acknowledged it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    acknowledged: bool,
    /// Recipients that were notified.
    #[serde(rename = "told")]
    notified: Vec<NotifiedRecipient>,
}

/// A recipient that was notified of an episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotifiedRecipient {
    recipient: RecipientId,
    group: Option<i64>,
    /// Number of error notifications sent.
    errors: u32,
}

/// A failing run, reduced to what an episode needs.
pub(super) struct FailedRun<'a> {
    pub(super) draft: &'a NotificationDraft,
    pub(super) cause: &'a LocationResult,
    pub(super) locations: Vec<LocationId>,
}

/// Clears of an ended episode that are not sent yet, since the recipients or the monitor are silenced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingClear {
    episode: EpisodeId,
    since: Timestamp,
    planned_at: Timestamp,
    cause: LocationResult,
    recipients: Vec<(RecipientId, Option<i64>)>,
}

impl OpenEpisode {
    /// Opens the episode that starts with a failing run.
    pub(super) fn open(failing: &FailedRun<'_>, flapping: bool, cx: &AlertContext<'_>) -> Self {
        let since = failing.draft.planned_at;
        let change = EpisodeChange {
            id: EpisodeId::new(cx.policy.monitor_id, since),
            since,
            cause: failing.cause.clone(),
            failed_runs: 0,
            last_run: since,
            last_status: failing.cause.status,
            locations: Vec::new(),
            verification: failing.draft.verification.clone(),
            flapping,
            end: None,
        };
        Self { latest: change, acknowledged: false, notified: Vec::new() }
    }

    pub(super) fn id(&self) -> EpisodeId {
        self.latest.id
    }

    /// Whether no failing run was counted yet.
    pub(super) fn is_new(&self) -> bool {
        self.latest.failed_runs == 0
    }

    /// Counts a failing run.
    pub(super) fn record_failed_run(&mut self, failing: &FailedRun<'_>) -> Effect {
        let change = &mut self.latest;
        change.failed_runs = change.failed_runs.saturating_add(1);
        change.last_run = failing.draft.planned_at;
        change.last_status = failing.cause.status;
        for location in &failing.locations {
            if !change.locations.contains(location) {
                change.locations.push(*location);
            }
        }
        Effect::UpdateEpisode(change.clone())
    }

    /// Returns the recipients to notify of the last counted failing run, and counts them as notified.
    pub(super) fn recipients_to_notify(
        &mut self,
        cause: &LocationResult,
        cx: &AlertContext<'_>,
    ) -> Vec<(RecipientId, Option<i64>)> {
        let kind = NotificationKind::SiteError;
        if !cx.policy.notify_on_error || self.acknowledged || is_silenced(cx, kind, self.latest.last_run) {
            return Vec::new();
        }
        let mut audience = recipients_for(cx, kind, Some(cause));
        audience.retain(|(id, group)| self.count_notification(*id, *group, cx));
        audience
    }

    /// Counts one more notification of `id` and returns true, if the recipient's thresholds allow it.
    fn count_notification(&mut self, id: RecipientId, group: Option<i64>, cx: &AlertContext<'_>) -> bool {
        let Some(recipient) = cx.contacts.recipient(id) else { return false };
        if self.latest.failed_runs < recipient.start_threshold {
            return false;
        }
        let Some(entry) = self.notified.iter_mut().find(|entry| entry.recipient == id) else {
            self.notified.push(NotifiedRecipient { recipient: id, group, errors: 1 });
            return true;
        };
        let is_due = recipient.stop_threshold == 0 || entry.errors < recipient.stop_threshold;
        entry.errors = entry.errors.saturating_add(u32::from(is_due));
        is_due
    }

    /// Returns `draft` with the data of this episode.
    pub(super) fn enrich_draft(&self, draft: &NotificationDraft) -> NotificationDraft {
        NotificationDraft {
            episode: Some(self.latest.id),
            started_at: Some(self.latest.since),
            errcount: self.latest.failed_runs,
            ..draft.clone()
        }
    }

    /// Ends the episode; `recovered` when a passing run ended it.
    pub(super) fn close(&mut self, at: Timestamp, recovered: bool) -> Effect {
        self.latest.end = Some(EpisodeEnd { at, recovered });
        Effect::UpdateEpisode(self.latest.clone())
    }

    /// Returns the clears due after the passing run that `cause` belongs to.
    pub(super) fn pending_clear(&self, planned_at: Timestamp, cause: &LocationResult) -> PendingClear {
        let mut recipients: Vec<_> =
            self.notified.iter().map(|recipient| (recipient.recipient, recipient.group)).collect();
        recipients.sort_unstable();
        PendingClear {
            episode: self.latest.id,
            since: self.latest.since,
            planned_at,
            cause: cause.clone(),
            recipients,
        }
    }

    pub(super) fn acknowledge(&mut self, id: EpisodeId) -> bool {
        let fits = self.latest.id == id;
        self.acknowledged |= fits;
        fits
    }
}

impl PendingClear {
    /// Notifies the recipients that are not muted; the others stay pending. Drops recipients that no longer exist or no
    /// longer subscribe to clears.
    pub(super) fn take_due(
        &mut self,
        results: &[LocationResult],
        unreported: &[LocationId],
        cx: &AlertContext<'_>,
    ) -> Vec<Effect> {
        let wants = |id: RecipientId| {
            let recipient = cx.contacts.recipient(id);
            recipient.is_some_and(|recipient| recipient.notify_on_clear && recipient.availability_alert)
        };
        self.recipients.retain(|(id, _)| cx.policy.notify_on_error && wants(*id));
        if self.recipients.is_empty() || is_silenced(cx, NotificationKind::SiteClear, cx.now) {
            return Vec::new();
        }
        let (waiting, now): (Vec<_>, Vec<_>) =
            self.recipients.drain(..).partition(|(id, _)| is_muted(cx, *id, cx.now));
        self.recipients = waiting;
        let draft = NotificationDraft {
            kind: NotificationKind::SiteClear,
            planned_at: self.planned_at,
            episode: Some(self.episode),
            started_at: Some(self.since),
            deciding_result: Some(self.cause.clone()),
            location_results: results.to_vec(),
            unreported_locations: unreported.to_vec(),
            verification: None,
            errcount: 0,
            awaits_trace: false,
        };
        let to_effect = |(recipient, group)| Effect::Notify { recipient, group, draft: draft.clone() };
        now.into_iter().map(to_effect).collect()
    }

    /// Like [`PendingClear::take_due`], at a later run.
    pub(super) fn take_due_later(&mut self, cx: &AlertContext<'_>) -> Vec<Effect> {
        let cause = self.cause.clone();
        self.take_due(&[cause], &[], cx)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.recipients.is_empty()
    }
}

/// Whether this status means that the target could not be reached, so that a traceroute helps (behaviour.md 6).
pub(super) fn should_traceroute(status: Status) -> bool {
    [Status::CONNECT_FAILED, Status::TIMED_OUT, Status::HOST_SILENT, Status::HOST_PING_FAILED]
        .contains(&status)
}

/// Returns the verification that another failing location of the same run gives.
pub(super) fn confirmed_by(by: &LocationResult, at: Timestamp) -> Verification {
    Verification {
        status: Status::VERIFIED_CONFIRMED,
        location_id: Some(by.location),
        found: Some(by.status),
        at,
    }
}
