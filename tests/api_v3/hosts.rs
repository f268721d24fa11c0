//! `/hosts`: tokens, reports, values, history; and what the checks of a host are told.

use std::io::Write;
use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use vigie::domain::{LocationId, MonitorId, ReportedStateError, Role};
use vigie::store::Housekeeping as _;

use crate::support::app::{App, Client, Reply};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn report(app: &App, sequence: u64, metrics: &Value) -> Value {
    let now = vigie::clock::Clock::now(&*app.clock).to_string();
    json!({"version": 1, "seq": sequence, "at": now, "sent_at": now, "agent_version": "0.1.0", "os": "Debian 12",
        "kernel": "6.1", "metrics": metrics})
}

/// Makes a host; returns its id and token.
async fn make_host(admin: &Client, name: &str) -> (i64, String) {
    let made = admin.post("/hosts", json!({"name": name, "address": "192.0.2.7"})).await.expect(200);
    (made["id"].as_str().unwrap().parse().unwrap(), made["token"].as_str().unwrap().to_owned())
}

async fn send(app: &App, token: &str, id: i64, body: &Value) -> Reply {
    let agent = app.anonymous().with_token(token.to_owned());
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    agent.send(Method::POST, &format!("/hosts/{id}/reports"), &headers, gzip(&body.to_string())).await
}

#[tokio::test]
async fn a_host_reports_with_its_token_alone() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let (id, token) = make_host(&admin, "db1").await;
    let (other, other_token) = make_host(&admin, "db2").await;
    let body = report(&app, 1, &json!({"load1": 0.5, "disk_used_percent{mount=\"/\"}": 95}));
    let reply = send(&app, &token, id, &body).await;
    assert_eq!((reply.status.as_u16(), reply.headers["vigie-report-seconds"].to_str().unwrap()), (204, "60"));
    // Neither that of another host, nor a login, nor a wrong secret.
    assert_eq!(send(&app, &other_token, id, &body).await.status, 404);
    assert_eq!(send(&app, admin.token.as_ref().unwrap(), id, &body).await.status, 401);
    assert_eq!(send(&app, &format!("vgh_{id}_x"), id, &body).await.status, 401);
    let host = admin.get(&format!("/hosts/{id}")).await.expect(200);
    assert_eq!((host["state"].as_str(), host["system"].as_str()), (Some("reporting"), Some("Debian 12 6.1")));
    assert!(host.get("token").is_none());
    let values = admin.get(&format!("/hosts/{id}/values")).await.expect(200);
    assert_eq!(values["results"][0]["series"], "disk_used_percent{mount=\"/\"}");
    assert_eq!((&values["results"][0]["value"], &values["results"][0]["unit"]), (&json!(95.0), &json!("%")));
    assert_eq!(admin.get(&format!("/hosts/{other}")).await.expect(200)["state"], "waiting");
    // A new token takes the place of the old one, and can be revoked.
    let renewed = admin.post(&format!("/hosts/{id}/token"), json!({})).await.expect(200);
    let renewed = renewed["token"].as_str().unwrap().to_owned();
    assert_eq!(send(&app, &token, id, &body).await.status, 401);
    assert_eq!(send(&app, &renewed, id, &body).await.status, 204);
    assert_eq!(admin.delete(&format!("/hosts/{id}/token")).await.status, 204);
    assert_eq!(send(&app, &renewed, id, &body).await.status, 401);
    assert_eq!(admin.get(&format!("/hosts/{id}")).await.expect(200)["state"], "revoked");
    let audit = admin.get("/audit?limit=2").await.expect(200).to_string();
    assert!(audit.contains("create_token") && audit.contains("revoke_token"), "{audit}");
    assert!(!String::from_utf8_lossy(&app.files()).contains(&token), "the token is stored as a hash alone");
}

#[tokio::test]
async fn hosts_belong_to_their_account_and_are_for_admins_to_change() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let (id, _) = make_host(&admin, "db1").await;
    let viewer = app.login(Role::ReadOnly).await;
    assert_eq!(viewer.get("/hosts").await.expect(200)["results"].as_array().unwrap().len(), 1);
    assert_eq!(viewer.post("/hosts", json!({"name": "x"})).await.status, 403);
    assert_eq!(viewer.post(&format!("/hosts/{id}/token"), json!({})).await.status, 403);
    let account = app.account("Other").await;
    let stranger = app.login_to(account, Role::Admin).await;
    for path in [format!("/hosts/{id}"), format!("/hosts/{id}/values"), format!("/hosts/{id}/history")] {
        assert_eq!(stranger.get(&path).await.status, 404, "{path}");
    }
    assert_eq!(stranger.delete(&format!("/hosts/{id}/token")).await.status, 404);
    assert_eq!(admin.post("/hosts", json!({"name": "db1"})).await.status, 409, "the name is taken");
    let twin = stranger.post("/hosts", json!({"name": "db1", "report_seconds": 4})).await;
    assert!(twin.status == 400 && twin.text.contains("report_seconds"), "{}", twin.text);
}

