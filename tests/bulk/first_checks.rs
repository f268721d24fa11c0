//! Which changes request a first check, however they are made.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType};
use vigie::service::MonitorDefinition;
use vigie::service::{ApplyOptions, monitors};

use crate::bulk::support::edit;
use crate::monitors::harness::{Harness, admin, website};

/// Takes the requested first checks: monitor, and revision that is checked.
fn take(harness: &Harness) -> Vec<(MonitorId, i64)> {
    let requested = std::mem::take(&mut *harness.planner.first_checks.lock().unwrap());
    requested.into_iter().map(|(id, revision)| (id, revision.0)).collect()
}

fn entry(key: &str, values: Value) -> MonitorDefinition {
    MonitorDefinition { key: key.to_owned(), monitor_type: MonitorType::Website, body: website(values) }
}

async fn apply(harness: &Harness, entries: Vec<MonitorDefinition>, dry_run: bool) -> Vec<Option<MonitorId>> {
    let options = ApplyOptions { dry_run, prune: false };
    let changes = monitors::apply(&harness.monitors, &admin(), entries, options).await.unwrap();
    changes.iter().map(|change| change.id).collect()
}

#[tokio::test]
async fn creates_and_edits_of_what_is_checked_request_one() {
    let harness = Harness::new();
    let id = harness.create_monitor(json!({"realm_password": "one"})).await;
    assert_eq!(take(&harness), [(id, 1)]);
    for same in [
        json!({"name": "market"}),
        json!({"note": "n", "alert_note": "a", "billing_plancode": "q"}),
        json!({"interval": 10, "timeout": 20, "retry_on_failure": false, "mode": "Primary"}),
        json!({"locations": [{"id": 2}], "home_location": 2}),
        json!({"notify_on_error": false, "notify_on_content_change": true, "traceroute_on_error": false}),
        json!({"realm_password": "********"}),
    ] {
        harness.patch(id, same.clone()).await.unwrap();
        assert_eq!(take(&harness), [], "{same}");
    }
    for (revision, other) in (7..).zip([
        json!({"url": "http://shop.test/basket"}),
        json!({"keyword_string": "sold out"}),
        json!({"realm_password": "two"}),
        json!({"name": "shop", "port": 8443}),
    ]) {
        harness.patch(id, other.clone()).await.unwrap();
        assert_eq!(take(&harness), [(id, revision)], "{other}");
    }
}

#[tokio::test]
async fn apply_and_bulk_edits_request_those_of_the_monitors_that_they_change() {
    let harness = Harness::new();
    let entries = || vec![entry("a", json!({"name": "A"})), entry("b", json!({"name": "B"}))];
    apply(&harness, entries(), true).await;
    assert_eq!(take(&harness), [], "nothing is applied");
    let ids: Vec<MonitorId> = apply(&harness, entries(), false).await.into_iter().flatten().collect();
    assert_eq!(take(&harness), [(ids[0], 1), (ids[1], 1)]);
    apply(&harness, entries(), false).await;
    assert_eq!(take(&harness), []);
    let changed = vec![
        entry("a", json!({"name": "A", "note": "n"})),
        entry("b", json!({"name": "B", "url": "http://b.test/"})),
    ];
    apply(&harness, changed, false).await;
    assert_eq!(take(&harness), [(ids[1], 2)]);
    monitors::bulk_edit(&harness.monitors, &admin(), &edit(&ids, json!({"interval": 20}))).await.unwrap();
    assert_eq!(take(&harness), [], "a bulk edit says how monitors run");
}
