//! The metrics of monitors: who sees which, their labels, filters and parts, and what hostile names do to them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::json;
use tower::ServiceExt;
use vigie::domain::{
    Attempt, CheckResult, CustomerId, LocationId, MonitorId, Outcome, Phase, Phases, Role, StepResult,
};
use vigie::pipeline::next_monitor_state;
use vigie::schema::{MonitorDocument, SecretMode};
use vigie::settings::property_label;
use vigie::store::{Ingest, IngestBatch};
use vigie::telemetry::Metrics;
use vigie::web::{self, PageAuth, PageState};

use super::properties::AlwaysHealthy;
use crate::support::app::{App, Client, result, website};

/// A name that would break the page if it were written as it is.
const HOSTILE: &str = "a\"} 1\nvigie_monitor_up{monitor=\"666\\\u{2028}";

struct World {
    app: App,
    router: Router,
    metrics: Arc<Metrics>,
}

/// Starts the application with the metrics of account 1 at two locations.
async fn world(max_series: u32) -> World {
    let app = App::start().await;
    let labels = ["team".to_owned()];
    let metrics = Arc::new(Metrics::new());
    metrics.set_property_labels(labels.iter().map(|name| property_label(name)).collect());
    let state = PageState {
        monitor_reader: Arc::clone(&app.state.monitor_reader),
        health: Arc::new(AlwaysHealthy),
        metrics: Arc::clone(&metrics),
        metrics_properties: Arc::from(labels),
        max_monitor_series: max_series,
        metrics_permits: web::metrics_permits(),
        clock: app.clock.clone(),
    };
    let auth = PageAuth {
        account_data: Some(Arc::clone(&app.state.monitor_reader)),
        ..PageAuth::new(Arc::clone(&app.state.account_service))
    };
    World { router: web::router(state, auth), app, metrics }
}

impl World {
    /// Returns the status and the text of `/metrics/monitors` with a query.
    async fn page(&self, client: &Client, query: &str) -> (u16, String) {
        let mut request = Request::get(format!("/metrics/monitors?{query}")).header("host", "localhost");
        if let Some(token) = &client.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Stores a result of a monitor at a location, with three phases and a failed step of two.
    async fn store(&self, id: i64, location: i64, outcome: Outcome) {
        let monitor = self.app.monitors.get(MonitorId(id)).unwrap();
        let mut result: CheckResult = result(&monitor, LocationId(location), outcome);
        result.captures.clear();
        let mut phases = Phases::default();
        for (phase, millis) in [(Phase::Resolve, 1), (Phase::Connect, 9), (Phase::FirstByte, 30)] {
            phases.set(phase, Duration::from_millis(millis));
        }
        let started_at = result.started_at;
        result.attempts.push(Attempt {
            number: 1,
            started_at,
            duration_us: 1000,
            phases,
            failure: None,
            warnings: vec![],
        });
        result.details.steps.push(StepResult::new(1, "first".to_owned(), 0));
        let state = next_monitor_state(None, &result).unwrap();
        let batch =
            IngestBatch { results: vec![result], location_states: vec![state], ..IngestBatch::default() };
        self.metrics.record_stored_results(&batch.results);
        self.app.store.commit(batch).await.unwrap();
    }
}

/// Returns the ids of the monitors with series in `page`.
fn monitors_of(page: &str) -> BTreeSet<i64> {
    let ids = page.lines().filter_map(|line| line.split_once("{monitor=\"")?.1.split('"').next());
    ids.map(|id| id.parse().unwrap()).collect()
}

fn series(page: &str, monitor: i64) -> Vec<&str> {
    let own = format!("{{monitor=\"{monitor}\"");
    page.lines().filter(|line| line.contains(&own)).collect()
}

/// Requires that promtool reads `page` and finds nothing to complain about.
fn assert_checked_by_promtool(page: &str) {
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool, from the package prometheus");
    promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && said.is_empty(), "{}\n{page}", String::from_utf8_lossy(&said));
}

