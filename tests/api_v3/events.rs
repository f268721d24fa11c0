//! Events are read as series, marked in reports and on pages, and counted.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use vigie::domain::{LocationId, MonitorId, Outcome, Role};
use vigie::store::{AlertChanges, Ingest, IngestBatch};
use vigie::web::{self, PageAuth, PageState};

use super::properties::AlwaysHealthy;
use crate::support::app::{App, Client, result, website};
use crate::support::binary::{err, out, vigie, vigie_at};

async fn report(user: &Client, event: &str, value: &str, quantity: i64) {
    let body = json!({"event": event, "description": "It happened", "value": value, "quantity": quantity});
    user.post("/events", body).await.id();
}

/// Reports events over three hours from noon on; the time is 15:00 then.
async fn filled() -> (App, Client) {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    report(&user, "deploy_done", "1.5", 2).await;
    app.clock.advance(Duration::from_mins(30));
    report(&user, "deploy_done", "4", 3).await;
    app.clock.advance(Duration::from_mins(90));
    // Its token has expired.
    let user = app.login(Role::PowerUser).await;
    report(&user, "deploy_done", "v2", 1).await;
    report(&user, "<b>sale", "", 1).await;
    app.clock.advance(Duration::from_hours(1));
    let user = app.login(Role::PowerUser).await;
    (app, user)
}

async fn series(user: &Client, query: &str) -> Value {
    user.get(&format!("/events/series?{query}")).await.expect(200)
}

#[tokio::test]
async fn values_and_quantities_of_events_are_series() {
    let (app, user) = filled().await;
    let hourly = series(&user, "").await;
    assert_eq!([&hourly["step"], &hourly["thru"]], ["hour", "2026-11-20T15:00:00Z"]);
    assert_eq!(hourly["from"], "2026-11-13T15:00:00Z");
    let point = |at: &str, events: u64, quantity: u64, values: [Value; 3]| {
        let [min, mean, max] = values;
        json!({"at": format!("2026-11-20T{at}:00Z"), "events": events, "quantity": quantity,
               "value_min": min, "value_mean": mean, "value_max": max})
    };
    let none = || [Value::Null, Value::Null, Value::Null];
    let expected = json!([
        {"event": "<b>sale", "name": "<b>sale", "points": [point("14:00", 1, 1, none())]},
        {"event": "deploy_done", "name": "Deploy done", "points": [
            point("12:00", 2, 5, [json!(1.5), json!(2.75), json!(4.0)]), point("14:00", 1, 1, none()),
        ]},
    ]);
    assert_eq!(hourly["series"], expected);
    let daily = series(&user, "event=deploy_done&step=day&thru=2026-11-20T14:00:00Z").await;
    let expected = point("00:00", 2, 5, [json!(1.5), json!(2.75), json!(4.0)]);
    assert_eq!(
        daily["series"],
        json!([{"event": "deploy_done", "name": "Deploy done", "points": [expected]}])
    );
    let minutes = series(&user, "event=deploy_done&step=minute").await;
    assert_eq!(minutes["series"][0]["points"].as_array().unwrap().len(), 3);
    assert_eq!(series(&user, "event=none").await["series"], json!([]));
    for (query, message) in [
        ("step=week", "`step` must be one of `minute`, `hour`, `day`, not `week`"),
        ("from=2026-11-21T00:00:00Z", "`from` must be before `thru`"),
        ("from=now", "`from` must be a time such as"),
        ("evnt=x", "did you mean `event`?"),
    ] {
        let messages = user.get(&format!("/events/series?{query}")).await.refused(400);
        assert!(messages.iter().any(|text| text.contains(message)), "{query}: {messages:?}");
    }
    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::Admin).await;
    assert_eq!(series(&stranger, "").await["series"], json!([]));
    assert_eq!(app.login(Role::ReportOnly).await.get("/events/series").await.refused(403).len(), 1);
    assert_eq!(app.login(Role::ReadOnly).await.get("/events/series").await.status.as_u16(), 200);
}

#[tokio::test]
async fn events_are_counted_by_type_and_one_account_does_not_take_all_types() {
    let (app, user) = filled().await;
    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::PowerUser).await;
    for number in 0..25 {
        report(&stranger, &format!("type {number}"), "", 1).await;
    }
    user.post("/events", json!({"event": "deploy_done"})).await.refused(400);
    report(&user, "later", "", 1).await;
    let metrics = app.metrics.encode();
    for line in [
        r#"vigie_events_total{event="deploy_done"} 3"#,
        r#"vigie_events_total{event="later"} 1"#,
        r#"vigie_events_total{event="type 19"} 1"#,
        r#"vigie_events_total{event="other"} 5"#,
    ] {
        assert!(metrics.contains(&format!("{line}\n")), "{line}: {metrics}");
    }
}

