//! An outage of a monitor, and who was told of it.

use serde::{Deserialize, Serialize};

use super::audience::{audience, is_muted, is_silenced};
use super::effect::{Effect, EpisodeChange, EpisodeEnd, News};
use super::heard::Heard;
use super::terms::Terms;
use crate::domain::{EpisodeId, LocationId, NotificationKind, RecipientId, Status, Timestamp, Verification};

/// An open outage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outage {
    /// How far it is.
    change: EpisodeChange,
    /// Whether somebody acknowledged it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    acknowledged: bool,
    /// Who was told.
    told: Vec<Told>,
}

/// Somebody who was told of an outage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    recipient: RecipientId,
    group: Option<i64>,
    /// How often.
    errors: u32,
}

/// A failing run, as far as an outage needs it.
pub(super) struct Failing<'a> {
    pub(super) news: &'a News,
    pub(super) cause: &'a Heard,
    pub(super) locations: Vec<LocationId>,
}

/// Clears that somebody waits for who, or whose monitor, was silenced when the outage ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Owed {
    episode: EpisodeId,
    since: Timestamp,
    planned_at: Timestamp,
    cause: Heard,
    recipients: Vec<(RecipientId, Option<i64>)>,
}

impl Outage {
    /// The outage that begins with a failing run.
    pub(super) fn begin(failing: &Failing<'_>, flapping: bool, terms: &Terms<'_>) -> Self {
        let since = failing.news.planned_at;
        let change = EpisodeChange {
            id: EpisodeId::new(terms.policy.monitor_id, since),
            since,
            cause: failing.cause.clone(),
            runs: 0,
            last_run: since,
            last_status: failing.cause.status,
            locations: Vec::new(),
            verification: failing.news.verification.clone(),
            flapping,
            end: None,
        };
        Self { change, acknowledged: false, told: Vec::new() }
    }

    pub(super) fn id(&self) -> EpisodeId {
        self.change.id
    }

    /// Whether no failing run was counted yet.
    pub(super) fn is_new(&self) -> bool {
        self.change.runs == 0
    }

    /// Counts a failing run.
    pub(super) fn extend(&mut self, failing: &Failing<'_>) -> Effect {
        let change = &mut self.change;
        change.runs = change.runs.saturating_add(1);
        change.last_run = failing.news.planned_at;
        change.last_status = failing.cause.status;
        for location in &failing.locations {
            if !change.locations.contains(location) {
                change.locations.push(*location);
            }
        }
        Effect::Episode(change.clone())
    }

    /// Who is to hear of the failing run that was counted last; counts them as told.
    pub(super) fn tell(&mut self, cause: &Heard, terms: &Terms<'_>) -> Vec<(RecipientId, Option<i64>)> {
        let kind = NotificationKind::SiteError;
        if !terms.policy.notify_on_error
            || self.acknowledged
            || is_silenced(terms, kind, self.change.last_run)
        {
            return Vec::new();
        }
        let mut audience = audience(terms, kind, Some(cause));
        audience.retain(|(id, group)| self.count(*id, *group, terms));
        audience
    }

    /// Counts `id` as told once more, if its thresholds let it.
    fn count(&mut self, id: RecipientId, group: Option<i64>, terms: &Terms<'_>) -> bool {
        let Some(recipient) = terms.contacts.recipient(id) else { return false };
        if self.change.runs < recipient.start_threshold {
            return false;
        }
        let Some(told) = self.told.iter_mut().find(|told| told.recipient == id) else {
            self.told.push(Told { recipient: id, group, errors: 1 });
            return true;
        };
        let goes_on = recipient.stop_threshold == 0 || told.errors < recipient.stop_threshold;
        told.errors = told.errors.saturating_add(u32::from(goes_on));
        goes_on
    }

    /// Completes what is told of this outage.
    pub(super) fn describe(&self, news: &News) -> News {
        News {
            episode: Some(self.change.id),
            since: Some(self.change.since),
            errcount: self.change.runs,
            ..news.clone()
        }
    }

    /// Ends it; `recovered` when a good run did.
    pub(super) fn end(&mut self, at: Timestamp, recovered: bool) -> Effect {
        self.change.end = Some(EpisodeEnd { at, recovered });
        Effect::Episode(self.change.clone())
    }

    /// The clears that are due after the good run that `cause` tells of.
    pub(super) fn owes(&self, planned_at: Timestamp, cause: &Heard) -> Owed {
        let mut recipients: Vec<_> = self.told.iter().map(|told| (told.recipient, told.group)).collect();
        recipients.sort_unstable();
        Owed {
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

impl Owed {
    /// Tells those who can hear it now; the others wait. Whoever is gone, or wants no clears (any more), is owed
    /// nothing.
    pub(super) fn pay(&mut self, heard: &[Heard], silent: &[LocationId], terms: &Terms<'_>) -> Vec<Effect> {
        let wants = |id: RecipientId| {
            let recipient = terms.contacts.recipient(id);
            recipient.is_some_and(|recipient| recipient.notify_on_clear && recipient.availability_alert)
        };
        self.recipients.retain(|(id, _)| terms.policy.notify_on_error && wants(*id));
        if self.recipients.is_empty() || is_silenced(terms, NotificationKind::SiteClear, terms.now) {
            return Vec::new();
        }
        let (waiting, now): (Vec<_>, Vec<_>) =
            self.recipients.drain(..).partition(|(id, _)| is_muted(terms, *id, terms.now));
        self.recipients = waiting;
        let news = News {
            kind: NotificationKind::SiteClear,
            planned_at: self.planned_at,
            episode: Some(self.episode),
            since: Some(self.since),
            cause: Some(self.cause.clone()),
            heard: heard.to_vec(),
            silent: silent.to_vec(),
            verification: None,
            errcount: 0,
            awaits_trace: false,
        };
        let tell = |(recipient, group)| Effect::Tell { recipient, group, news: news.clone() };
        now.into_iter().map(tell).collect()
    }

    /// Like [`Owed::pay`], at a later run.
    pub(super) fn pay_late(&mut self, terms: &Terms<'_>) -> Vec<Effect> {
        let cause = self.cause.clone();
        self.pay(&[cause], &[], terms)
    }

    pub(super) fn is_paid(&self) -> bool {
        self.recipients.is_empty()
    }
}

/// Whether the way to a target is worth tracing after this code: it could not be reached (behaviour.md 6).
pub(super) fn is_worth_a_trace(status: Status) -> bool {
    [Status::CONNECT_FAILED, Status::TIMED_OUT, Status::HOST_SILENT, Status::HOST_PING_FAILED]
        .contains(&status)
}

/// The answer of a location that failed in the same run.
pub(super) fn witnessed(by: &Heard, at: Timestamp) -> Verification {
    Verification {
        status: Status::VERIFIED_CONFIRMED,
        location_id: Some(by.location),
        found: Some(by.status),
        at,
    }
}
