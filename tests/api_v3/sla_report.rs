//! SLA reports: figures, goals, budgets, periods, CSV, and access to them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use vigie::domain::{
    CheckId, CheckResult, ConfigRecordKind, CustomerId, LocationId, MonitorId, Outcome, PageLoad, Role,
    RunId, Timestamp, UserId,
};
use vigie::service::{Caller, EntryPoint};
use vigie::store::{
    AlertChanges, CheckSuppression, ConfigChange, ConfigStore, Ingest, IngestBatch, NewConfigRecord,
    ResultKey,
};

use crate::support::app::{App, Client, NOON, result, website};

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;

async fn record(app: &App, kind: ConfigRecordKind, assoc: i64, fields: Value) -> i64 {
    let Value::Object(fields) = fields else { panic!("{fields} is not an object") };
    let record = NewConfigRecord {
        kind,
        customer: Some(vigie::domain::CustomerId(1)),
        parent_id: Some(assoc),
        unique_key: None,
        created_at: Timestamp::from_seconds(NOON - 86_400),
        created_by: "test".to_owned(),
        fields,
        private_data: None,
    };
    let id = app.store.write_changes(vec![ConfigChange::CreateRecord(record)], Vec::new()).await.unwrap()[0];
    app.state.monitor_service.account_cache().invalidate_all();
    id
}

/// Creates a monitor with one run a minute from `from` seconds before noon on. Each group of letters in `runs` is a
/// run, each letter a location from 1 on: `k` ok, `e` error, `m` missed, `u` unknown, `b` blackout, `s` suppressed
/// error, `.` none. A check takes as many seconds as the id of its location.
async fn create_checked(app: &App, user: &Client, from: i64, runs: &str) -> i64 {
    let id = user.post("/monitors/website", website("Shop", json!({"interval": 1}))).await.id();
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    let mut results: Vec<CheckResult> = Vec::new();
    let mut alert_changes = AlertChanges::default();
    for (minute, run) in (0..).zip(runs.split_whitespace()) {
        for (location, letter) in (1_i64..).zip(run.chars()).filter(|(_, letter)| *letter != '.') {
            let outcome = match letter {
                'k' => Outcome::Ok,
                'e' | 's' => Outcome::Error,
                'm' => Outcome::Missed,
                'b' => Outcome::Blackout,
                _ => Outcome::Unknown,
            };
            let planned_at = Timestamp::from_seconds(NOON - from + minute * MINUTE);
            let run_id = RunId::new(monitor.id, planned_at);
            let location_id = LocationId(location);
            if letter == 's' {
                let check_id = CheckId::new(run_id, location_id);
                let result_key = ResultKey { check_id, monitor_id: monitor.id, location_id, planned_at };
                alert_changes
                    .checks_suppressed_by_dependency
                    .push(CheckSuppression { result_key, suppressed_by: vec![MonitorId(77)] });
            }
            results.push(CheckResult {
                check_id: CheckId::new(run_id, location_id),
                run_id,
                planned_at,
                duration_us: location.unsigned_abs() * 1_000_000,
                captures: Vec::new(),
                ..result(&monitor, location_id, outcome)
            });
        }
    }
    let commit = IngestBatch { results, location_states: Vec::new(), alert_changes };
    app.store.commit(commit).await.unwrap();
    id
}

fn fields_of(object: &Value, names: &[&str]) -> BTreeMap<String, Value> {
    names.iter().map(|name| ((*name).to_owned(), object[*name].clone())).collect()
}

fn to_map(object: Value) -> BTreeMap<String, Value> {
    let fields: Map<String, Value> = object.as_object().unwrap().clone();
    fields.into_iter().collect()
}

#[tokio::test]
async fn runs_that_a_blackout_suppressed_are_counted_as_blackout() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let monitor =
        create_checked(&app, &user, HOUR, &("k ".repeat(20) + &"b ".repeat(10) + &"k ".repeat(30))).await;
    let window = json!({"type": "Monitor", "persistent": false,
        "from_date": "2026-11-20 11:20:00", "thru_date": "2026-11-20 11:30:00"});
    record(&app, ConfigRecordKind::Blackout, monitor, window).await;
    let sla = record(&app, ConfigRecordKind::Sla, monitor, json!({"name": "Gold", "availability": 95})).await;
    let report = user.get(&format!("/slas/{sla}/report?from=2026-11-20T11:00:00Z&by=hour")).await.expect(200);
    let names = ["ok", "blackout", "excluded", "missed"];
    let expected = to_map(json!({"ok": 50, "blackout": 10, "excluded": 0, "missed": 0}));
    assert_eq!(fields_of(&report["total"], &names), expected);
    assert_eq!(fields_of(&report["pieces"][0], &names), expected);
    assert_eq!(report["counted_s"], 3000, "the blackout is not counted time");
}

