//! Who is told: recipients, their groups and what mutes them (behaviour.md 6).

use std::collections::BTreeMap;

use super::context::{AlertContext, Contacts};
use super::location_result::LocationResult;
use crate::domain::{MonitorId, NotificationKind, NotifierGroup, Recipient, RecipientId, Timestamp};
use crate::schedule::BlackoutTarget;

/// Everybody whom the groups name for what `cause` found, who wants `kind` and is not muted, each with the group
/// that names them; each once, by id. Thresholds are not looked at here.
#[must_use]
pub fn recipients_for(
    cx: &AlertContext<'_>,
    kind: NotificationKind,
    cause: Option<&LocationResult>,
) -> Vec<(RecipientId, Option<i64>)> {
    let named = matching_recipients(cx.contacts, cx.policy.monitor_id, kind, cause);
    let listens = |id: &RecipientId| {
        cx.contacts.recipient(*id).is_some_and(|recipient| recipient.is_subscribed_to(kind))
            && (kind.is_performance() || !is_muted(cx, *id, cx.now))
    };
    named.into_iter().filter(|(id, _)| listens(id)).collect()
}

/// Everybody whom the groups name for performance alerts of a monitor and who wants them, each with the group that
/// names them. No blackout silences those.
#[must_use]
pub fn performance_recipients_for(
    contacts: &Contacts,
    monitor: MonitorId,
) -> Vec<(RecipientId, Option<i64>)> {
    let kind = NotificationKind::PerformanceError;
    let listens =
        |id: &RecipientId| contacts.recipient(*id).is_some_and(|recipient| recipient.is_subscribed_to(kind));
    matching_recipients(contacts, monitor, kind, None).into_iter().filter(|(id, _)| listens(id)).collect()
}

/// Whether a blackout of the monitor silences `kind` about the run planned at `planned_at`: at the time that the
/// run was planned for, or now, so that somebody who mutes a monitor hears nothing of the run under way either.
pub(super) fn is_silenced(cx: &AlertContext<'_>, kind: NotificationKind, planned_at: Timestamp) -> bool {
    let monitor = cx.policy.monitor_id;
    let rests = |at| {
        [BlackoutTarget::Alert(monitor), BlackoutTarget::Monitor(monitor)]
            .into_iter()
            .any(|subject| cx.calendar.active_window(subject, at).is_some())
    };
    !kind.is_performance() && (rests(planned_at) || rests(cx.now))
}

/// Whether `recipient` is muted at `at`.
pub(super) fn is_muted(cx: &AlertContext<'_>, recipient: RecipientId, at: Timestamp) -> bool {
    cx.calendar.active_window(BlackoutTarget::Notifier(recipient), at).is_some()
}

/// Everybody whom the groups name, with the first group by number that does.
fn matching_recipients(
    contacts: &Contacts,
    monitor: MonitorId,
    kind: NotificationKind,
    cause: Option<&LocationResult>,
) -> BTreeMap<RecipientId, Option<i64>> {
    if contacts.groups.is_empty() {
        return contacts.recipients.iter().map(|recipient| (recipient.id, None)).collect();
    }
    let found = cause.filter(|_| kind == NotificationKind::SiteError);
    let own =
        |group: &&NotifierGroup| group.matches_monitor(monitor, cause.and_then(|cause| cause.step), found);
    let mut groups: Vec<_> = contacts.groups.iter().filter(own).collect();
    if groups.is_empty() {
        groups = contacts.groups.iter().filter(|group| group.is_default).collect();
    }
    groups.retain(|group| group.matches_status(kind, cause));
    // The lowest number is written last and stays.
    groups.sort_by_key(|group| std::cmp::Reverse(group.id));
    let members = |group: &&NotifierGroup| {
        let id = group.id;
        group.recipients.clone().into_iter().map(move |recipient| (recipient, Some(id)))
    };
    groups.iter().flat_map(members).collect()
}

impl Recipient {
    /// Whether it wants to hear of `kind`.
    fn is_subscribed_to(&self, kind: NotificationKind) -> bool {
        match kind {
            NotificationKind::Test | NotificationKind::Digest => true,
            _ if kind.is_performance() => self.performance_alert,
            _ => self.availability_alert,
        }
    }
}

impl NotifierGroup {
    /// Whether it is for this monitor, or for the step that failed. What is about no step in particular reaches
    /// those that name any step of the monitor. An error reaches those that name a content view when that one failed;
    /// what is no error, such as the end of one, reaches them too.
    fn matches_monitor(&self, monitor: MonitorId, step: Option<u32>, error: Option<&LocationResult>) -> bool {
        self.monitors.iter().any(|entry| {
            let fits = |view: i64| error.is_none_or(|error| error.failed_views.contains(&view));
            entry.id == monitor.0
                && (entry.step_number.is_none() || step.is_none() || entry.step_number == step)
                && entry.content_view_id.is_none_or(fits)
        })
    }

    /// Whether the status code is one of those that it wants; what is no error has none.
    fn matches_status(&self, kind: NotificationKind, cause: Option<&LocationResult>) -> bool {
        let code = cause.filter(|_| kind == NotificationKind::SiteError).map(|cause| cause.status.0);
        self.error_types.is_empty() || code.is_none_or(|code| self.error_types.contains(&code))
    }
}
