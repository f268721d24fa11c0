//! Performance alerts over a real store: raised once, cleared once, evaluated by location, kept over a restart.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use vigie::clock::Clock;
use vigie::domain::{
    CheckId, CheckResult, ConfigRecordKind, CustomerId, Facts, LocationId, MonitorId, MonitorType,
    NotificationKind, Outcome, Revision, RunId, Status, Timestamp,
};
use vigie::pipeline::{DeliveryWakeup, PerformanceDependencies, PerformanceEvaluator};
use vigie::store::{
    AlertChanges, ConfigChange, ConfigStore, Housekeeping, Ingest, IngestBatch, NewConfigRecord,
    NotificationFilter, Outbox,
};

use crate::resources::kit::{ALL, Kit, NOON, object};

const SHOP: i64 = 7;

fn dependencies(kit: &Kit) -> PerformanceDependencies {
    PerformanceDependencies {
        config_store: kit.store.clone(),
        result_store: kit.store.clone(),
        alert_store: kit.store.clone(),
        monitor_cache: kit.monitors.clone(),
        account_cache: kit.accounts.clone(),
        clock: kit.clock.clone(),
        delivery_wakeup: DeliveryWakeup::default(),
    }
}

async fn start_evaluator(kit: &Kit) -> PerformanceEvaluator {
    PerformanceEvaluator::new(dependencies(kit)).await.unwrap()
}

async fn record(kit: &Kit, kind: ConfigRecordKind, assoc: Option<i64>, fields: Value) -> i64 {
    let record = NewConfigRecord {
        kind,
        customer: Some(CustomerId(1)),
        parent_id: assoc,
        unique_key: None,
        created_at: kit.clock.now(),
        created_by: "test".to_owned(),
        fields: object(fields),
        private_data: None,
    };
    let id = kit.store.write_changes(vec![ConfigChange::CreateRecord(record)], Vec::new()).await.unwrap()[0];
    kit.accounts.invalidate_all();
    id
}

async fn recipient(kit: &Kit, name: &str, performance: bool, clear: bool) -> i64 {
    let fields = json!({
        "name": name, "recipient": "a@b.test", "method_id": 1, "availability_alert": true,
        "performance_alert": performance, "notify_on_clear": clear,
    });
    record(kit, ConfigRecordKind::Recipient, None, fields).await
}

/// Stores checks of the shop, one a minute from `ago` minutes ago on; `millis` are their durations in milliseconds.
async fn store_checks(kit: &Kit, location: i64, ago: i64, millis: &[u64], outcome: Outcome) {
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
            duration_us: millis * 1000,
            address: None,
            attempts: Vec::new(),
            facts: Facts::default(),
            details: vigie::domain::CheckDetails::default(),
            captures: Vec::new(),
            verification: None,
            suppressed_by: Vec::new(),
            trigger: vigie::domain::CheckTrigger::Schedule,
            missed: None,
        }
    };
    let results = (0..).zip(millis).map(result).collect();
    kit.store
        .commit(IngestBatch { results, location_states: Vec::new(), alert_changes: AlertChanges::default() })
        .await
        .unwrap();
}

/// Returns kind, recipient and location of every notification, oldest first.
async fn notifications(kit: &Kit) -> Vec<(NotificationKind, i64, i64)> {
    let all = kit.store.notifications(NotificationFilter::default(), ALL).await.unwrap();
    let mut notifications: Vec<_> = all
        .items
        .iter()
        .map(|row| (row.id, &row.message))
        .map(|(id, new)| (id, new.content.kind, new.recipient_id.0, new.content.location_id.unwrap().0))
        .collect();
    notifications.sort_unstable_by_key(|(id, ..)| *id);
    notifications.into_iter().map(|(_, kind, recipient, location)| (kind, recipient, location)).collect()
}

const ERROR: NotificationKind = NotificationKind::PerformanceError;
const CLEAR: NotificationKind = NotificationKind::PerformanceClear;

