//! Days and local times of an account in a time zone with daylight saving time.

use serde_json::{Value, json};
use vigie::domain::Role;

use crate::support::app::{App, Client, website};

const HOUR: i64 = 3600;

/// Returns an admin of an account in Berlin and a monitor of it. In 2026 the clocks there go forward on 29 March and
/// back on 25 October, each at 01:00 UTC.
async fn berlin(app: &App) -> (Client, i64) {
    let admin = app.login(Role::Admin).await;
    admin.patch("/account", json!({"time_zone": "Europe/Berlin"})).await.expect(200);
    let monitor = admin.post("/monitors/website", website("Shop", json!({}))).await.id();
    (admin, monitor)
}

/// Returns name, start and end of each day of a report.
fn days(report: &Value) -> Vec<(&str, &str, &str)> {
    let days = report["pieces"].as_array().unwrap().iter();
    days.map(|piece| {
        let field = |name: &str| piece[name].as_str().unwrap();
        (field("period"), field("from"), field("thru"))
    })
    .collect()
}

#[tokio::test]
async fn a_day_of_a_report_has_23_or_25_hours_when_clocks_change() {
    let app = App::start().await;
    let (admin, monitor) = berlin(&app).await;
    let sla =
        admin.post("/slas", json!({"monitor_id": monitor, "name": "Gold", "availability": 99})).await.id();
    let path = format!("/slas/{sla}/report?by=day");
    let spring = format!("{path}&from=2026-03-28T23:00:00Z&thru=2026-03-30T22:00:00Z");
    let report = admin.get(&spring).await.expect(200);
    assert_eq!(
        days(&report),
        [
            ("2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
            ("2026-03-30", "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z"),
        ]
    );
    assert_eq!(report["counted_s"], (23 + 24) * HOUR);
    let autumn = format!("{path}&from=2026-10-24T22:00:00Z&thru=2026-10-26T23:00:00Z");
    let report = admin.get(&autumn).await.expect(200);
    assert_eq!(
        days(&report),
        [
            ("2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
            ("2026-10-26", "2026-10-25T23:00:00Z", "2026-10-26T23:00:00Z"),
        ]
    );
    assert_eq!(report["counted_s"], (25 + 24) * HOUR);
}

/// A period from 02:00 to 03:00 on Sundays moves by an hour when the clocks go forward, so that no window is lost, and
/// lasts two hours when they go back.
#[tokio::test]
async fn an_operating_period_follows_local_time() {
    let app = App::start().await;
    let (admin, monitor) = berlin(&app).await;
    let period =
        json!({"exclude": false, "from_day": 1, "from_time": "02:00", "thru_day": 1, "thru_time": "03:00"});
    let body =
        json!({"monitor_id": monitor, "name": "Night", "availability": 99, "operating_periods": [period]});
    let sla = admin.post("/slas", body).await.id();
    let counted = async |day: &str, next: &str| {
        let path = format!("/slas/{sla}/report?from={day}%2000:00:00&thru={next}%2000:00:00");
        admin.get(&path).await.expect(200)["counted_s"].as_i64().unwrap() / HOUR
    };
    assert_eq!(counted("2026-03-22", "2026-03-23").await, 1);
    assert_eq!(counted("2026-03-29", "2026-03-30").await, 1);
    assert_eq!(counted("2026-10-25", "2026-10-26").await, 2);
}

#[tokio::test]
async fn a_pause_ends_at_the_first_occurrence_of_a_local_time() {
    let app = App::start().await;
    let (admin, monitor) = berlin(&app).await;
    let until = async |local: &str| {
        admin.post(&format!("/monitors/{monitor}/pause"), json!({"until": local})).await.expect(200);
        let path = format!("/monitors/{monitor}?select=paused_until");
        admin.get(&path).await.expect(200)["paused_until"].as_str().unwrap().to_owned()
    };
    assert_eq!(until("2027-01-15 12:00:00").await, "2027-01-15T11:00:00Z");
    assert_eq!(until("2027-07-15 12:00:00").await, "2027-07-15T10:00:00Z");
    // Skipped: the clocks go from 02:00 to 03:00.
    assert_eq!(until("2027-03-28 02:30:00").await, "2027-03-28T01:30:00Z");
    // Occurs twice: the first time counts.
    assert_eq!(until("2027-10-31 02:30:00").await, "2027-10-31T00:30:00Z");
}

#[tokio::test]
async fn a_new_time_zone_of_the_account_moves_its_blackouts_at_once() {
    let app = App::start().await;
    let (admin, monitor) = berlin(&app).await;
    let weekly = json!({"assoc_id": monitor, "type": "Monitor", "persistent": true, "start_day": 7,
        "start_time": "08:00", "end_day": 7, "end_time": "09:00"});
    let blackout = admin.post("/blackouts", weekly).await.id();
    let next = async || {
        let path = format!("/blackouts/{blackout}/occurrences?limit=1");
        admin.get(&path).await.expect(200)["results"][0]["from"].as_str().unwrap().to_owned()
    };
    assert_eq!(next().await, "2026-11-21T07:00:00Z");
    admin.patch("/account", json!({"time_zone": "Pacific/Auckland"})).await.expect(200);
    // In Auckland it is Saturday, 01:00.
    assert_eq!(next().await, "2026-11-20T19:00:00Z");
    admin.patch("/account", json!({"time_zone": "Asia/Kathmandu"})).await.expect(200);
    assert_eq!(next().await, "2026-11-21T02:15:00Z");
}