#[tokio::test]
async fn suppressed_errors_count_as_errors_and_are_shown_beside() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let monitor = create_checked(&app, &user, HOUR, "k e s ks k").await;
    let sla = record(&app, ConfigRecordKind::Sla, monitor, json!({"name": "Gold", "availability": 95})).await;
    let path = format!("/slas/{sla}/report");
    let report = user.get(&format!("{path}?from=2026-11-20T11:00:00Z&by=hour")).await.expect(200);
    let names = ["ok", "error", "suppressed", "runs_down"];
    let expected = to_map(json!({"ok": 3, "error": 3, "suppressed": 2, "runs_down": 2}));
    assert_eq!(fields_of(&report["total"], &names), expected);
    let csv = user.get(&format!("{path}.csv?from=2026-11-20T11:00:00Z&by=hour")).await;
    assert!(csv.text.lines().last().unwrap().contains(",3,0,3,0,0,0,0,2,"), "{}", csv.text);
    let results = user.get(&format!("/results?monitor_id={monitor}")).await.expect(200);
    let suppressed = results["results"].as_array().unwrap().iter();
    let suppressed: Vec<_> = suppressed.filter_map(|result| result.get("suppressed_by")).collect();
    assert_eq!(suppressed, [&json!([77]), &json!([77])]);
}

#[tokio::test]
async fn the_budgets_of_a_page_are_those_of_the_report_of_the_month() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let monitor = create_checked(&app, &user, HOUR, &("k ".repeat(39) + "e m k")).await;
    let agreed = json!({"name": "Gold", "availability": 95.0, "response_time": 2});
    let sla = record(&app, ConfigRecordKind::Sla, monitor, agreed).await;
    let report = user.get(&format!("/slas/{sla}/report?by=day")).await.expect(200);
    let (reader, now) = (&app.state.monitor_reader, Timestamp::from_seconds(NOON));
    let caller = |customer: i64, role: Role| Caller {
        customer: CustomerId(customer),
        user_id: UserId(5),
        login: "ann".into(),
        role,
        token_scopes: None,
        client_address: None,
        entry_point: EntryPoint::Pages,
    };
    let monitor = reader.monitor(MonitorId(monitor)).unwrap();
    let budgets = reader.error_budgets(&caller(1, Role::ReportOnly), &monitor, now).await.unwrap();
    let [budgets] = budgets.as_slice() else { panic!("{budgets:?}") };
    assert_eq!((budgets.sla_id, budgets.name.as_str()), (sla, "Gold"));
    assert_eq!(json!(budgets.from.to_string()), report["from"]);
    let goals = budgets.goals.as_ref().unwrap();
    assert_eq!(goals.iter().map(|goal| goal.name).collect::<Vec<_>>(), ["availability", "response_time"]);
    // 40 passed of 41, of which 5 % may fail: 1 of 2.05.
    assert_eq!(json!(goals[0].left_percent), report["goals"][0]["budget"]["left_percent"]);
    assert_eq!(goals[0].left_percent.map(f64::round), Some(51.0));
    let counted_s = report["counted_s"].as_f64().unwrap();
    let left_s = goals[0].left_s.unwrap();
    assert!((left_s / (counted_s * 0.05) - 0.512).abs() < 0.001, "{left_s} of {counted_s}");
    let stranger = reader.error_budgets(&caller(2, Role::Admin), &monitor, now).await.unwrap();
    assert!(stranger.is_empty(), "another account sees the agreement");
}

