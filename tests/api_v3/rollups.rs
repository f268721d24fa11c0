//! `GET /rollups` and `vigie report`: statistics by minute, hour and day.

use std::time::Duration;

use serde_json::{Value, json};
use vigie::domain::{
    Attempt, BrowserStep, CheckDetails, CheckId, CheckResult, ContentViewResult, LocationId, MissedReason,
    MissedRuns, MonitorId, MonitorType, Outcome, PageTiming, Phase, Phases, Role, RunId, Status, StepResult,
    Timestamp,
};
use vigie::store::{AlertChanges, Housekeeping, Ingest, IngestBatch, Retention};

use crate::support::app::{App, Client, NOON, example, result, website};
use crate::support::binary::{err, out, vigie_at};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// Returns a result of monitor `id` that took `millis`, with a phase of half of it.
fn timed(app: &App, id: i64, at: i64, location: i64, outcome: Outcome, millis: u64) -> CheckResult {
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    let (planned_at, location_id) = (Timestamp::from_seconds(at), LocationId(location));
    let run_id = RunId::new(monitor.id, planned_at);
    let mut phases = Phases::default();
    phases.set(Phase::Connect, Duration::from_millis(millis / 2));
    let attempt = Attempt {
        number: 1,
        started_at: planned_at,
        duration_us: millis * 1000,
        phases,
        failure: None,
        warnings: Vec::new(),
    };
    CheckResult {
        check_id: CheckId::new(run_id, location_id),
        run_id,
        planned_at,
        started_at: planned_at,
        duration_us: millis * 1000,
        attempts: vec![attempt],
        captures: Vec::new(),
        ..result(&monitor, location_id, outcome)
    }
}

async fn store(app: &App, results: Vec<CheckResult>) {
    let batch = IngestBatch { results, location_states: Vec::new(), alert_changes: AlertChanges::default() };
    app.store.commit(batch).await.unwrap();
}

async fn rows(user: &Client, query: &str) -> Vec<Value> {
    let list = user.get(&format!("/rollups?{query}")).await.expect(200);
    list["results"].as_array().unwrap().clone()
}

/// Returns time, location and runs of each row.
fn runs(rows: &[Value]) -> Vec<(&str, u64, u64, u64)> {
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap();
    let to_tuple = |row| {
        let row: &Value = row;
        (row["at"].as_str().unwrap(), number(row, "location_id"), number(row, "ok"), number(row, "missed"))
    };
    rows.iter().map(to_tuple).collect()
}

async fn shop() -> (App, Client, i64) {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({"interval": 1}))).await.id();
    (app, user, id)
}

