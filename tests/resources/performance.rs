//! Performance alerts over a real store: raised once, cleared once, by location, kept over a restart.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use vigie::clock::Clock;
use vigie::domain::{
    CheckId, CheckResult, CustomerId, Facts, LocationId, MonitorId, MonitorType, NotificationKind, Outcome,
    RecordKind, Revision, RunId, Status, Timestamp,
};
use vigie::pipeline::{PerformanceDependencies, PerformanceEvaluator, Wakeup};
use vigie::store::{
    AlertChanges, Commit, ConfigChange, ConfigStore, Housekeeping, Ingest, NewRecord, NotificationFilter,
    Outbox,
};

use crate::resources::kit::{ALL, Kit, NOON, object};

const SHOP: i64 = 7;

fn performance_parts(kit: &Kit) -> PerformanceDependencies {
    PerformanceDependencies {
        config: kit.store.clone(),
        results: kit.store.clone(),
        states: kit.store.clone(),
        monitors: kit.monitors.clone(),
        accounts: kit.accounts.clone(),
        clock: kit.clock.clone(),
        wakeup: Wakeup::default(),
    }
}

async fn watching(kit: &Kit) -> PerformanceEvaluator {
    PerformanceEvaluator::new(performance_parts(kit)).await.unwrap()
}

async fn record(kit: &Kit, kind: RecordKind, assoc: Option<i64>, fields: Value) -> i64 {
    let record = NewRecord {
        kind,
        customer: Some(CustomerId(1)),
        parent_id: assoc,
        unique_key: None,
        created_at: kit.clock.now(),
        created_by: "test".to_owned(),
        fields: object(fields),
        sealed: None,
    };
    let id = kit.store.write_changes(vec![ConfigChange::CreateRecord(record)], Vec::new()).await.unwrap()[0];
    kit.accounts.invalidate();
    id
}

async fn recipient(kit: &Kit, name: &str, performance: bool, clear: bool) -> i64 {
    let fields = json!({
        "name": name, "recipient": "a@b.test", "method_id": 1, "availability_alert": true,
        "performance_alert": performance, "notify_on_clear": clear,
    });
    record(kit, RecordKind::Recipient, None, fields).await
}

/// Checks of the shop that began `ago` minutes ago, one a minute, and took so many milliseconds each.
async fn checked(kit: &Kit, location: i64, ago: i64, millis: &[u64], outcome: Outcome) {
    let now = kit.clock.now().as_micros();
    let result = |(minute, millis): (i64, &u64)| {
        let planned_at = Timestamp::from_micros(now - (ago - minute) * 60_000_000);
        let run_id = RunId::new(MonitorId(SHOP), planned_at);
        CheckResult {
            check_id: CheckId::new(run_id, LocationId(location)),
            run_id,
            monitor_id: MonitorId(SHOP),
            monitor_name: Arc::from("m"),
            revision: Revision(1),
            monitor_type: MonitorType::WebsiteSsl,
            location_id: LocationId(location),
            planned_at,
            started_at: planned_at,
            outcome,
            status: Status::OK,
            warning_status: None,
            status_text: String::new(),
            reasons: Vec::new(),
            total_us: millis * 1000,
            address: None,
            attempts: Vec::new(),
            facts: Facts::default(),
            details: vigie::domain::CheckDetails::default(),
            captures: Vec::new(),
            verification: None,
            missed: None,
        }
    };
    let results = (0..).zip(millis).map(result).collect();
    kit.store.commit(Commit { results, states: Vec::new(), alerts: AlertChanges::default() }).await.unwrap();
}

/// Kind, recipient and location of every message, oldest first.
async fn told(kit: &Kit) -> Vec<(NotificationKind, i64, i64)> {
    let all = kit.store.notifications(NotificationFilter::default(), ALL).await.unwrap();
    let mut told: Vec<_> = all
        .items
        .iter()
        .map(|row| (row.id, &row.message))
        .map(|(id, new)| (id, new.content.kind, new.recipient.0, new.content.location_id.unwrap().0))
        .collect();
    told.sort_unstable_by_key(|(id, ..)| *id);
    told.into_iter().map(|(_, kind, recipient, location)| (kind, recipient, location)).collect()
}

const ERROR: NotificationKind = NotificationKind::PerformanceError;
const CLEAR: NotificationKind = NotificationKind::PerformanceClear;