#[tokio::test]
async fn a_report_shows_figures_goals_and_budgets() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let runs = "kk ".repeat(15) + "ke ee em uu " + &"kk ".repeat(11);
    let monitor = create_checked(&app, &user, HOUR, &runs).await;
    let agreed = json!({"name": "Gold", "availability": 95.0, "uptime": 90, "response_time": 1.4});
    let sla = record(&app, ConfigRecordKind::Sla, monitor, agreed).await;

    let reader = app.login(Role::ReportOnly).await;
    let path = format!("/slas/{sla}/report");
    let report = reader.get(&format!("{path}?from=2026-11-20T10:00:00Z&by=hour")).await.expect(200);
    assert_eq!(
        (&report["name"], &report["monitor_name"], &report["by"]),
        (&json!("Gold"), &json!("Shop"), &json!("hour"))
    );
    assert_eq!(
        (&report["from"], &report["thru"]),
        (&json!("2026-11-20T10:00:00Z"), &json!("2026-11-20T12:00:00Z"))
    );
    assert_eq!(report["counted_s"], 7200);
    let figures = [
        "runs_up",
        "runs_down",
        "ok",
        "error",
        "unknown",
        "missed",
        "excluded",
        "uptime_percent",
        "availability_percent",
        "response_time",
    ];
    let expected = json!({
        "runs_up": 27, "runs_down": 2, "ok": 53, "error": 4, "unknown": 2, "missed": 1, "excluded": 0,
        // 27 of 29, 53 of 57, rounded down; the mean of 1 s and 2 s.
        "uptime_percent": 93.103, "availability_percent": 92.982, "response_time": 1.5,
    });
    assert_eq!(fields_of(&report["total"], &figures), to_map(expected));
    let goals = report["goals"].as_array().unwrap();
    let met: Vec<_> = goals.iter().map(|goal| (goal["goal"].as_str().unwrap(), &goal["met"])).collect();
    assert_eq!(
        met,
        [("availability", &json!(false)), ("uptime", &json!(true)), ("response_time", &json!(false))]
    );
    // Of 57 checks 5 % may fail; 4 did, all of them in the last hour.
    let budget = &goals[0]["budget"];
    assert_eq!(
        fields_of(budget, &["allowed", "used", "left_percent", "burn_rate"]),
        to_map(json!({
            "allowed": 2.85, "used": 4, "left_percent": -40.351, "burn_rate": 1.404,
        }))
    );
    assert_eq!((&budget["burn_rate_1h"], &budget["burn_rate_6h"]), (&json!(1.404), &Value::Null));
    assert_eq!(goals[2].get("budget"), None);
    let periods: Vec<_> = report["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|period| (&period["period"], &period["error"]))
        .collect();
    assert_eq!(periods, [(&json!("2026-11-20 10:00"), &json!(0)), (&json!("2026-11-20 11:00"), &json!(4))]);
    let locations: Vec<_> =
        report["locations"].as_array().unwrap().iter().map(|at| (&at["name"], &at["error"])).collect();
    assert_eq!(locations, [(&json!("Home"), &json!(2)), (&json!("Away"), &json!(2))]);

    let csv = reader.get(&format!("{path}.csv?from=2026-11-20T10:00:00Z&by=hour")).await;
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
    let lines: Vec<&str> = csv.text.split("\r\n").collect();
    assert_eq!(lines.len(), 5, "{}", csv.text);
    assert_eq!(
        lines[1],
        "2026-11-20 10:00,2026-11-20T10:00:00Z,2026-11-20T11:00:00Z,,,,0,0,0,0,0,0,0,0,0,0,,,,,"
    );
    let (total, percentiles) = lines[3].split_at(lines[3].match_indices(',').nth(15).unwrap().0);
    assert_eq!(
        total,
        "total,2026-11-20T10:00:00Z,2026-11-20T12:00:00Z,93.103,92.982,1.5,27,2,53,0,4,2,1,0,0,0"
    );
    // Of 27 checks of 1 s and 26 of 2 s, exact to 1 %.
    let names = ["p50", "p75", "p90", "p95", "p99"].map(|name| format!("response_time_{name}"));
    let of_total = names.map(|name| report["total"][&name].as_f64().unwrap());
    for (found, want) in of_total.into_iter().zip([1.0, 2.0, 2.0, 2.0, 2.0]) {
        assert!((found - want).abs() <= want * 0.0101, "{found} is not {want}");
    }
    assert_eq!(percentiles, of_total.map(|seconds| format!(",{seconds}")).concat());
    assert_eq!(report["pieces"][0]["response_time_p99"], Value::Null);

    let other = app.account("Other").await;
    app.login_to(other, Role::Admin).await.get(&path).await.refused(404);
    app.anonymous().get(&path).await.refused(401);
    reader.get("/slas/999999/report").await.refused(404);
}

