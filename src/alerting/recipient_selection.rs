//! Selection of the recipients of a notification: groups, subscriptions and blackouts (behaviour.md 6).

use std::collections::BTreeMap;

use super::alert_context::{AlertContext, Contacts};
use super::location_result::LocationResult;
use crate::domain::{MonitorId, NotificationKind, NotifierGroup, Recipient, RecipientId, Timestamp};
use crate::schedule::BlackoutTarget;

/// Returns the recipients in a matching group that subscribe to notifications of `kind` and are not muted,
/// ordered by id, each once and with its group. Thresholds are not applied here.
#[must_use]
pub fn select_recipients(
    cx: &AlertContext<'_>,
    kind: NotificationKind,
    cause: Option<&LocationResult>,
) -> Vec<(RecipientId, Option<i64>)> {
    let candidates = recipients_of_matching_groups(cx.contacts, cx.policy.monitor_id, kind, cause);
    let is_notified = |id: &RecipientId| {
        cx.contacts.recipient(*id).is_some_and(|recipient| recipient.is_subscribed_to(kind))
            && (kind.is_performance() || !is_recipient_muted(cx, *id, cx.now))
    };
    candidates.into_iter().filter(|(id, _)| is_notified(id)).collect()
}

/// Returns the recipients of a monitor's performance alerts that a group names and that subscribe to them, each with
/// the group that names it. Blackouts do not silence performance alerts.
#[must_use]
pub fn select_performance_recipients(
    contacts: &Contacts,
    monitor_id: MonitorId,
) -> Vec<(RecipientId, Option<i64>)> {
    let kind = NotificationKind::PerformanceError;
    let is_notified =
        |id: &RecipientId| contacts.recipient(*id).is_some_and(|recipient| recipient.is_subscribed_to(kind));
    recipients_of_matching_groups(contacts, monitor_id, kind, None)
        .into_iter()
        .filter(|(id, _)| is_notified(id))
        .collect()
}

/// Whether a blackout of the monitor silences `kind` about the run planned at `planned_at`. It does when it covers
/// the planned time, or now: muting a monitor silences the run in progress too.
pub(super) fn is_monitor_silenced(
    cx: &AlertContext<'_>,
    kind: NotificationKind,
    planned_at: Timestamp,
) -> bool {
    let monitor_id = cx.policy.monitor_id;
    let is_blacked_out = |at| {
        [BlackoutTarget::Alert(monitor_id), BlackoutTarget::Monitor(monitor_id)]
            .into_iter()
            .any(|target| cx.blackout_calendar.active_window(target, at).is_some())
    };
    !kind.is_performance() && (is_blacked_out(planned_at) || is_blacked_out(cx.now))
}

/// Whether `recipient` is muted at `at`.
pub(super) fn is_recipient_muted(cx: &AlertContext<'_>, recipient: RecipientId, at: Timestamp) -> bool {
    cx.blackout_calendar.active_window(BlackoutTarget::Recipient(recipient), at).is_some()
}

/// Returns each of `recipients` with the group that names it now, if one does.
pub(super) fn recipients_with_groups(
    cx: &AlertContext<'_>,
    kind: NotificationKind,
    recipients: &[RecipientId],
) -> Vec<(RecipientId, Option<i64>)> {
    let named = recipients_of_matching_groups(cx.contacts, cx.policy.monitor_id, kind, None);
    recipients.iter().map(|id| (*id, named.get(id).copied().flatten())).collect()
}

/// Returns the recipients that the groups name, each with the matching group of the lowest id.
fn recipients_of_matching_groups(
    contacts: &Contacts,
    monitor_id: MonitorId,
    kind: NotificationKind,
    cause: Option<&LocationResult>,
) -> BTreeMap<RecipientId, Option<i64>> {
    if contacts.groups.is_empty() {
        return contacts.recipients.iter().map(|recipient| (recipient.id, None)).collect();
    }
    let error = cause.filter(|_| kind == NotificationKind::SiteError);
    let matches = |group: &&NotifierGroup| {
        group.matches_monitor(monitor_id, cause.and_then(|cause| cause.failing_step), error)
    };
    let mut groups: Vec<_> = contacts.groups.iter().filter(matches).collect();
    if groups.is_empty() {
        groups = contacts.groups.iter().filter(|group| group.is_default).collect();
    }
    groups.retain(|group| group.matches_status(kind, cause));
    // The group with the lowest id is written last and wins.
    groups.sort_by_key(|group| std::cmp::Reverse(group.id));
    let members = |group: &&NotifierGroup| {
        let id = group.id;
        group.recipient_ids.clone().into_iter().map(move |recipient| (recipient, Some(id)))
    };
    groups.iter().flat_map(members).collect()
}

impl Recipient {
    /// Whether the recipient subscribes to `kind`.
    fn is_subscribed_to(&self, kind: NotificationKind) -> bool {
        match kind {
            NotificationKind::Test | NotificationKind::Digest => true,
            _ if kind.is_performance() => self.gets_performance_alerts,
            _ => self.gets_availability_alerts,
        }
    }
}

impl NotifierGroup {
    /// Whether the group covers this monitor, or its failing `step`. Without a step, an entry for any step of the
    /// monitor matches. An entry with a content view matches an error only when that view failed, and matches
    /// everything that is not an error, such as a clear.
    fn matches_monitor(
        &self,
        monitor_id: MonitorId,
        step: Option<u32>,
        error: Option<&LocationResult>,
    ) -> bool {
        self.group_monitors.iter().any(|entry| {
            let view_matches = |view: i64| error.is_none_or(|error| error.failed_views.contains(&view));
            entry.monitor_id == monitor_id.0
                && (entry.step_number.is_none() || step.is_none() || entry.step_number == step)
                && entry.content_view_id.is_none_or(view_matches)
        })
    }

    /// Whether the group covers the status code; only errors have one.
    fn matches_status(&self, kind: NotificationKind, cause: Option<&LocationResult>) -> bool {
        let code = cause.filter(|_| kind == NotificationKind::SiteError).map(|cause| cause.status.0);
        self.status_codes.is_empty() || code.is_none_or(|code| self.status_codes.contains(&code))
    }
}