#[tokio::test]
async fn each_monitor_has_its_series_and_its_labels() {
    let world = world(100).await;
    world.metrics.enable_monitor_histograms();
    let admin = world.app.login(Role::Admin).await;
    let team = json!({"name": "team", "values": [{"value": "a \"b\""}]});
    let team = admin.post("/properties", team).await.id();
    let fields = json!({"custom_properties": [{"id": team, "value_id": 1}]});
    let one = admin.post("/monitors/website", website("one", fields)).await.id();
    let off = admin.post("/monitors/website", website("off", json!({"enabled": false}))).await.id();
    let new = admin.post("/monitors/website", website("new", json!({}))).await.id();
    world.store(one, 1, Outcome::Error).await;
    world.store(one, 2, Outcome::Ok).await;
    let (status, page) = world.page(&admin, "").await;
    assert_eq!(status, 200, "{page}");
    let shown = series(&page, one).join("\n").replace(&format!("monitor=\"{one}\""), "monitor=\"ID\"");
    insta::assert_snapshot!(shown);
    for (id, name, reason) in [(off, "off", "disabled"), (new, "new", "waiting")] {
        let only = format!(
            "vigie_monitor_outcome{{monitor=\"{id}\",name=\"{name}\",type=\"website\",outcome=\"{reason}\"}} 1"
        );
        assert_eq!(series(&page, id), [only]);
    }
    assert_checked_by_promtool(&page);
    let location = series(&world.page(&admin, "location=2").await.1, one).len();
    assert_eq!(location, series(&page, one).iter().filter(|line| line.contains("\"Away\"")).count());
}

#[tokio::test]
async fn a_token_sees_its_account_and_the_host_all() {
    let world = world(10).await;
    let app = &world.app;
    let admin = app.login(Role::Admin).await;
    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::Admin).await;
    let own = admin.post("/monitors/website", website("own", json!({}))).await.id();
    let theirs = stranger.post("/monitors/website", website("theirs", json!({}))).await.id();
    let reader = app.login_to(other, Role::ReadOnly).await;
    let token = json!({"name": "Prometheus", "scopes": ["metrics"]});
    let metrics_token = admin.post("/access-tokens", token).await.expect(200)["access_token"].clone();
    let program = app.anonymous().with_token(metrics_token.as_str().unwrap());
    for (client, expected) in [
        (&admin, vec![own]),
        (&program, vec![own]),
        (&reader, vec![theirs]),
        (&app.host(), vec![own, theirs]),
    ] {
        let (status, page) = world.page(client, "").await;
        assert_eq!((status, monitors_of(&page)), (200, expected.into_iter().collect()), "{page}");
    }
    let report_only = app.login_to(CustomerId(1), Role::ReportOnly).await;
    for client in [app.anonymous(), app.anonymous().with_token("odd"), report_only] {
        let (status, page) = world.page(&client, "").await;
        assert!(status == 401 && page.contains("server.metrics_allow"), "{status} {page}");
    }
}

#[tokio::test]
async fn hostile_names_stay_inside_their_label() {
    let world = world(10).await;
    let admin = world.app.login(Role::Admin).await;
    let mut ids = Vec::new();
    for name in [HOSTILE, "# EOF", "{}", "\\", &"é\"".repeat(100)] {
        let id = world.app.monitors.len();
        let created = admin.post("/monitors/website", website("placeholder", json!({}))).await.id();
        let mut monitor = world.app.monitors.get(MonitorId(created)).unwrap();
        let mut values = monitor.document.to_json(SecretMode::Revealed);
        values.insert("name".to_owned(), json!(name));
        monitor.document = Arc::new(MonitorDocument::new(monitor.monitor_type(), values).unwrap());
        world.app.monitors.apply(vec![monitor], &[]);
        assert_eq!(world.app.monitors.len(), id + 1);
        world.store(created, 1, Outcome::Ok).await;
        ids.push(created);
    }
    let (status, page) = world.page(&admin, "").await;
    assert_eq!(status, 200);
    assert_eq!(monitors_of(&page), ids.iter().copied().collect());
    assert!(
        page.ends_with("\n# EOF\n") && page.lines().filter(|line| *line == "# EOF").count() == 1,
        "{page}"
    );
    let escaped = "name=\"a\\\"} 1\\nvigie_monitor_up{monitor=\\\"666\\\\ \"";
    assert!(page.contains(escaped), "{page}");
    assert_checked_by_promtool(&page);
}

