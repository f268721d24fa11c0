//! Results, their captures and the last status of every monitor: checked by the real agent against a server on
//! loopback, stored in the real store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use vigie::agent::{Assignment, ExecutionContext, run_check};
use vigie::alerting::MonitorHealth;
use vigie::domain::{EgressPrincipal, LocationId, MonitorId, Role, Timestamp};
use vigie::net::{Net, NetConfig};
use vigie::pipeline::{IngestSettings, Ingestor};
use vigie::probe::{ProbeBuildContext, build_probe};
use vigie::schedule::LocationRotation;
use vigie::service::HealthLookup;
use vigie::telemetry::Metrics;

use crate::support::app::{App, Client, NOON, website};
use crate::support::fields::Fields;

/// Starts a server that sends `head` and `body` to every request; returns its URL.
async fn server(head: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let response = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let response = response.clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(response.as_bytes()).await;
                let _ = stream.read(&mut request).await;
            });
        }
    });
    format!("http://{address}/")
}

/// Runs the check of a monitor planned at `second` after noon, and stores its result.
async fn run_and_store(app: &App, id: i64, second: i64) {
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    let (probe, weight) = build_probe(&monitor.document, &ProbeBuildContext::default());
    let assignment = Assignment {
        monitor_id: monitor.id,
        customer_id: monitor.customer,
        egress_principal: EgressPrincipal::Operator,
        revision: monitor.revision,
        monitor_name: monitor.name().into(),
        billing_plancode: "basic".into(),
        monitor_type: monitor.monitor_type(),
        interval: monitor.interval(),
        schedule_offset: None,
        location_rotation: LocationRotation::default(),
        attempt_timeout: monitor.timeout(),
        retries_failure: monitor.document.flag("retry_on_failure"),
        location_id: LocationId(1),
        probe,
        concurrency_class: weight,
        allows_unscheduled_checks: true,
        last_planned_at: None,
        last_full_page_at: None,
    };
    let net = Arc::new(Net::new(&NetConfig::default()).unwrap());
    let cx = ExecutionContext::new(net, app.clock.clone());
    let planned_at = Timestamp::from_seconds(NOON + second);
    let result = run_check(&assignment, planned_at, &cx, &CancellationToken::new()).await;
    let metrics = Arc::new(Metrics::new());
    let ingestor = Ingestor::start(app.store.clone(), metrics, Vec::new(), IngestSettings::default());
    ingestor.submit(result).await;
    assert_eq!(ingestor.drain(Duration::from_secs(20)).await, 0);
}

async fn create(user: &Client, name: &str, url: &str, retry: bool) -> i64 {
    let body = website(name, json!({"url": url, "retry_on_failure": retry}));
    user.post("/monitors/website", body).await.id()
}

const BUSY: &str = "HTTP/1.1 503 Busy\r\nContent-Type: text/html; charset=utf-8\r\n\
    Set-Cookie: sid=hunter2\r\nX-Auth-Token: hunter2\r\n";