#[tokio::test]
async fn a_mean_over_its_limit_is_notified_and_cleared_once_over_restarts() {
    let kit = Kit::new().await;
    kit.monitor(SHOP, CustomerId(1), json!({"alert_note": "call anna"}));
    let both = recipient(&kit, "both", true, true).await;
    let errors = recipient(&kit, "errors", true, false).await;
    recipient(&kit, "neither", false, true).await;
    let fields =
        json!({"type": "static", "threshold": 1.5, "window": 10, "level": "warning", "enabled": true});
    let alert = record(&kit, ConfigRecordKind::PerformanceAlert, Some(SHOP), fields).await;
    // A blackout does not silence performance alerts.
    let blackout =
        json!({"type": "Alert", "from_date": "2026-01-01 00:00:00", "thru_date": "2026-01-03 00:00:00"});
    record(&kit, ConfigRecordKind::Blackout, Some(SHOP), blackout).await;

    let mut evaluator = start_evaluator(&kit).await;
    // The mean of the last ten minutes is over the limit at location 2 only; failed and older checks do not count.
    store_checks(&kit, 1, 5, &[1000, 1900], Outcome::Ok).await;
    store_checks(&kit, 2, 5, &[1000, 2100], Outcome::Warning).await;
    store_checks(&kit, 1, 30, &[9000; 10], Outcome::Ok).await;
    store_checks(&kit, 1, 3, &[60_000], Outcome::Error).await;
    evaluator.evaluate_all().await.unwrap();
    let first = [(ERROR, both, 2), (ERROR, errors, 2)];
    assert_eq!(notifications(&kit).await, first);
    assert!(evaluator.is_active(alert) && kit.accounts.active_performance_alerts().is_active(alert));

    let content = kit.store.notifications(NotificationFilter::default(), ALL).await.unwrap().items[0]
        .message
        .content
        .clone();
    assert_eq!(content.status_text, "mean time of 10 min is 1.550 s, over 1.500 s");
    assert_eq!((content.location_name.as_str(), content.target.as_str()), ("south", "https://a.example/"));
    assert_eq!((&content.extra["level"], content.consecutive_failures), (&json!("warning"), 1));
    assert_eq!(content.alert_note, "call anna");

    evaluator.evaluate_all().await.unwrap();
    let mut restarted = start_evaluator(&kit).await;
    restarted.evaluate_all().await.unwrap();
    assert_eq!(notifications(&kit).await, first, "told once");
    // Nothing in the window: neither raised nor cleared.
    kit.clock.advance(Duration::from_hours(1));
    restarted.evaluate_all().await.unwrap();
    assert_eq!(notifications(&kit).await, first);
    store_checks(&kit, 2, 2, &[1500], Outcome::Ok).await;
    restarted.evaluate_all().await.unwrap();
    restarted.evaluate_all().await.unwrap();
    assert_eq!(notifications(&kit).await, [first[0], first[1], (CLEAR, both, 2)]);
    assert!(
        !start_evaluator(&kit).await.is_active(alert)
            && !kit.accounts.active_performance_alerts().is_active(alert),
        "kept"
    );
    // A new excess is notified again.
    store_checks(&kit, 2, 1, &[9000], Outcome::Ok).await;
    restarted.evaluate_all().await.unwrap();
    assert_eq!(notifications(&kit).await.len(), 5);
}

#[tokio::test]
async fn a_dynamic_limit_is_relative_to_the_mean_of_the_days_before() {
    let kit = Kit::new().await;
    kit.monitor(SHOP, CustomerId(1), json!({}));
    let recipient_id = recipient(&kit, "a", true, true).await;
    let fields = json!({"type": "dynamic", "threshold": 50, "days": 2, "window": 15, "enabled": true});
    record(&kit, ConfigRecordKind::PerformanceAlert, Some(SHOP), fields).await;
    // 1 s for hours; older than two days, much slower.
    store_checks(&kit, 1, 60 * 24 * 3, &[20_000; 60], Outcome::Ok).await;
    store_checks(&kit, 1, 300, &[1000; 240], Outcome::Ok).await;
    store_checks(&kit, 1, 5, &[1499], Outcome::Ok).await;
    let mut evaluator = start_evaluator(&kit).await;
    // Without rollups the mean of the days before is unknown.
    evaluator.evaluate_all().await.unwrap();
    assert_eq!(notifications(&kit).await, []);
    kit.store.roll_up(kit.clock.now()).await.unwrap();
    evaluator.evaluate_all().await.unwrap();
    assert_eq!(notifications(&kit).await, []);
    store_checks(&kit, 1, 4, &[1600], Outcome::Ok).await;
    evaluator.evaluate_all().await.unwrap();
    assert_eq!(notifications(&kit).await, [(ERROR, recipient_id, 1)]);
}

#[tokio::test]
async fn an_alert_of_a_disabled_monitor_ends_without_a_notification() {
    let kit = Kit::new().await;
    kit.monitor(SHOP, CustomerId(1), json!({}));
    recipient(&kit, "a", true, true).await;
    let fields = json!({"type": "static", "threshold": 1, "window": 15, "enabled": true});
    let alert = record(&kit, ConfigRecordKind::PerformanceAlert, Some(SHOP), fields).await;
    let step = json!({"type": "static", "threshold": 1, "window": 15, "enabled": true, "step": 2});
    record(&kit, ConfigRecordKind::PerformanceAlert, Some(SHOP), step).await;
    store_checks(&kit, 1, 5, &[2000], Outcome::Ok).await;
    let mut evaluator = start_evaluator(&kit).await;
    evaluator.evaluate_all().await.unwrap();
    assert!(evaluator.is_active(alert));
    // Just after a start the monitors are not loaded yet: the alert stays active.
    kit.monitors.apply(Vec::new(), &[MonitorId(SHOP)]);
    evaluator.evaluate_all().await.unwrap();
    assert!(evaluator.is_active(alert));
    kit.monitor(SHOP, CustomerId(1), json!({"enabled": false}));
    evaluator.evaluate_all().await.unwrap();
    assert!(!evaluator.is_active(alert));
    assert_eq!(notifications(&kit).await.len(), 1);
    assert_eq!(kit.clock.now(), Timestamp::from_seconds(NOON));
}