#[tokio::test]
async fn hours_and_days_are_read_whether_rolled_up_or_not_and_minutes_from_results() {
    let (app, user, id) = shop().await;
    let midnight = NOON - 12 * HOUR;
    let mut results = Vec::new();
    for hour in [-2, -1, 0, 11] {
        for minute in 0..4 {
            let at = midnight + hour * HOUR + minute * 60;
            results.push(timed(&app, id, at, 1, Outcome::Ok, 100));
        }
    }
    results.push(timed(&app, id, midnight - HOUR + 600, 2, Outcome::Error, 9000));
    let mut missed = timed(&app, id, midnight + 9 * HOUR + 30 * 60, 1, Outcome::Missed, 0);
    missed.attempts.clear();
    missed.missed = Some(MissedRuns {
        reason: MissedReason::ALL[0],
        run_count: 60,
        last_planned_at: Timestamp::from_seconds(midnight + 10 * HOUR + 29 * 60),
    });
    results.push(missed);
    store(&app, results).await;
    let all = |step: &str| format!("monitor_id={id}&step={step}&from=2026-11-19T00:00:00Z");
    let (by_hour, by_day) = (rows(&user, &all("hour")).await, rows(&user, &all("day")).await);
    assert_eq!(
        runs(&by_hour),
        [
            ("2026-11-19T22:00:00Z", 1, 4, 0),
            ("2026-11-19T23:00:00Z", 1, 4, 0),
            ("2026-11-19T23:00:00Z", 2, 0, 0),
            ("2026-11-20T00:00:00Z", 1, 4, 0),
            ("2026-11-20T09:00:00Z", 1, 0, 30),
            ("2026-11-20T10:00:00Z", 1, 0, 30),
            ("2026-11-20T11:00:00Z", 1, 4, 0),
        ]
    );
    assert_eq!(
        runs(&by_day),
        [
            ("2026-11-19T00:00:00Z", 1, 8, 0),
            ("2026-11-19T00:00:00Z", 2, 0, 0),
            ("2026-11-20T00:00:00Z", 1, 8, 60),
        ]
    );
    assert_eq!(
        [&by_hour[0]["mean_us"], &by_hour[0]["phases"]],
        [&json!(100_000), &json!({"connect_us": 50_000})]
    );
    let p99 = by_hour[0]["p99_us"].as_u64().unwrap();
    assert!(p99.abs_diff(100_000) <= 1000, "{p99}");
    assert_eq!(
        [&by_hour[2]["error"], &by_hour[2]["mean_us"], &by_hour[2]["phases"]],
        [&json!(1), &Value::Null, &Value::Null]
    );
    // Rolled up, up to 10 o'clock and completely, they are the same; what is rolled up needs no results.
    for until in [midnight + 10 * HOUR, NOON + HOUR, NOON + DAY] {
        app.store.roll_up(Timestamp::from_seconds(until)).await.unwrap();
        assert_eq!(rows(&user, &all("hour")).await, by_hour, "{until}");
        assert_eq!(rows(&user, &all("day")).await, by_day, "{until}");
    }
    // Both boundaries are starts of steps: the first is included, the last is not.
    let between = |from: &str, thru: &str, step: &str| {
        format!("monitor_id={id}&step={step}&from=2026-11-19T{from}Z&thru=2026-11-19T{thru}Z")
    };
    let found = rows(&user, &between("22:00:00", "23:00:00", "hour")).await;
    assert_eq!(runs(&found), [("2026-11-19T22:00:00Z", 1, 4, 0)]);
    let found = rows(&user, &between("22:00:01", "23:00:01", "hour")).await;
    assert_eq!(
        runs(&found).iter().map(|row| (row.0, row.1)).collect::<Vec<_>>(),
        [("2026-11-19T23:00:00Z", 1), ("2026-11-19T23:00:00Z", 2)]
    );
    let found = rows(&user, &between("22:01:00", "22:03:00", "minute")).await;
    assert_eq!(runs(&found), [("2026-11-19T22:01:00Z", 1, 1, 0), ("2026-11-19T22:02:00Z", 1, 1, 0)]);
    let minutes = rows(&user, &format!("monitor_id={id}&step=minute")).await;
    assert_eq!(runs(&minutes).iter().map(|row| row.3).sum::<u64>(), 60);
    // Fields, pages and locations.
    let some = rows(&user, &format!("{}&fields=p95_us,ok&location_id=2", all("day"))).await;
    assert_eq!(
        some,
        [json!({"monitor_id": id, "location_id": 2, "at": "2026-11-19T00:00:00Z", "ok": 0, "p95_us": null})]
    );
    let page = user.get(&format!("/rollups?{}&limit=2&offset=3", all("hour"))).await.expect(200);
    assert_eq!(page["metadata"]["resultset"], json!({"count": 7, "limit": 2, "offset": 3}));
    assert_eq!(page["results"], json!(by_hour[3..5]));
}

