//! About which monitors a recipient can be told (behaviour.md 6).

use std::collections::HashSet;

use super::alert_context::Contacts;
use crate::domain::{MonitorId, NotifierGroup, RecipientId};

/// Which monitors of an account a recipient can be told about, whatever the error and the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorsOfRecipient {
    /// Monitors that a group of the recipient names.
    named: HashSet<MonitorId>,
    /// When the recipient is told about all other monitors too, those but these: groups name them as a whole.
    all_but: Option<HashSet<MonitorId>>,
}

impl MonitorsOfRecipient {
    /// Returns the monitors about which the groups of `contacts` have `recipient` told.
    #[must_use]
    pub fn new(contacts: &Contacts, recipient: RecipientId) -> Self {
        let is_subscribed = contacts
            .recipient(recipient)
            .is_some_and(|recipient| recipient.gets_availability_alerts || recipient.gets_performance_alerts);
        if !is_subscribed {
            return Self { named: HashSet::new(), all_but: None };
        }
        if contacts.groups.is_empty() {
            return Self { named: HashSet::new(), all_but: Some(HashSet::new()) };
        }
        let is_own = |group: &&NotifierGroup| group.recipient_ids.contains(&recipient);
        let monitors = |group: &NotifierGroup| {
            let ids = group.group_monitors.iter().map(|monitor| MonitorId(monitor.monitor_id));
            ids.collect::<Vec<_>>()
        };
        let named = contacts.groups.iter().filter(is_own).flat_map(monitors).collect();
        let is_default = contacts.groups.iter().filter(is_own).any(|group| group.is_default);
        // A default group stands in where no group matches: for what nobody names, and for the other errors and steps of
        // what groups name in part.
        let named_whole = |group: &NotifierGroup| {
            let whole = group.group_monitors.iter();
            let whole =
                whole.filter(|monitor| monitor.step_number.is_none() && monitor.content_view_id.is_none());
            whole.map(|monitor| MonitorId(monitor.monitor_id)).collect::<Vec<_>>()
        };
        let all_but = is_default.then(|| contacts.groups.iter().flat_map(named_whole).collect());
        Self { named, all_but }
    }

    /// Whether the recipient can be told about `monitor`.
    #[must_use]
    pub fn contains(&self, monitor: MonitorId) -> bool {
        self.named.contains(&monitor)
            || self.all_but.as_ref().is_some_and(|all_but| !all_but.contains(&monitor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{GroupMonitor, NotificationMethod, Recipient};

    fn group(id: i64, recipient: i64, monitors: &[(i64, Option<u32>)], is_default: bool) -> NotifierGroup {
        let monitor = |(id, step): &(i64, _)| GroupMonitor {
            monitor_id: *id,
            step_number: *step,
            content_view_id: None,
        };
        NotifierGroup {
            id,
            is_default,
            group_monitors: monitors.iter().map(monitor).collect(),
            recipient_ids: vec![RecipientId(recipient)],
            ..NotifierGroup::default()
        }
    }

    fn recipient(id: i64) -> Recipient {
        Recipient {
            id: RecipientId(id),
            name: String::new(),
            address: String::new(),
            method: NotificationMethod::MailText,
            username: String::new(),
            gets_availability_alerts: true,
            gets_performance_alerts: true,
            notify_on_clear: true,
            start_threshold: 1,
            stop_threshold: 0,
            attach_screen_capture: false,
            attach_server_response: false,
            language: String::new(),
        }
    }

    fn monitor_ids(contacts: &Contacts, recipient: i64) -> Vec<i64> {
        let monitors = MonitorsOfRecipient::new(contacts, RecipientId(recipient));
        (1..=4).filter(|id| monitors.contains(MonitorId(*id))).collect()
    }

    #[test]
    fn a_default_group_stands_in_where_no_group_names_a_monitor_as_a_whole() {
        let mut contacts = Contacts { recipients: vec![recipient(1), recipient(2)], groups: Vec::new() };
        assert_eq!(monitor_ids(&contacts, 1), [1, 2, 3, 4], "without groups everybody is told");
        assert_eq!(monitor_ids(&contacts, 9), [] as [i64; 0], "there is no such recipient");
        contacts.recipients[1].gets_performance_alerts = false;
        assert_eq!(monitor_ids(&contacts, 2), [1, 2, 3, 4]);
        contacts.recipients[0].gets_availability_alerts = false;
        contacts.recipients[0].gets_performance_alerts = false;
        assert_eq!(monitor_ids(&contacts, 1), [] as [i64; 0], "who wants no alerts gets none");
        contacts.recipients[0].gets_availability_alerts = true;
        contacts.groups = vec![group(1, 1, &[(1, None), (2, Some(3))], false)];
        assert_eq!((monitor_ids(&contacts, 1), monitor_ids(&contacts, 2)), (vec![1, 2], vec![]));
        contacts.groups.push(group(2, 2, &[(4, None)], true));
        assert_eq!(
            monitor_ids(&contacts, 2),
            [2, 3, 4],
            "steps of 2 that the first group does not name are its own"
        );
    }
}