#[tokio::test]
async fn reports_that_cannot_be_used_are_refused_and_say_why() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let (id, token) = make_host(&admin, "db1").await;
    let many: serde_json::Map<String, Value> = (0..500).map(|i| (format!("m{i}"), json!(i))).collect();
    let mut future = report(&app, 1, &json!({"load1": 1}));
    future["at"] = json!("2031-01-01T00:00:00Z");
    let mut late = report(&app, 1, &json!({"load1": 1}));
    late["at"] = json!("2026-11-17T00:00:00Z");
    let mut version = report(&app, 1, &json!({}));
    version["version"] = json!(2);
    for (body, status, reason) in [
        (report(&app, 1, &json!({"load1": "high"})), 400, "load1"),
        (report(&app, 1, &json!({"1x": 1})), 400, "series"),
        (report(&app, 1, &json!(many)), 400, "more than 400 series"),
        (future, 400, "future"),
        (late, 400, "48 hours"),
        (version, 400, "version"),
        (json!({"version": 1, "metrics": "x".repeat(300_000)}), 413, "262144"),
    ] {
        let reply = send(&app, &token, id, &body).await;
        assert_eq!(reply.status.as_u16(), status, "{}", reply.text);
        if reason != "load1" {
            assert!(reply.text.contains(reason), "{reason}: {}", reply.text);
        }
    }
    let agent = app.anonymous().with_token(token.clone());
    let path = format!("/hosts/{id}/reports");
    let brotli = [("content-encoding", "br")];
    assert_eq!(agent.send(Method::POST, &path, &brotli, "x").await.status, 415);
    assert_eq!(agent.send(Method::POST, &path, &[("content-encoding", "gzip")], "x").await.status, 400);
    assert_eq!(admin.get(&format!("/hosts/{id}")).await.expect(200)["state"], "waiting");
    // A flood: the counter is that of one host.
    let body = report(&app, 7, &json!({"load1": 1}));
    let mut statuses = Vec::new();
    for _ in 0..605 {
        statuses.push(send(&app, &token, id, &body).await);
    }
    let refused = statuses.iter().filter(|reply| reply.status == 429).count();
    assert!((5..50).contains(&refused), "{refused}");
    assert!(statuses.last().unwrap().headers.contains_key("retry-after"));
}

#[tokio::test]
async fn a_wrong_clock_of_the_host_changes_nothing() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let (id, token) = make_host(&admin, "db1").await;
    let mut body = report(&app, 1, &json!({"load1": 1}));
    (body["at"], body["sent_at"]) = (json!("2001-01-01T00:00:00Z"), json!("2001-01-01T00:00:30Z"));
    assert_eq!(send(&app, &token, id, &body).await.status, 204);
    let values = admin.get(&format!("/hosts/{id}/values")).await.expect(200);
    assert_eq!(values["results"][0]["measured_at"], "2026-11-20T11:59:30Z");
}

#[tokio::test]
async fn the_history_is_read_by_metric_range_and_span() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let (id, token) = make_host(&admin, "db1").await;
    for minute in 0..12_u64 {
        let metrics = json!({"load1": minute, "disk_used_percent{mount=\"/\"}": 50, "load5": 1});
        assert_eq!(send(&app, &token, id, &report(&app, minute, &metrics)).await.status, 204);
        app.clock.advance(Duration::from_mins(1));
    }
    app.store.roll_up_hosts(vigie::clock::Clock::now(&*app.clock)).await.unwrap();
    let path = |query: &str| format!("/hosts/{id}/history?{query}");
    let loads = admin.get(&path("metric=load1")).await.expect(200);
    assert_eq!(loads["results"].as_array().unwrap().len(), 12);
    assert_eq!(loads["results"][11]["mean"], 11.0);
    let blocks = admin.get(&path("metric=load1&span=block")).await.expect(200);
    assert_eq!(blocks["results"].as_array().unwrap().len(), 2);
    let first = &blocks["results"][0];
    assert_eq!((&first["min"], &first["mean"], &first["max"]), (&json!(0.0), &json!(2.0), &json!(4.0)));
    let some =
        admin.get(&path("from=2026-11-20T12:03:00Z&thru=2026-11-20T12:05:00Z&limit=4")).await.expect(200);
    assert_eq!(some["results"].as_array().unwrap().len(), 4, "two reports of three series, limited");
    for wrong in ["span=day", "metric=1x", "metric=rate(load1)", "from=yesterday"] {
        assert_eq!(admin.get(&path(wrong)).await.status, 400, "{wrong}");
    }
}