#[tokio::test]
async fn wrong_queries_and_foreign_monitors_are_refused() {
    let (app, user, id) = shop().await;
    store(&app, vec![timed(&app, id, NOON - 60, 1, Outcome::Ok, 100)]).await;
    for (query, message) in [
        ("step=hour", "`monitor_id` is required"),
        ("monitor_id=x", "`monitor_id` must be an id"),
        ("monitor_id=1&step=week", "`step` must be one of `minute`, `hour`, `day`, not `week`"),
        ("monitor_id=1&fields=ok,nonsense", "`fields` must be one or several of `ok`"),
        ("monitor_id=1&from=2026-11-20T12:00:00Z", "`from` must be before `thru`"),
        ("monitor_id=1&step=minute&from=2026-01-01T00:00:00Z", "more than 10000; request a shorter range"),
        ("monitor_id=1&form=x", "unknown parameter `form`"),
    ] {
        let messages = user.get(&format!("/rollups?{query}")).await.refused(400);
        assert!(messages.iter().any(|text| text.contains(message)), "{query}: {messages:?}");
    }
    assert_eq!(rows(&app.login(Role::ReportOnly).await, &format!("monitor_id={id}")).await.len(), 1);
    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::Admin).await;
    for step in ["minute", "hour", "day"] {
        stranger.get(&format!("/rollups?monitor_id={id}&step={step}")).await.refused(404);
    }
    user.get("/rollups?monitor_id=999999").await.refused(404);
    // The rollups of a removed monitor stay, as its results do.
    user.delete(&format!("/monitors/{id}")).await;
    assert_eq!(rows(&user, &format!("monitor_id={id}")).await.len(), 1);
}

fn browser_details(paint_ms: u64, view_status: Status) -> CheckDetails {
    let mut phases = Phases::default();
    phases.set(Phase::FirstPaint, Duration::from_millis(paint_ms));
    let timing = PageTiming {
        phases,
        first_contentful_paint_us: Some(paint_ms * 2000),
        largest_contentful_paint_us: None,
        cumulative_layout_shift: Some(0.25),
    };
    let step = StepResult {
        duration_us: 1,
        browser_step: Some(Box::new(BrowserStep { timing: Some(timing), ..BrowserStep::default() })),
        ..StepResult::new(1, "Start".to_owned(), 0)
    };
    let view = ContentViewResult {
        id: 7,
        name: "Old name".to_owned(),
        status: view_status,
        notify_on_error: false,
        duration_us: 3000,
        object_count: 5,
        decoded_bytes: 1000,
        failures: Vec::new(),
    };
    CheckDetails { steps: vec![step], content_views: vec![view], ..CheckDetails::default() }
}

#[tokio::test]
async fn browser_figures_outlive_details_and_days_are_kept_for_ever() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/browserscript", example(MonitorType::BrowserScript)).await.id();
    let browser = |at: i64, paint_ms: u64, status: Status| CheckResult {
        details: browser_details(paint_ms, status),
        ..timed(&app, id, at, 1, Outcome::Ok, 2000)
    };
    let first = NOON - 100 * DAY;
    store(&app, vec![browser(first, 100, Status::OK), browser(first + 60, 300, Status(1))]).await;
    let at = Timestamp::from_seconds(first);
    let query = |step: &str| {
        format!(
            "monitor_id={id}&step={step}&from={at}&fields=user_experience,views&thru=2026-08-13T00:00:00Z"
        )
    };
    let hour = rows(&user, &query("hour")).await;
    let experience = json!({"pages": 2, "first_paint_us": 200_000, "first_contentful_paint_us": 400_000,
        "largest_contentful_paint_us": null, "layout_shift": 0.25, "dom_load_us": null, "page_load_us": null});
    let view =
        json!({"id": 7, "name": null, "runs": 2, "errors": 1, "mean_us": 3000, "objects": 5, "bytes": 1000});
    assert_eq!([&hour[0]["user_experience"], &hour[0]["views"]], [&experience, &json!([view])]);
    app.store.roll_up(at + Duration::from_hours(48)).await.unwrap();
    assert_eq!(rows(&user, &query("hour")).await, hour);
    // The details are removed; a late result does not remove what was rolled up of them.
    let day = Duration::from_hours(24);
    let retention = |results: u32, hourly: u32| Retention {
        results: day * results,
        details_ok: day,
        details_failed: day,
        hourly_rollups: day * hourly,
        daily_rollups: None,
        audit_entries: day,
    };
    let now = app.state.clock.now();
    app.store.apply_retention(retention(900, 900), now).await.unwrap();
    store(&app, vec![timed(&app, id, first + 120, 1, Outcome::Ok, 8000)]).await;
    app.store.roll_up(at + Duration::from_hours(48)).await.unwrap();
    let late = rows(&user, &format!("monitor_id={id}&from={at}&thru=2026-08-13T00:00:00Z")).await;
    assert_eq!(
        [&late[0]["ok"], &late[0]["user_experience"], &late[0]["views"]],
        [&json!(3), &experience, &json!([view])]
    );
    // Results and hours go at their time; days stay.
    app.store.apply_retention(retention(90, 90), now).await.unwrap();
    assert_eq!(rows(&user, &query("minute")).await, Vec::<Value>::new());
    assert_eq!(rows(&user, &query("hour")).await, Vec::<Value>::new());
    let kept = format!("monitor_id={id}&step=day&from=2026-08-12T00:00:00Z");
    app.store.apply_retention(retention(90, 90), now + day * 20_000).await.unwrap();
    let kept = rows(&user, &kept).await;
    assert_eq!([&kept[0]["ok"], &kept[0]["user_experience"]], [&json!(3), &experience]);
}