#[tokio::test]
async fn filters_and_parts_select_monitors_and_wrong_ones_are_refused() {
    let world = world(10).await;
    let admin = world.app.login(Role::Admin).await;
    let mut all = BTreeSet::new();
    for number in 0..30 {
        all.insert(admin.post("/monitors/website", website(&format!("site {number}"), json!({}))).await.id());
    }
    let tcp = json!({"billing_plancode": "basic", "name": "port", "hostname": "x.test", "port": 9});
    let tcp = admin.post("/monitors/tcp", tcp).await.id();
    let found = async |query: &str| {
        let (status, page) = world.page(&admin, query).await;
        assert_eq!(status, 200, "{query}: {page}");
        let count = page.lines().find_map(|line| line.strip_prefix("vigie_monitors_exported ")).unwrap();
        assert_eq!(count, monitors_of(&page).len().to_string());
        monitors_of(&page)
    };
    assert_eq!(found("type=tcp").await, [tcp].into());
    assert_eq!(found("q=site+7").await.len(), 1);
    assert_eq!(found("standing=error").await, BTreeSet::new());
    let mut parts = Vec::new();
    for part in 1..=3 {
        parts.push(found(&format!("type=website&part={part}/3")).await);
    }
    assert!(parts.iter().all(|part| !part.is_empty()));
    assert_eq!(parts.iter().map(BTreeSet::len).sum::<usize>(), 30);
    assert_eq!(parts.into_iter().flatten().collect::<BTreeSet<_>>(), all);
    for query in ["part=4/3", "part=1/0", "part=1", "type=teapot", "sort=name", "odd=1", "q=a&part=x"] {
        let (status, message) = world.page(&admin, query).await;
        assert_eq!(status, 400, "{query}: {message}");
        assert!(message.starts_with('`'), "{query}: {message}");
    }
}

#[tokio::test]
async fn what_is_left_of_an_error_budget_is_shown_once_it_is_computed() {
    let world = world(10).await;
    let admin = world.app.login(Role::Admin).await;
    let id = admin.post("/monitors/website", website("one", json!({}))).await.id();
    admin.post("/slas", json!({"monitor_id": id, "name": "Gold", "availability": 99.0})).await.id();
    world.store(id, 1, Outcome::Ok).await;
    world.app.clock.advance(Duration::from_mins(5));
    let left_out = "vigie_monitor_series_left_out{metric=\"vigie_monitor_sla_budget_ratio\"} 1";
    let (_, first) = world.page(&admin, "").await;
    assert!(first.contains(left_out) && !first.contains("sla=\"Gold\""), "{first}");
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let (_, page) = world.page(&admin, "").await;
        if let Some(line) = page.lines().find(|line| line.contains("sla=\"Gold\"")) {
            assert!(line.ends_with("goal=\"availability\"} 1"), "{line}");
            assert!(!page.contains(left_out), "{page}");
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{page}");
        tokio::task::yield_now().await;
    }
}

/// The time of 100,000 monitors is measured by `cargo bench --bench monitor_metrics`; this holds what grows with them.
#[tokio::test]
async fn a_monitor_has_at_most_as_many_series_as_set_and_the_rest_is_counted() {
    let world = world(10).await;
    let admin = world.app.login(Role::Admin).await;
    let id = admin.post("/monitors/website", website("one", json!({}))).await.id();
    for location in [1, 2] {
        world.store(id, location, Outcome::Ok).await;
    }
    let (_, page) = world.page(&admin, "").await;
    assert_eq!(series(&page, id).len(), 10, "{page}");
    let left_out = page.lines().filter(|line| line.starts_with("vigie_monitor_series_left_out{"));
    let left_out: u64 = left_out.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    // Both locations: up, outcome, duration, status, steps and three phases.
    assert_eq!(left_out, 2 * 8 - 10, "{page}");
}
