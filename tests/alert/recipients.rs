//! Who is notified of performance alerts: they follow the same groups, and no blackout silences them (behaviour.md 6).

use vigie::alerting::{AlertContext, select_recipients};
use vigie::domain::{GroupMonitor, NotificationKind, NotifierGroup, RecipientId};
use vigie::schedule::{BlackoutCalendar, BlackoutTarget};

use crate::alert::harness::{Harness, MONITOR};

fn recipients(harness: &Harness, kind: NotificationKind) -> Vec<(i64, Option<i64>)> {
    let calendar = BlackoutCalendar::new(jiff::tz::TimeZone::UTC, harness.windows.clone());
    let cx = AlertContext {
        policy: &harness.policy,
        contacts: &harness.contacts,
        blackout_calendar: &calendar,
        offline_locations: &[],
        parents: &[],
        now: harness.run(1),
    };
    select_recipients(&cx, kind, None).into_iter().map(|(id, group)| (id.0, group)).collect()
}

#[test]
fn performance_alerts_go_to_those_who_want_them_and_ignore_blackouts() {
    let mut harness = Harness::new();
    harness.recipient("ann").gets_performance_alerts = true;
    let bob = harness.recipient("bob");
    (bob.gets_performance_alerts, bob.gets_availability_alerts) = (true, false);
    let _ = harness.recipient("eve");
    for recipient in 1..=3 {
        harness.window(BlackoutTarget::Recipient(RecipientId(recipient)), 0, 2);
    }
    harness.window(BlackoutTarget::Alert(MONITOR), 0, 2);
    for kind in [NotificationKind::PerformanceError, NotificationKind::PerformanceClear] {
        assert_eq!(recipients(&harness, kind), [(1, None), (2, None)]);
    }
    assert_eq!(recipients(&harness, NotificationKind::SiteError), []);
    harness.windows.clear();
    assert_eq!(recipients(&harness, NotificationKind::SiteError), [(1, None), (3, None)]);
}

#[test]
fn performance_alerts_follow_groups_but_not_their_error_codes() {
    let mut harness = Harness::new();
    harness.recipient("ann").gets_performance_alerts = true;
    harness.recipient("bob").gets_performance_alerts = true;
    harness.contacts.groups.push(NotifierGroup {
        id: 10,
        group_monitors: vec![GroupMonitor {
            monitor_id: MONITOR.0,
            step_number: None,
            content_view_id: None,
        }],
        recipient_ids: vec![RecipientId(2), RecipientId(99)],
        status_codes: vec![7],
        ..NotifierGroup::default()
    });
    assert_eq!(recipients(&harness, NotificationKind::PerformanceError), [(2, Some(10))]);
}