#[tokio::test]
async fn a_report_is_printed_in_the_terminal() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({"interval": 1}))).await.id();
    store(
        &app,
        vec![
            timed(&app, id, NOON - HOUR, 1, Outcome::Ok, 100),
            timed(&app, id, NOON - HOUR, 2, Outcome::Error, 1),
        ],
    )
    .await;
    let url = app.serve().await;
    let run = async |args: &[&str]| {
        let range = ["--from", "2026-11-20", "--thru", "2026-11-20T12:00:00Z"];
        let args = [&["report"], args, &range[..]].concat();
        let output = vigie_at(&url, user.token.as_deref().unwrap(), &args).await;
        (output.status.code().unwrap(), out(&output), err(&output))
    };
    let (code, text, errors) = run(&["Shop"]).await;
    assert_eq!(code, 0, "{errors}");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..6], ["START", "(UTC)", "LOCATION", "OK", "WARNING", "ERROR"], "{text}");
    assert_eq!(
        lines[1][..10],
        ["2026-11-20", "11:00:00", "Home", "1", "0", "0", "0", "0", "0", "100.0"],
        "{text}"
    );
    assert_eq!(lines[2][2..6], ["Away", "0", "0", "1"], "{text}");
    assert!(
        text.ends_with("2 of 2 rows by hour, 2026-11-20 00:00:00 to 2026-11-20 12:00:00 (UTC)\n"),
        "{text}"
    );
    let (_, text, _) = run(&["Shop", "--location", "Home", "--show", "phases,views", "--step", "day"]).await;
    assert!(text.contains("CONNECT") && text.contains("50.0 ms"), "{text}");
    assert!(
        text.contains("No content views were recorded in this time") && text.contains("1 of 1 rows by day"),
        "{text}"
    );
    let (_, text, _) = run(&["Shop", "--json", "--step", "minute"]).await;
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!([&json[0]["ok"], &json[1]["error"]], [&json!(1), &json!(1)]);
    for (args, code, message) in [
        (&["Nothing"][..], 2, "no monitor has the id or name `Nothing`"),
        (&["Shop", "--step", "week"], 2, "[possible values: minute, hour, day]"),
        (&["Shop", "--show", "all"], 2, "a table is one of `runs`"),
        (&["Shop", "--location", "Nowhere"], 2, "no location has the id or name `Nowhere`"),
    ] {
        let (found, _, errors) = run(args).await;
        assert!(found == code && errors.contains(message), "{args:?}: {found} {errors}");
    }
    let args = ["report", "Shop", "--step", "minute", "--from", "2026-01-01"];
    let output = vigie_at(&url, user.token.as_deref().unwrap(), &args).await;
    assert!(
        output.status.code() == Some(2) && err(&output).contains("a longer `--step`"),
        "{}",
        err(&output)
    );
}
