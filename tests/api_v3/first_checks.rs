//! First checks in the API: shown as results, and in no report.

use serde_json::{Value, json};
use vigie::domain::{
    CheckId, CheckResult, CheckTrigger, LocationId, MonitorId, Outcome, Role, RunId, Timestamp,
};
use vigie::store::{AlertChanges, Housekeeping, Ingest, IngestBatch};

use crate::support::app::{App, Client, NOON, result, website};

/// Stores results with triggers and outcomes, a minute apart, the first one an hour before noon.
async fn store_results(app: &App, id: i64, checks: &[(CheckTrigger, Outcome)]) {
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    let to_result = |(minute, (trigger, outcome)): (i64, &(CheckTrigger, Outcome))| {
        let planned_at = Timestamp::from_seconds(NOON - 3600 + 60 * minute);
        let (run_id, location_id) = (RunId::new(monitor.id, planned_at), LocationId(1));
        CheckResult {
            check_id: CheckId::new(run_id, location_id),
            run_id,
            planned_at,
            trigger: *trigger,
            captures: Vec::new(),
            ..result(&monitor, location_id, *outcome)
        }
    };
    let results: Vec<_> = (0..).zip(checks).map(to_result).collect();
    let batch = IngestBatch { results, location_states: Vec::new(), alert_changes: AlertChanges::default() };
    app.store.commit(batch).await.unwrap();
}

/// Returns the runs by hour and minute, the usage by each key, and the figures of the SLA report.
async fn reports(user: &Client, id: i64, sla: i64) -> Value {
    let rollups = async |step: &str| {
        let path = format!("/rollups?monitor_id={id}&step={step}&from=2026-11-20T11:00:00Z");
        let rows = user.get(&path).await.expect(200)["results"].as_array().unwrap().clone();
        rows.iter().map(|row| json!([row["at"], row["ok"], row["error"]])).collect::<Vec<_>>()
    };
    let (minutes, hours) = (rollups("minute").await, rollups("hour").await);
    let mut usage = Vec::new();
    for by in ["plan", "type", "location", "monitor"] {
        usage.push(user.get(&format!("/usage?by={by}")).await.expect(200)["total"].clone());
    }
    let path = format!("/slas/{sla}/report?from=2026-11-20T11:00:00Z&by=hour");
    let total = user.get(&path).await.expect(200)["total"].clone();
    json!({"minutes": minutes, "hours": hours, "usage": usage, "sla": [total["ok"], total["error"]]})
}

#[tokio::test]
async fn first_checks_are_results_and_count_in_no_report() {
    use CheckTrigger::{First, Schedule};
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({"interval": 1}))).await.id();
    let sla = json!({"monitor_id": id, "name": "Gold", "availability": 95});
    let sla = user.post("/slas", sla).await.id();
    let checks =
        [(First, Outcome::Error), (Schedule, Outcome::Ok), (First, Outcome::Ok), (Schedule, Outcome::Error)];
    store_results(&app, id, &checks).await;
    let list = user.get(&format!("/results?monitor_id={id}")).await.expect(200);
    let listed = list["results"].as_array().unwrap();
    let triggers: Vec<_> = listed.iter().map(|result| result["trigger"].as_str().unwrap()).collect();
    assert_eq!(triggers, ["schedule", "first", "schedule", "first"]);
    assert_eq!(list["metadata"]["resultset"]["count"], 4);
    let check_id = listed[1]["check_id"].as_str().unwrap();
    assert_eq!(user.get(&format!("/results/{check_id}")).await.expect(200)["trigger"], "first");
    let expected = json!({
        "minutes": [["2026-11-20T11:01:00Z", 1, 0], ["2026-11-20T11:03:00Z", 0, 1]],
        "hours": [["2026-11-20T11:00:00Z", 1, 1]],
        "usage": [2, 2, 2, 2],
        "sla": [1, 1],
    });
    assert_eq!(reports(&user, id, sla).await, expected);
    app.store.roll_up(Timestamp::from_seconds(NOON + 3600)).await.unwrap();
    assert_eq!(reports(&user, id, sla).await, expected, "rolled up");
}