fn monitor(fields: Value) -> Value {
    let mut body = json!({"name": "Load of db1", "billing_plancode": "x", "host_id": "db1", "interval": 1});
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

#[tokio::test]
async fn thresholds_that_watch_over_nothing_are_warned_about() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let create = async |fields: Value| admin.post("/monitors/hostagent", monitor(fields)).await;
    let unknown_host = create(json!({})).await;
    assert!(unknown_host.status == 200 && unknown_host.text.contains("no host with the id or name `db1`"));
    make_host(&admin, "db1").await;
    let warnings = |reply: &Reply| serde_json::from_str::<Value>(&reply.text).unwrap()["warnings"].clone();
    let known = warnings(&create(json!({})).await).to_string();
    assert!(!known.contains("host_id"), "{known}");
    for (fields, reason) in [
        (json!({"thresholds": [{"metric": "lod1", "error": 1}]}), "did you mean `load1`"),
        (json!({"thresholds": [{"metric": "load1{mount=\"/\"}", "error": 1}]}), "has no labels"),
        (json!({"thresholds": [{"metric": "disk_free_bytes{disk=\"/\"}", "error": 1}]}), "label `mount`"),
        (json!({"thresholds": [{"metric": "rate(load1)", "error": 1}]}), "scrape"),
        (json!({"thresholds": [{"metric": "load1{", "error": 1}]}), "metric"),
        (json!({"thresholds": [{"metric": "load1", "warning": 5, "error": 4}]}), "must be below"),
        (
            json!({"thresholds": [{"metric": "load1", "warning": 3, "error": 4, "direction": "below"}]}),
            "must be above",
        ),
        (json!({"grace": 90}), "`grace`"),
        (json!({"report": "push"}), "`host_id` is not used"),
        (
            json!({"report": "push", "host_id": null, "thresholds": [{"metric": "load1", "error": 1}]}),
            "`ping_ms` alone",
        ),
    ] {
        let reply = create(fields.clone()).await;
        let text = warnings(&reply).to_string().replace("\\\"", "\"");
        assert!(reply.status == 200 && text.contains(reason), "{fields}: {}", reply.text);
    }
    let without = create(json!({"host_id": null})).await;
    assert!(without.status == 400 && without.text.contains("`host_id` is required"), "{}", without.text);
    let scrape = json!({"report": "scrape", "thresholds": [{"metric": "rate(node_cpu_seconds_total{mode=\"user\"})", "error": 1}]});
    create(scrape).await.expect(200);
}

#[tokio::test]
async fn a_host_that_a_monitor_uses_stays() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let (id, _) = make_host(&admin, "db1").await;
    admin.post("/monitors/hostagent", monitor(json!({}))).await.expect(200);
    assert_eq!(admin.delete(&format!("/hosts/{id}")).await.status, 409);
    let renamed = admin.patch(&format!("/hosts/{id}"), json!({"name": "db9"})).await;
    assert!(renamed.status == 409 && renamed.text.contains("by its name"), "{}", renamed.text);
    admin.patch(&format!("/hosts/{id}"), json!({"report_seconds": 30})).await.expect(200);
}

#[tokio::test]
async fn a_check_is_told_the_values_of_the_last_runs_and_the_silence() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let (id, token) = make_host(&admin, "db1").await;
    let thresholds = json!([{"metric": "load1", "error": 3, "for": 3}]);
    let made =
        admin.post("/monitors/hostagent", monitor(json!({"thresholds": thresholds}))).await.expect(200);
    let monitor_id = MonitorId(made["id"].as_str().unwrap().parse().unwrap());
    let hosts = &app.state.host_service;
    let state = hosts.reported_state(monitor_id).await.unwrap();
    assert!(!state.was_reported && state.silent_us == 0 && state.overdue_after_us == 120_000_000);
    for minute in 0..4_u64 {
        app.clock.advance(Duration::from_mins(1));
        let metrics = json!({"load1": minute, "load5": 9});
        assert_eq!(send(&app, &token, id, &report(&app, minute, &metrics)).await.status, 204);
    }
    app.clock.advance(Duration::from_secs(50));
    let state = hosts.reported_state(monitor_id).await.unwrap();
    assert_eq!((state.silent_us, state.address.as_deref()), (50_000_000, Some("192.0.2.7")));
    assert_eq!(state.series.len(), 1, "only what thresholds are about");
    assert_eq!(state.series[0].values, [3.0, 2.0, 1.0]);
    // An agent of a location that the account does not have learns nothing.
    assert!(hosts.reported_state_for_location(LocationId(1), monitor_id).await.is_ok());
    let foreign = hosts.reported_state_for_location(LocationId(100_777), monitor_id).await;
    assert!(matches!(foreign, Err(ReportedStateError::NotConfigured(_))), "{foreign:?}");
}