#[tokio::test]
async fn full_page_times_count_with_use_fullpage_time() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({"interval": 1}))).await.id();
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    // Three runs of 1 s, one of them with a full page of 4 s; the time of a failed run does not count.
    let runs = [(Outcome::Ok, 0), (Outcome::Ok, 4), (Outcome::Warning, 0), (Outcome::Error, 9)];
    let results = (0..).zip(runs).map(|(minute, (outcome, seconds))| {
        let planned_at = Timestamp::from_seconds(NOON - HOUR + minute * MINUTE);
        let mut result = result(&monitor, LocationId(1), outcome);
        result.run_id = RunId::new(monitor.id, planned_at);
        result.check_id = CheckId::new(result.run_id, LocationId(1));
        (result.planned_at, result.duration_us, result.captures) = (planned_at, 1_000_000, Vec::new());
        let page = PageLoad { duration_us: seconds * 1_000_000, ..PageLoad::default() };
        result.details.page_load = (seconds > 0).then(|| Box::new(page));
        result
    });
    let commit = IngestBatch {
        results: results.collect(),
        location_states: Vec::new(),
        alert_changes: AlertChanges::default(),
    };
    app.store.commit(commit).await.unwrap();
    let body = json!({"monitor_id": id, "name": "Gold", "response_time": 1.5});
    let sla = user.post("/slas", body).await.id();
    for (counts, reached, met) in [(false, 1.0, true), (true, 2.0, false)] {
        user.patch(&format!("/slas/{sla}"), json!({"use_fullpage_time": counts})).await.expect(200);
        let report = user.get(&format!("/slas/{sla}/report?from=2026-11-20T10:00:00Z")).await.expect(200);
        assert_eq!(report["total"]["response_time"], json!(reached), "{counts}");
        assert_eq!(report["locations"][0]["response_time"], json!(reached), "{counts}");
        let goal = &report["goals"][0];
        assert_eq!((&goal["reached"], &goal["met"]), (&json!(reached), &json!(met)), "{counts}");
    }
}

#[tokio::test]
async fn operating_periods_exclusions_and_blackouts_do_not_count() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    // 2026-11-20 is a Friday, day 6. An hour of failures before noon, two locations.
    let monitor = create_checked(&app, &user, HOUR, &"ee ".repeat(60)).await;
    let sla = record(
        &app,
        ConfigRecordKind::Sla,
        monitor,
        json!({
            "name": "Office", "availability": 99.9,
            "operating_periods": [
                {"exclude": false, "from_day": 6, "from_time": "11:00", "thru_day": 6, "thru_time": "11:50"},
                {"exclude": true, "from_day": 6, "from_time": "11:10", "thru_day": 6, "thru_time": "11:20"},
            ],
            "exclusions": [
                {"from_date": "2026-11-20 11:20:00", "thru_date": "2026-11-20 11:30:00", "note": "move"},
                {"from_date": "2026-11-20 11:00:00", "thru_date": "2026-11-20 11:05:00", "location_id": 2},
            ],
        }),
    )
    .await;
    for (kind, from, thru) in
        [("Monitor", "11:30", "11:35"), ("Alert", "11:34", "11:40"), ("Notifier", "11:40", "11:50")]
    {
        let body = json!({"type": kind, "from_date": format!("2026-11-20 {from}:00"), "thru_date": format!("2026-11-20 {thru}:00")});
        record(&app, ConfigRecordKind::Blackout, monitor, body).await;
    }
    let report = user.get(&format!("/slas/{sla}/report")).await.expect(200);
    // Counted: 11:00 to 11:10 and 11:40 to 11:50, and 40 minutes of both earlier Fridays of the month.
    assert_eq!(report["counted_s"], (20 + 2 * 40) * MINUTE);
    assert_eq!((&report["total"]["error"], &report["total"]["excluded"]), (&json!(35), &json!(85)));
    assert_eq!((&report["by"], &report["from"]), (&json!("day"), &json!("2026-11-01T00:00:00Z")));
    let kinds: Vec<_> =
        report["blackouts"].as_array().unwrap().iter().map(|blackout| &blackout["type"]).collect();
    assert_eq!(kinds, ["Monitor", "Alert"]);
}

#[tokio::test]
async fn invalid_report_queries_are_refused() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let monitor = create_checked(&app, &user, HOUR, "kk").await;
    let sla = record(&app, ConfigRecordKind::Sla, monitor, json!({"name": "Gold"})).await;
    for (query, text) in [
        ("from=2026-11-21T00:00:00Z", "`from` must be before `thru`"),
        ("from=2026-11-20T10:00:00Z&thru=2026-11-20T09:00:00Z", "`from` must be before `thru`"),
        ("from=2026-01-01T00:00:00Z&by=hour", "more than 1000 periods"),
        ("by=week", "`by` must be one of `hour`, `day`, `month`, not `week`"),
        ("form=x", "`form`"),
    ] {
        let messages = user.get(&format!("/slas/{sla}/report?{query}")).await.refused(400);
        assert!(messages[0].contains(text), "{query}: {messages:?}");
    }
    let report = user.get(&format!("/slas/{sla}/report?by=month")).await.expect(200);
    assert_eq!(report["goals"], json!([]));
    assert_eq!(report["pieces"].as_array().unwrap().len(), 11);
}

