//! `GET /usage`: checks that ran, by plan, type, location and monitor.

use std::collections::BTreeMap;

use serde_json::json;
use vigie::domain::{CheckId, CheckResult, LocationId, MonitorId, Outcome, Role, RunId, Timestamp};
use vigie::store::{AlertChanges, Housekeeping, Ingest, IngestBatch};

use crate::support::app::{App, Client, NOON, result, website};

const DAY: i64 = 86_400;

/// Stores a result of monitor `id` for each of `outcomes`, a minute apart, the first one at `first`.
async fn store_results(app: &App, id: i64, first: i64, outcomes: &[Outcome]) {
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    let to_result = |(minute, outcome): (i64, &Outcome)| {
        let planned_at = Timestamp::from_seconds(first + 60 * minute);
        let (run_id, location_id) = (RunId::new(monitor.id, planned_at), LocationId(1 + minute % 2));
        CheckResult {
            check_id: CheckId::new(run_id, location_id),
            run_id,
            planned_at,
            captures: Vec::new(),
            ..result(&monitor, location_id, *outcome)
        }
    };
    let results: Vec<_> = (0..).zip(outcomes).map(to_result).collect();
    let batch = IngestBatch { results, location_states: Vec::new(), alert_changes: AlertChanges::default() };
    app.store.commit(batch).await.unwrap();
}

/// Returns the checks by key.
async fn usage(user: &Client, query: &str) -> BTreeMap<String, u64> {
    let report = user.get(&format!("/usage?{query}")).await.expect(200);
    let rows = report["rows"].as_array().unwrap().iter();
    let checks: BTreeMap<_, _> =
        rows.map(|row| (row["key"].as_str().unwrap().to_owned(), row["checks"].as_u64().unwrap())).collect();
    assert_eq!(report["total"], checks.values().sum::<u64>());
    checks
}

fn counts<const N: usize>(rows: [(&str, u64); N]) -> BTreeMap<String, u64> {
    rows.map(|(key, checks)| (key.to_owned(), checks)).into()
}

// row: 2.1 billing_plancode
#[tokio::test]
async fn checks_are_counted_under_the_plan_that_their_monitor_had() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let body = website("Shop", json!({"interval": 1, "billing_plancode": "gold"}));
    let id = user.post("/monitors/website", body).await.id();
    let all =
        [Outcome::Ok, Outcome::Warning, Outcome::Error, Outcome::Unknown, Outcome::Missed, Outcome::Blackout];
    store_results(&app, id, NOON - DAY, &all).await;
    user.patch(&format!("/monitors/website/{id}"), json!({"billing_plancode": "silver"})).await.expect(200);
    store_results(&app, id, NOON - 600, &[Outcome::Ok; 3]).await;
    // The same results again count once.
    store_results(&app, id, NOON - 600, &[Outcome::Ok; 3]).await;

    let reader = app.login(Role::ReportOnly).await;
    assert_eq!(usage(&reader, "").await, counts([("gold", 4), ("silver", 3)]));
    assert_eq!(usage(&reader, "by=plan&from=2026-11-20T06:00:00Z").await, counts([("silver", 3)]));
    assert_eq!(usage(&reader, "thru=2026-11-20T00:00:00Z").await, counts([("gold", 4)]));
    assert_eq!(usage(&reader, "by=type").await, counts([("website", 7)]));
    assert_eq!(usage(&reader, "by=location").await, counts([("1", 4), ("2", 3)]));
    let by_monitor = counts([(&*id.to_string(), 7)]);
    assert_eq!(usage(&reader, "by=monitor").await, by_monitor);
    // The same when hours and the day are rolled up.
    app.store.roll_up(Timestamp::from_seconds(NOON + 3600)).await.unwrap();
    assert_eq!(usage(&reader, "by=monitor").await, by_monitor);
    assert_eq!(usage(&reader, "by=monitor&thru=2026-11-20T00:00:00Z").await, counts([(&*id.to_string(), 4)]));

    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::Admin).await;
    for by in ["plan", "type", "location", "monitor"] {
        assert_eq!(usage(&stranger, &format!("by={by}")).await, BTreeMap::new());
    }
    assert_eq!(app.anonymous().get("/usage").await.refused(401).len(), 1);
}

#[tokio::test]
async fn usage_has_names_csv_and_clear_errors() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let body = website("=Shop, \"new\"", json!({"interval": 1, "billing_plancode": "a,b"}));
    let id = user.post("/monitors/website", body).await.id();
    store_results(&app, id, NOON - 600, &[Outcome::Ok; 2]).await;
    let report = user.get("/usage?by=monitor").await.expect(200);
    let expected = json!([{"key": id.to_string(), "name": "=Shop, \"new\"", "checks": 2}]);
    assert_eq!(report["rows"], expected);
    assert_eq!([&report["from"], &report["thru"]], ["2026-11-01T00:00:00Z", "2026-11-21T00:00:00Z"]);
    let csv = user.get("/usage.csv?by=monitor").await;
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
    let expected = format!("monitor,name,checks\r\n{id},\"'=Shop, \"\"new\"\"\",2\r\ntotal,,2\r\n");
    assert_eq!(csv.text, expected);
    assert!(user.get("/usage.csv").await.text.contains("\"a,b\",\"a,b\",2\r\n"));
    for (query, message) in [
        ("by=day", "`by` must be one of `plan`, `type`, `location`, `monitor`, not `day`"),
        ("from=yesterday", "`from` must be a time such as"),
        ("from=2026-11-20T00:00:00Z&thru=2026-11-20T00:00:00Z", "`from` must be before `thru`"),
        ("form=2026-11-20T00:00:00Z", "did you mean `from`?"),
    ] {
        let messages = user.get(&format!("/usage?{query}")).await.refused(400);
        assert!(messages.iter().any(|text| text.contains(message)), "{query}: {messages:?}");
    }
}