#[tokio::test]
async fn a_mean_over_its_limit_is_told_once_and_its_end_once_also_over_a_restart() {
    let kit = Kit::new().await;
    kit.monitor(SHOP, CustomerId(1), json!({"alert_note": "call anna"}));
    let both = recipient(&kit, "both", true, true).await;
    let errors = recipient(&kit, "errors", true, false).await;
    recipient(&kit, "neither", false, true).await;
    let fields =
        json!({"type": "static", "threshold": 1.5, "window": 10, "level": "warning", "enabled": true});
    let alert = record(&kit, RecordKind::PerformanceAlert, Some(SHOP), fields).await;
    // A blackout silences no performance alert.
    let window =
        json!({"type": "Alert", "from_date": "2026-01-01 00:00:00", "thru_date": "2026-01-03 00:00:00"});
    record(&kit, RecordKind::Blackout, Some(SHOP), window).await;

    let mut watch = watching(&kit).await;
    // Location 2 is slow in the mean of its last ten minutes, 1 is not; what failed or is older counts nothing.
    checked(&kit, 1, 5, &[1000, 1900], Outcome::Ok).await;
    checked(&kit, 2, 5, &[1000, 2100], Outcome::Warning).await;
    checked(&kit, 1, 30, &[9000; 10], Outcome::Ok).await;
    checked(&kit, 1, 3, &[60_000], Outcome::Error).await;
    watch.evaluate().await.unwrap();
    let first = [(ERROR, both, 2), (ERROR, errors, 2)];
    assert_eq!(told(&kit).await, first);
    assert!(watch.is_active(alert) && kit.accounts.active_performance_alerts().is_active(alert));

    let content = kit.store.notifications(NotificationFilter::default(), ALL).await.unwrap().items[0]
        .message
        .content
        .clone();
    assert_eq!(content.status_text, "mean time of 10 min is 1.550 s, over 1.500 s");
    assert_eq!((content.location.as_str(), content.target.as_str()), ("south", "https://a.example/"));
    assert_eq!((&content.extra["level"], content.errcount), (&json!("warning"), 1));
    assert_eq!(content.alert_note, "call anna");

    watch.evaluate().await.unwrap();
    let mut again = watching(&kit).await;
    again.evaluate().await.unwrap();
    assert_eq!(told(&kit).await, first, "told once");
    // Nothing in the window: neither slow nor quick.
    kit.clock.advance(Duration::from_hours(1));
    again.evaluate().await.unwrap();
    assert_eq!(told(&kit).await, first);
    checked(&kit, 2, 2, &[1500], Outcome::Ok).await;
    again.evaluate().await.unwrap();
    again.evaluate().await.unwrap();
    assert_eq!(told(&kit).await, [first[0], first[1], (CLEAR, both, 2)]);
    assert!(
        !watching(&kit).await.is_active(alert) && !kit.accounts.active_performance_alerts().is_active(alert),
        "kept"
    );
    // A second time is news again.
    checked(&kit, 2, 1, &[9000], Outcome::Ok).await;
    again.evaluate().await.unwrap();
    assert_eq!(told(&kit).await.len(), 5);
}

#[tokio::test]
async fn a_dynamic_limit_is_over_the_mean_of_the_days_before() {
    let kit = Kit::new().await;
    kit.monitor(SHOP, CustomerId(1), json!({}));
    let who = recipient(&kit, "a", true, true).await;
    let fields = json!({"type": "dynamic", "threshold": 50, "days": 2, "window": 15, "enabled": true});
    record(&kit, RecordKind::PerformanceAlert, Some(SHOP), fields).await;
    // 1 s for hours; older than two days, much slower.
    checked(&kit, 1, 60 * 24 * 3, &[20_000; 60], Outcome::Ok).await;
    checked(&kit, 1, 300, &[1000; 240], Outcome::Ok).await;
    checked(&kit, 1, 5, &[1499], Outcome::Ok).await;
    let mut watch = watching(&kit).await;
    // Before anything is rolled up nothing is known of the days before.
    watch.evaluate().await.unwrap();
    assert_eq!(told(&kit).await, []);
    kit.store.roll_up(kit.clock.now()).await.unwrap();
    watch.evaluate().await.unwrap();
    assert_eq!(told(&kit).await, []);
    checked(&kit, 1, 4, &[1600], Outcome::Ok).await;
    watch.evaluate().await.unwrap();
    assert_eq!(told(&kit).await, [(ERROR, who, 1)]);
}

#[tokio::test]
async fn what_is_watched_no_more_is_over_without_a_word() {
    let kit = Kit::new().await;
    kit.monitor(SHOP, CustomerId(1), json!({}));
    recipient(&kit, "a", true, true).await;
    let fields = json!({"type": "static", "threshold": 1, "window": 15, "enabled": true});
    let alert = record(&kit, RecordKind::PerformanceAlert, Some(SHOP), fields).await;
    let step = json!({"type": "static", "threshold": 1, "window": 15, "enabled": true, "step": 2});
    record(&kit, RecordKind::PerformanceAlert, Some(SHOP), step).await;
    checked(&kit, 1, 5, &[2000], Outcome::Ok).await;
    let mut watch = watching(&kit).await;
    watch.evaluate().await.unwrap();
    assert!(watch.is_active(alert));
    // Just after a start monitors are not read yet: that ends nothing.
    kit.monitors.apply(Vec::new(), &[MonitorId(SHOP)]);
    watch.evaluate().await.unwrap();
    assert!(watch.is_active(alert));
    kit.monitor(SHOP, CustomerId(1), json!({"enabled": false}));
    watch.evaluate().await.unwrap();
    assert!(!watch.is_active(alert));
    assert_eq!(told(&kit).await.len(), 1);
    assert_eq!(kit.clock.now(), Timestamp::from_seconds(NOON));
}
