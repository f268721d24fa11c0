//! An outage of a monitor, and who was told of it.

use serde::{Deserialize, Serialize};

use super::audience::{is_muted, is_silenced, recipients_for};
use super::context::AlertContext;
use super::effect::{Effect, EpisodeChange, EpisodeEnd, NotificationDraft};
use super::location_result::LocationResult;
use crate::domain::{EpisodeId, LocationId, NotificationKind, RecipientId, Status, Timestamp, Verification};

/// An open outage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenEpisode {
    /// How far it is.
    change: EpisodeChange,
    /// Whether somebody acknowledged it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    acknowledged: bool,
    /// Who was told.
    #[serde(rename = "told")]
    notified: Vec<NotifiedRecipient>,
}

/// Somebody who was told of an outage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotifiedRecipient {
    recipient: RecipientId,
    group: Option<i64>,
    /// How often.
    errors: u32,
}

/// A failing run, as far as an outage needs it.
pub(super) struct FailedRun<'a> {
    pub(super) draft: &'a NotificationDraft,
    pub(super) cause: &'a LocationResult,
    pub(super) locations: Vec<LocationId>,
}

/// Clears that somebody waits for who, or whose monitor, was silenced when the outage ended.
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
    /// The outage that begins with a failing run.
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
        Self { change, acknowledged: false, notified: Vec::new() }
    }

    pub(super) fn id(&self) -> EpisodeId {
        self.change.id
    }

    /// Whether no failing run was counted yet.
    pub(super) fn is_new(&self) -> bool {
        self.change.failed_runs == 0
    }

    /// Counts a failing run.
    pub(super) fn record_failed_run(&mut self, failing: &FailedRun<'_>) -> Effect {
        let change = &mut self.change;
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

    /// Who is to hear of the failing run that was counted last; counts them as told.
    pub(super) fn recipients_to_notify(
        &mut self,
        cause: &LocationResult,
        cx: &AlertContext<'_>,
    ) -> Vec<(RecipientId, Option<i64>)> {
        let kind = NotificationKind::SiteError;
        if !cx.policy.notify_on_error || self.acknowledged || is_silenced(cx, kind, self.change.last_run) {
            return Vec::new();
        }
        let mut audience = recipients_for(cx, kind, Some(cause));
        audience.retain(|(id, group)| self.count_notification(*id, *group, cx));
        audience
    }

    /// Counts `id` as told once more, if its thresholds let it.
    fn count_notification(&mut self, id: RecipientId, group: Option<i64>, cx: &AlertContext<'_>) -> bool {
        let Some(recipient) = cx.contacts.recipient(id) else { return false };
        if self.change.failed_runs < recipient.start_threshold {
            return false;
        }
        let Some(told) = self.notified.iter_mut().find(|told| told.recipient == id) else {
            self.notified.push(NotifiedRecipient { recipient: id, group, errors: 1 });
            return true;
        };
        let goes_on = recipient.stop_threshold == 0 || told.errors < recipient.stop_threshold;
        told.errors = told.errors.saturating_add(u32::from(goes_on));
        goes_on
    }

    /// Completes what is told of this outage.
    pub(super) fn enrich_draft(&self, draft: &NotificationDraft) -> NotificationDraft {
        NotificationDraft {
            episode: Some(self.change.id),
            started_at: Some(self.change.since),
            errcount: self.change.failed_runs,
            ..draft.clone()
        }
    }

    /// Ends it; `recovered` when a good run did.
    pub(super) fn close(&mut self, at: Timestamp, recovered: bool) -> Effect {
        self.change.end = Some(EpisodeEnd { at, recovered });
        Effect::UpdateEpisode(self.change.clone())
    }

    /// The clears that are due after the good run that `cause` tells of.
    pub(super) fn pending_clear(&self, planned_at: Timestamp, cause: &LocationResult) -> PendingClear {
        let mut recipients: Vec<_> =
            self.notified.iter().map(|recipient| (recipient.recipient, recipient.group)).collect();
        recipients.sort_unstable();
        PendingClear {
            episode: self.change.id,
            since: self.change.since,
            planned_at,
            cause: cause.clone(),
            recipients,
        }
    }

    pub(super) fn acknowledge(&mut self, id: EpisodeId) -> bool {
        let fits = self.change.id == id;
        self.acknowledged |= fits;
        fits
    }
}

impl PendingClear {
    /// Tells those who can hear it now; the others wait. Whoever is gone, or wants no clears (any more), is owed
    /// nothing.
    pub(super) fn take_due(
        &mut self,
        heard: &[LocationResult],
        silent: &[LocationId],
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
            location_results: heard.to_vec(),
            unreported_locations: silent.to_vec(),
            verification: None,
            errcount: 0,
            awaits_trace: false,
        };
        let tell = |(recipient, group)| Effect::Notify { recipient, group, draft: draft.clone() };
        now.into_iter().map(tell).collect()
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

/// Whether the way to a target is worth tracing after this code: it could not be reached (behaviour.md 6).
pub(super) fn should_traceroute(status: Status) -> bool {
    [Status::CONNECT_FAILED, Status::TIMED_OUT, Status::HOST_SILENT, Status::HOST_PING_FAILED]
        .contains(&status)
}

/// The answer of a location that failed in the same run.
pub(super) fn confirmed_by(by: &LocationResult, at: Timestamp) -> Verification {
    Verification {
        status: Status::VERIFIED_CONFIRMED,
        location_id: Some(by.location),
        found: Some(by.status),
        at,
    }
}