#[tokio::test]
async fn a_failed_check_captures_the_response_for_its_account_only() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let page = format!("<h1>Busy \u{e9}</h1>{}", "x".repeat(100_000));
    let id = create(&user, "Shop", &server(BUSY, &page).await, false).await;
    run_and_store(&app, id, 0).await;

    let reader = app.login(Role::ReportOnly).await;
    let list = reader.get(&format!("/results?monitor_id={id}&outcome=error")).await.expect(200);
    assert_eq!(list["metadata"]["resultset"]["count"], 1);
    let result = &list["results"][0];
    assert_eq!((&result["status"], &result["facts"]["http_status"]), (&json!(7), &json!(503)));
    let path = format!("/results/{}", result["check_id"].as_str().unwrap());
    let mut single = reader.get(&path).await.expect(200);
    let exchanges = single.as_object_mut().unwrap().remove("exchanges").unwrap();
    assert_eq!(&single, result, "alone as in the list, but for the exchanges");
    assert_eq!((&exchanges[0]["method"], &exchanges[0]["http_status"]), (&json!("GET"), &json!(503)));
    let sent = exchanges[0]["response_headers"].as_array().unwrap();
    assert!(sent.contains(&json!(["x-auth-token", "********"])), "{sent:?}");
    let captures = json!([
        {"name": "response-head.txt", "mimetype": "text/plain; charset=utf-8",
         "bytes": result["captures"][0]["bytes"]},
        {"name": "response-body.html", "mimetype": "text/html; charset=utf-8", "bytes": 65536},
    ]);
    assert_eq!(result["captures"], captures);

    let head = reader.get(&format!("{path}/captures/response-head.txt")).await;
    assert_eq!(head.status, 200);
    assert!(head.text.starts_with("HTTP/1.1 503 Busy\r\n"), "{}", head.text);
    assert!(
        head.text.contains("set-cookie: ********\r\n") && !head.text.contains("hunter2"),
        "{}",
        head.text
    );
    let body = reader.get(&format!("{path}/captures/response-body.html")).await;
    assert_eq!(body.text, page[..65536]);
    assert_eq!(body.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(body.header("content-disposition"), "attachment; filename=\"response-body.html\"");
    assert_eq!(body.header("x-content-type-options"), "nosniff");

    let other = app.account("Other").await;
    let foreign = app.login_to(other, Role::Admin).await;
    for path in [path.clone(), format!("{path}/captures/response-head.txt")] {
        foreign.get(&path).await.refused(404);
        app.anonymous().get(&path).await.refused(401);
    }
    let none = foreign.get(&format!("/results?monitor_id={id}")).await.expect(200);
    assert_eq!((&none["metadata"]["resultset"]["count"], &none["results"]), (&json!(0), &json!([])));
    for unknown in ["0000000000000000", "x", "FFFFFFFFFFFFFFFF", "1"] {
        reader.get(&format!("/results/{unknown}")).await.refused(404);
        reader.get(&format!("/results/{unknown}/captures/response-head.txt")).await.refused(404);
    }
    for name in ["response-body.txt", "..%2Fvigie.db", "%00"] {
        reader.get(&format!("{path}/captures/{name}")).await.refused(404);
    }

    // Results outlive their monitor and stay visible to its account only.
    user.delete(&format!("/monitors/{id}")).await.expect(204);
    reader.get(&path).await.expect(200);
    foreign.get(&path).await.refused(404);
}

// row: 2.1 retry_on_failure
#[tokio::test]
async fn only_failures_have_captures_named_after_their_attempt() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let ok_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let id = create(&user, "Good", &server(ok_head, "<p>fine</p>").await, true).await;
    run_and_store(&app, id, 0).await;
    let result = user.get("/results").await.expect(200)["results"][0].clone();
    assert_eq!((&result["outcome"], result.get("captures")), (&json!("ok"), None));

    let error_head = "HTTP/1.1 500 No\r\nContent-Type: application/json\r\n";
    let id = create(&user, "Bad", &server(error_head, "{\"why\":1}").await, true).await;
    run_and_store(&app, id, 60).await;
    let result = user.get("/results").await.expect(200)["results"][0].clone();
    let names: Vec<_> =
        result["captures"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "attempt-1-response-head.txt",
            "attempt-1-response-body.json",
            "attempt-2-response-head.txt",
            "attempt-2-response-body.json"
        ]
    );
    let path = format!("/results/{}/captures/{}", result["check_id"].as_str().unwrap(), names[3]);
    assert_eq!(user.get(&path).await.expect(200), json!({"why": 1}));

    // The keyword is not found: the body is captured.
    let body = website(
        "Word",
        json!({"url": server(ok_head, "<p>fine</p>").await, "keyword_string": "gone", "retry_on_failure": false}),
    );
    let id = user.post("/monitors/website", body).await.id();
    run_and_store(&app, id, 120).await;
    let result = user.get("/results").await.expect(200)["results"][0].clone();
    let path = format!("/results/{}/captures/response-body.html", result["check_id"].as_str().unwrap());
    assert_eq!(user.get(&path).await.text, "<p>fine</p>");
}

/// The health of monitors of which one has an open outage.
struct OneDown(MonitorId);

impl HealthLookup for OneDown {
    fn health(&self, monitor: MonitorId) -> MonitorHealth {
        if monitor == self.0 { MonitorHealth::Down } else { MonitorHealth::Unknown }
    }

    fn down_monitors(&self) -> Vec<MonitorId> {
        vec![self.0]
    }
}