#[tokio::test]
async fn reports_and_pages_mark_events() {
    let (app, user) = filled().await;
    let id = user.post("/monitors/website", website("Shop", json!({"interval": 1}))).await.id();
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    // Its result is of noon, the time of the first event.
    let results = vec![result(&monitor, LocationId(1), Outcome::Ok)];
    let batch = IngestBatch { results, location_states: Vec::new(), alert_changes: AlertChanges::default() };
    app.store.commit(batch).await.unwrap();
    let sla = user.post("/slas", json!({"monitor_id": id, "name": "Gold", "uptime": 99})).await.id();
    let reader = app.login(Role::ReportOnly).await;
    let sla_report = reader.get(&format!("/slas/{sla}/report?from=2026-11-20T12:10:00Z")).await.expect(200);
    let events = sla_report["events"].as_array().unwrap();
    let names: Vec<_> = events.iter().map(|event| event["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Deploy done", "Deploy done", "<b>sale"]);
    assert_eq!(
        [&events[0]["value"], &events[0]["quantity"], &events[0]["timestamp"]],
        [&json!("4"), &json!(3), &json!("2026-11-20T12:30:00Z")]
    );
    assert_eq!(events[2]["value"], Value::Null);

    let page = async |is_public: bool, token: Option<&str>| {
        let state = PageState {
            monitor_reader: Arc::clone(&app.state.monitor_reader),
            health: Arc::new(AlwaysHealthy),
            metrics: Arc::clone(&app.metrics),
            metrics_properties: Arc::default(),
            max_monitor_series: 10,
            metrics_permits: vigie::web::metrics_permits(),
            clock: app.clock.clone(),
        };
        let auth = PageAuth { is_public, ..PageAuth::new(Arc::clone(&app.state.account_service)) };
        let mut request = Request::get(format!("/monitors/{id}")).header("host", "localhost");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Body::empty()).unwrap();
        let response = web::router(state, auth).oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
    };
    let shown = page(false, user.token.as_deref()).await;
    assert_eq!(shown.matches(r#"class="event">"#).count(), 4, "{shown}");
    let mark = shown.find("Deploy done 4 (3)\"></b>").unwrap();
    assert!(mark > shown.find("Deploy done 1.5 (2)\"></b>").unwrap(), "{shown}");
    assert!(shown.contains("&lt;b&gt;sale") && !shown.contains("<b>sale"), "{shown}");
    // Events are for users of the account.
    assert!(!page(true, None).await.contains("Deploy done"));
    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::Admin).await;
    report(&stranger, "elsewhere", "", 1).await;
    assert!(!page(false, user.token.as_deref()).await.contains("Elsewhere"));
}

#[tokio::test]
async fn a_deploy_script_reports_an_event_from_the_terminal() {
    let app = App::start().await;
    let url = app.serve().await;
    let user = app.login(Role::PowerUser).await;
    let run = async |client: &Client, args: &[&str]| {
        let output = vigie_at(&url, client.token.as_deref().unwrap(), args).await;
        (output.status.code().unwrap(), out(&output), err(&output))
    };
    let args = ["event", "deploy_done", "Shop, 1.2.3", "--value", "1.2", "--quantity", "4"];
    let (code, text, errors) = run(&user, &args).await;
    assert_eq!(code, 0, "{errors}");
    let id = text.strip_prefix("event ").unwrap().strip_suffix(" reported\n").unwrap();
    let event = user.get(&format!("/events/{id}")).await.expect(200);
    assert_eq!([&event["event"], &event["name"]], ["deploy_done", "Deploy done"]);
    assert_eq!([&event["description"], &event["value"]], ["Shop, 1.2.3", "1.2"]);
    assert_eq!(event["quantity"], 4);
    // A value that starts with a dash is a number too.
    assert_eq!(run(&user, &["event", "temperature", "Cellar", "--value", "-4.5"]).await.0, 0);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(series(&user, "event=temperature").await["series"][0]["points"][0]["value_min"], -4.5);
    let (code, _, errors) = run(&user, &["event", "deploy", "Shop", "--value", "123456789"]).await;
    assert!(code == 1 && errors.contains("value") && errors.contains("at most 8"), "{code} {errors}");
    let reader = app.login(Role::ReadOnly).await;
    let (code, _, errors) = run(&reader, &["event", "deploy", "Shop"]).await;
    assert!(code == 1 && errors.contains("error: "), "{code} {errors}");
    assert_eq!(series(&user, "event=deploy").await["series"], json!([]));
    for args in [&["event", "deploy"][..], &["event", "deploy", "Shop", "--quantity", "-1"]] {
        assert_eq!(run(&user, args).await.0, 2, "{args:?}");
    }
    assert!(out(&vigie(&["event", "--help"])).contains("vigie event deploy"));
}
