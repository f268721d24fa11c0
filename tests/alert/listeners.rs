//! Who hears of performance alerts, which the same groups tell and no blackout silences (behaviour.md 6).

use vigie::alerting::{AlertContext, recipients_for};
use vigie::domain::{GroupMonitor, NotificationKind, NotifierGroup, RecipientId};
use vigie::schedule::{BlackoutCalendar, BlackoutTarget};

use crate::alert::world::{MONITOR, World};

fn listeners(world: &World, kind: NotificationKind) -> Vec<(i64, Option<i64>)> {
    let calendar = BlackoutCalendar::new(jiff::tz::TimeZone::UTC, world.windows.clone());
    let cx = AlertContext {
        policy: &world.policy,
        contacts: &world.contacts,
        calendar: &calendar,
        offline_locations: &[],
        now: world.run(1),
    };
    recipients_for(&cx, kind, None).into_iter().map(|(id, group)| (id.0, group)).collect()
}

#[test]
fn performance_alerts_go_to_those_who_want_them_and_ignore_blackouts() {
    let mut world = World::new();
    world.recipient("ann").performance_alert = true;
    let bob = world.recipient("bob");
    (bob.performance_alert, bob.availability_alert) = (true, false);
    let _ = world.recipient("eve");
    for recipient in 1..=3 {
        world.window(BlackoutTarget::Notifier(RecipientId(recipient)), 0, 2);
    }
    world.window(BlackoutTarget::Alert(MONITOR), 0, 2);
    for kind in [NotificationKind::PerformanceError, NotificationKind::PerformanceClear] {
        assert_eq!(listeners(&world, kind), [(1, None), (2, None)]);
    }
    assert_eq!(listeners(&world, NotificationKind::SiteError), []);
    world.windows.clear();
    assert_eq!(listeners(&world, NotificationKind::SiteError), [(1, None), (3, None)]);
}

#[test]
fn performance_alerts_follow_groups_and_no_error_codes() {
    let mut world = World::new();
    world.recipient("ann").performance_alert = true;
    world.recipient("bob").performance_alert = true;
    world.contacts.groups.push(NotifierGroup {
        id: 10,
        monitors: vec![GroupMonitor { id: MONITOR.0, step_number: None, content_view_id: None }],
        recipients: vec![RecipientId(2), RecipientId(99)],
        error_types: vec![7],
        ..NotifierGroup::default()
    });
    assert_eq!(listeners(&world, NotificationKind::PerformanceError), [(2, Some(10))]);
}