/// Resolves a `$ref` of `schema`.
fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(name) => document.pointer(name.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// Compares `actual` with `schema`, key by key.
fn compare(document: &Value, schema: &Value, actual: &Value, at: &str) {
    let schema = resolve(document, schema);
    match actual {
        Value::Object(fields) => {
            let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{at}: {schema}"));
            for (name, value) in fields {
                let of = properties.get(name).unwrap_or_else(|| panic!("{at}.{name} is not described"));
                compare(document, of, value, &format!("{at}.{name}"));
            }
            for name in schema["required"].as_array().unwrap() {
                assert!(fields.contains_key(name.as_str().unwrap()), "{at}.{name} is missing");
            }
        }
        Value::Array(items) => {
            assert!(!items.is_empty(), "{at} shows nothing");
            for item in items {
                compare(document, &schema["items"], item, at);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn the_document_describes_every_key_of_a_report() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let monitor = create_checked(&app, &user, HOUR, "kk ke ee").await;
    let agreed = json!({"name": "Gold", "availability": 95.0, "uptime": 90, "response_time": 1.4});
    let sla = record(&app, ConfigRecordKind::Sla, monitor, agreed).await;
    let blackout =
        json!({"type": "Alert", "from_date": "2026-11-20 00:00:00", "thru_date": "2026-11-20 01:00:00"});
    record(&app, ConfigRecordKind::Blackout, monitor, blackout).await;
    record(
        &app,
        ConfigRecordKind::Event,
        monitor,
        json!({"event": "deploy", "description": "d", "quantity": 1}),
    )
    .await;
    let path = format!("/slas/{sla}/report?from=2026-11-19T00:00:00Z");
    let report = user.get(&path).await.expect(200);
    let document = user.get("/openapi.json").await.expect(200);
    let response = &document["paths"]["/slas/{id}/report"]["get"]["responses"]["200"];
    compare(&document, &response["content"]["application/json"]["schema"], &report, "report");
}

#[tokio::test]
async fn results_read_in_several_batches_are_counted_once() {
    let app = App::start_quick().await;
    let user = app.login(Role::PowerUser).await;
    // 20,000 results are read at a time: the last run of the first batch is cut between its locations.
    let minutes = 7_000;
    let monitor = create_checked(&app, &user, minutes * MINUTE, &"kke ".repeat(7_000)).await;
    let sla = record(&app, ConfigRecordKind::Sla, monitor, json!({"name": "Gold", "uptime": 100})).await;
    let report = user.get(&format!("/slas/{sla}/report?from=2026-11-01T00:00:00Z")).await.expect(200);
    let total = &report["total"];
    assert_eq!((&total["runs_up"], &total["runs_down"]), (&json!(minutes), &json!(0)));
    assert_eq!((&total["ok"], &total["error"]), (&json!(2 * minutes), &json!(minutes)));
    assert_eq!((&total["uptime_percent"], &report["goals"][0]["met"]), (&json!(100.0), &json!(true)));
    let by_day: u64 =
        report["pieces"].as_array().unwrap().iter().map(|day| day["ok"].as_u64().unwrap()).sum();
    assert_eq!(by_day, 14_000);
}

#[tokio::test]
async fn only_settled_runs_are_counted() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    // At 11:59, only one of the two locations has reported.
    let monitor = create_checked(&app, &user, 3 * MINUTE, "kk kk e. ke").await;
    let body = json!({"mode": "SLA (MultiPOP)", "locations": [{"id": 1}, {"id": 2}]});
    user.patch(&format!("/monitors/website/{monitor}"), body).await.expect(200);
    let body = json!({"monitor_id": monitor, "name": "Gold", "uptime": 99});
    let sla = user.post("/slas", body).await.id();
    app.clock.advance(std::time::Duration::from_secs(1));
    let counts = async |user: &Client| {
        let report = user.get(&format!("/slas/{sla}/report?from=2026-11-20T11:00:00Z")).await.expect(200);
        fields_of(&report["total"], &["ok", "error", "runs_up", "runs_down"])
    };
    // The run of noon has reported whole, the one before is still awaited.
    let early = to_map(json!({"ok": 5, "error": 1, "runs_up": 3, "runs_down": 0}));
    assert_eq!(counts(&user).await, early);
    app.clock.advance(std::time::Duration::from_mins(10));
    let user = app.login(Role::PowerUser).await;
    let settled = to_map(json!({"ok": 5, "error": 2, "runs_up": 3, "runs_down": 1}));
    assert_eq!(counts(&user).await, settled);
}