#[tokio::test]
async fn the_last_status_of_every_monitor_is_reported_per_location() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let failing = create(&user, "Bad", &server(BUSY, "x").await, false).await;
    let waiting = create(&user, "Waiting", "http://shop.example.com/", false).await;
    let ping = json!({"billing_plancode": "b", "name": "Host", "hostname": "h.example", "enabled": false});
    let ping = user.post("/monitors/ping", ping).await.id();
    run_and_store(&app, failing, 0).await;
    run_and_store(&app, failing, 60).await;
    app.state.monitor_reader.set_health_lookup(Arc::new(OneDown(MonitorId(failing))));

    let report = app.login(Role::ReportOnly).await.get("/report-sitestatus").await.expect(200);
    assert_eq!(report["metadata"]["resultset"]["count"], 3);
    let rows = report["results"].as_array().unwrap();
    let ids: Vec<_> = rows.iter().map(|row| row["monitor_id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [failing, waiting, ping]);
    let last = user.get("/results?limit=1").await.expect(200)["results"][0].clone();
    let location = &rows[0]["locations"][0];
    assert_eq!(location["check_id"], last["check_id"]);
    assert_eq!(
        (&location["location_id"], &location["location_name"], &location["outcome"], &location["status"]),
        (&json!(1), &json!("Home"), &json!("error"), &json!(7))
    );
    assert_eq!(location["planned_at"], last["planned_at"]);
    assert_eq!(
        rows[1],
        json!({"monitor_id": waiting, "monitor_name": "Waiting", "type": "website", "enabled": true, "paused_until": null, "state": "unknown", "locations": []})
    );
    assert_eq!((&rows[2]["enabled"], &rows[2]["state"]), (&json!(false), &json!("disabled")));
    assert_eq!(rows[0]["state"], "down");

    let found = async |query: &str| {
        let body = user.get(&format!("/report-sitestatus?{query}")).await.expect(200);
        let ids: Vec<_> = body["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["monitor_id"].as_i64().unwrap())
            .collect();
        (body["metadata"]["resultset"]["count"].as_u64().unwrap(), ids)
    };
    assert_eq!(found("type=ping").await, (1, vec![ping]));
    assert_eq!(found("limit=1&offset=1").await, (3, vec![waiting]));
    assert_eq!(found("limit=0").await, (3, vec![]));
    assert_eq!(found("offset=9").await, (3, vec![]));
    assert_eq!(found(&format!("monitor_id={waiting},{ping}")).await, (2, vec![waiting, ping]));
    let errors = user.get("/report-sitestatus?type=x&limit=-1&what=1").await.refused(400);
    assert_eq!(errors.len(), 3, "{errors:?}");
    let foreign = app.login_to(app.account("Other").await, Role::Admin).await;
    assert_eq!(foreign.get("/report-sitestatus").await.expect(200)["results"], json!([]));
}

#[tokio::test]
async fn the_list_of_results_is_paged_and_filtered() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = create(&user, "Bad", &server(BUSY, "x").await, false).await;
    for minute in 0..5 {
        run_and_store(&app, id, minute * 60).await;
    }
    let found = async |query: &str| {
        let body = user.get(&format!("/results?{query}")).await.expect(200);
        let times: Vec<_> = body["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["planned_at"].as_str().unwrap()[11..16].to_owned())
            .collect();
        (body["metadata"]["resultset"]["count"].as_u64().unwrap(), times)
    };
    assert_eq!(found("").await.1, ["12:04", "12:03", "12:02", "12:01", "12:00"]);
    assert_eq!(found("limit=2&offset=1").await, (5, vec!["12:03".into(), "12:02".into()]));
    assert_eq!(found("from=2026-11-20%2012:01:00&thru=2026-11-20T12:03:00Z").await.1, ["12:02", "12:01"]);
    assert_eq!(found("outcome=ok,missed").await.0, 0);
    assert_eq!(found("location_id=2").await.0, 0);
    assert_eq!(found(&format!("monitor_id={}", id + 1)).await.0, 0);
    let errors =
        user.get("/results?monitor_id=x&location_id=1,2&from=soon&outcome=bad&selected=a").await.refused(400);
    assert_eq!(errors.len(), 5, "{errors:?}");
}
