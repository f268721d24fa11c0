//! Two accounts: an id of the other account gets the same response as an id that does not exist.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Method, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use vigie::api::{OperationMethod, legacy, v3};
use vigie::domain::{CheckResult, CustomerId, MonitorId, Role};
use vigie::pipeline::next_monitor_state;
use vigie::service::{AccountService, EntryPoint};
use vigie::store::{Ingest, IngestBatch};
use vigie::telemetry::Metrics;
use vigie::telemetry::{HealthCondition, HealthSource};
use vigie::web::{self, PageAuth, PageState};

use crate::support::app::{App, Client, Reply, website};

/// Part of everything that one account has; the other must never see it.
const MARK: &str = "marked-7413";
/// An id of no object.
const UNKNOWN_ID: i64 = 999_999;

/// The ids of the owner's objects, by kind.
struct Owned {
    monitor: i64,
    all: Vec<i64>,
    location: i64,
    property: i64,
    value: i64,
    certificate: i64,
    check: String,
}

async fn create_owned(app: &App, owner: &Client, customer: CustomerId) -> Owned {
    let create = async |path: &str, body: Value| owner.post(path, body).await.id();
    let location = create("/locations", json!({"name": MARK, "region": 1, "private": true})).await;
    let property = create("/properties", json!({"name": MARK, "values": [{"value": MARK}]})).await;
    let authority = rcgen::generate_simple_self_signed(vec![format!("{MARK}.test")]).unwrap().cert.pem();
    let certificate =
        create("/certificates", json!({"name": MARK, "kind": "authority", "pem": authority})).await;
    let fields = json!({
        "note": MARK, "home_location": location, "locations": [{"id": location}], "realm_password": MARK,
        "ca_cert_id": certificate, "custom_properties": [{"id": property, "value_id": 1}],
    });
    let monitor = create("/monitors/website-ssl", https(MARK, fields)).await;
    let blackout = create(
        "/blackouts",
        json!({"type": "Monitor", "assoc_id": monitor, "persistent": true, "note": MARK,
               "start_day": 1, "start_time": "01:00", "end_day": 1, "end_time": "02:00"}),
    )
    .await;
    let event = create("/events", json!({"event": MARK, "description": MARK})).await;
    let user =
        create("/users", json!({"login": MARK, "name": MARK, "role": "ADMIN", "password": "long enough"}))
            .await;
    let recipient =
        create("/recipients", json!({"name": MARK, "recipient": format!("{MARK}@a.example")})).await;
    let template = create("/templates", json!({"name": MARK, "subject": MARK})).await;
    let group = create(
        "/notifier-groups",
        json!({"name": MARK, "monitors": [{"id": monitor}], "recipients": [{"id": recipient}],
               "templates": [{"id": template}]}),
    )
    .await;
    let view = create("/views", json!({"name": MARK, "query": format!("q={MARK}"), "shared": true})).await;
    let sla = create("/slas", json!({"monitor_id": monitor, "name": MARK, "description": MARK})).await;
    let alerts = format!("/monitors/{monitor}/performance-alerts");
    let alert = create(&alerts, json!({"type": "static", "threshold": 1})).await;
    let message = create("/test-notifiers", json!({"recipient_id": recipient, "monitor_id": monitor})).await;
    let test: i64 = owner.post(&format!("/tests?monitor_id={monitor}"), json!({})).await.id();
    let result = result(app, monitor);
    let check = result.check_id.to_string();
    let states = next_monitor_state(None, &result).into_iter().collect();
    let commit = IngestBatch { results: vec![result], location_states: states, ..IngestBatch::default() };
    app.store.commit(commit).await.unwrap();
    let records = [location, property, certificate, blackout, event, user, test];
    let alerting = [recipient, template, view, group, sla, alert, message];
    let all = [&[monitor, customer.0], &records[..], &alerting[..]].concat();
    Owned { monitor, all, location, property, value: 1, certificate, check }
}

fn result(app: &App, monitor: i64) -> CheckResult {
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(monitor)).unwrap();
    let mut result =
        crate::support::app::result(&monitor, vigie::domain::LocationId(1), vigie::domain::Outcome::Error);
    result.reasons = vec![MARK.to_owned()];
    result
}

fn https(name: &str, more: Value) -> Value {
    let mut body = website(name, more);
    body["url"] = json!("https://shop.example.com/");
    body
}

/// Returns a body that is valid up to the id in `path`.
fn body_for(path: &str) -> Value {
    if path.ends_with("/pause") {
        json!({"until": "2030-01-01T00:00:00Z"})
    } else if path.ends_with("/renew") {
        let time = "2030-01-01T00:00:00Z";
        json!({"time": time, "nonce": "n", "signature": "AAAA", "version": "1", "newest_data_key": 0})
    } else {
        json!({})
    }
}

#[track_caller]
fn assert_same(found: &Reply, unknown: &Reply, id: &str, unknown_id: &str, context: &str) {
    let is_id_char = |c: char| c.is_ascii_alphanumeric();
    let normalized = |text: &str, id: &str| -> String {
        text.split_inclusive(|c| !is_id_char(c))
            .map(|token| {
                if token.trim_end_matches(|c| !is_id_char(c)) == id {
                    token.replace(id, "ID")
                } else {
                    token.to_owned()
                }
            })
            .collect()
    };
    assert_eq!(found.status, unknown.status, "{context}: {} and {}", found.text, unknown.text);
    assert_eq!(normalized(&found.text, id), normalized(&unknown.text, unknown_id), "{context}");
    assert!(!found.text.contains(MARK), "{context}: {}", found.text);
}

async fn check_isolation(owner_first: bool) {
    let app = App::start().await;
    let other = app.account("Other").await;
    let (mine, theirs) = if owner_first { (CustomerId(1), other) } else { (other, CustomerId(1)) };
    let owner = app.login_to(mine, Role::Admin).await;
    let owned = create_owned(&app, &owner, mine).await;
    let before = owner.get(&format!("/monitors/{}", owned.monitor)).await.text;
    let stranger = app.login_to(theirs, Role::Admin).await;
    let unknown_id = UNKNOWN_ID.to_string();

    for operation in v3::operations(app.state.clone()) {
        let send = async |path: String| {
            let body = body_for(operation.path);
            match operation.method {
                OperationMethod::Get | OperationMethod::Delete => {
                    stranger.send(operation.method.into(), &path, &[], "").await
                }
                _ => stranger.json(operation.method.into(), &path, &[], &body).await,
            }
        };
        if operation.path.contains("{id}") {
            let results = operation.path.starts_with("/results");
            let ids: Vec<String> = if results {
                vec![owned.check.clone()]
            } else {
                owned.all.iter().map(i64::to_string).collect()
            };
            // Locations of the settings are shared by all accounts.
            let shared = |id: &String| operation.path.starts_with("/locations") && id.len() == 1;
            let missing = if results { "0123456789abcdef" } else { &unknown_id };
            for id in ids.into_iter().filter(|id| !shared(id)) {
                let path =
                    |id: &str| operation.path.replace("{id}", id).replace("{name}", "response-head.txt");
                let (found, unknown) = (send(path(&id)).await, send(path(missing)).await);
                let context = format!("{} {}", operation.method, path(&id));
                assert_same(&found, &unknown, &id, missing, &context);
                // Who has no login proves with a key that the object is its own, or gets the answer to a wrong key.
                let expected = match (operation.required_permission, operation.path) {
                    (Some(_), _) => 404,
                    // With a token of the host, which no login is.
                    (None, "/hosts/{id}/reports") => 401,
                    (None, _) => 403,
                };
                assert_eq!(found.status, expected, "{context}: {}", found.text);
            }
        } else if operation.method == OperationMethod::Get && operation.path != "/tests" {
            let reply = send(operation.path.to_owned()).await;
            assert!(!reply.text.contains(MARK), "{}: {}", operation.path, reply.text);
        }
    }
    for query in [
        "/tests?monitor_id=ID",
        "/results?monitor_id=ID",
        "/site-status?monitor_id=ID",
        "/blackouts?assoc_id=ID",
        "/audit?object_id=ID",
    ] {
        let path_of = |id: &str| query.replace("ID", id);
        let id = owned.monitor.to_string();
        let (found, unknown) = (stranger.get(&path_of(&id)).await, stranger.get(&path_of(&unknown_id)).await);
        assert_same(&found, &unknown, &id, &unknown_id, query);
    }
    let lists = stranger.get(&format!("/monitors?value_id={}", owned.value)).await.expect(200);
    assert_eq!(lists["metadata"]["resultset"]["count"], 0);
    check_bodies(&stranger, &owned).await;
    // The owner's monitor is unchanged.
    assert_eq!(owner.get(&format!("/monitors/{}", owned.monitor)).await.text, before);
    check_legacy_api(&app, theirs, owned.monitor).await;
    check_pages(&app, mine, &owned.check).await;
}

/// Builds the body that contains an id.
type BuildBody<'a> = Box<dyn Fn(i64) -> Value + 'a>;

/// Checks ids in request bodies.
async fn check_bodies(stranger: &Client, owned: &Owned) {
    let bulk = |id: i64| {
        json!({"monitors": [id], "billing_plancode": "b", "enabled": true, "interval": 5, "mode": "Global Verify",
               "rotate_locations": false, "monitor_location_count": 0, "notify_on_error": true,
               "home_location": 1, "retry_on_failure": true, "allow_internal_testing": true,
               "traceroute_on_error": true, "timeout": 30})
    };
    let cases: Vec<(&str, i64, u16, BuildBody<'_>)> = vec![
        ("/monitors/bulk-edit", owned.monitor, 403, Box::new(bulk)),
        (
            "/monitors/bulk-edit-passwords",
            owned.monitor,
            403,
            Box::new(|id| json!({"monitors": [id], "current_value": MARK, "new_value": "x"})),
        ),
        (
            "/monitors/bulk-edit-scripts",
            owned.monitor,
            403,
            Box::new(|id| json!({"monitors": [id], "current_value": "a", "new_value": "x"})),
        ),
        (
            "/blackouts/bulk-edit",
            owned.monitor,
            403,
            Box::new(|id| json!({"monitors": [id], "update_one_time": false, "update_persistent": false})),
        ),
        (
            "/blackouts",
            owned.monitor,
            400,
            Box::new(|id| {
                json!({"type": "Monitor", "assoc_id": id, "persistent": true, "start_day": 1,
                       "start_time": "01:00", "end_day": 1, "end_time": "02:00"})
            }),
        ),
        (
            "/monitors/website",
            owned.location,
            400,
            Box::new(|id| website("n", json!({"locations": [{"id": id}], "home_location": id}))),
        ),
        (
            "/monitors/website",
            owned.property,
            400,
            Box::new(|id| website("n", json!({"custom_properties": [{"id": id, "value_id": 1}]}))),
        ),
        (
            "/monitors/website-ssl",
            owned.certificate,
            400,
            Box::new(|id| https("n", json!({"ca_cert_id": id}))),
        ),
        (
            "/monitors/website-ssl",
            owned.certificate,
            400,
            Box::new(|id| https("n", json!({"ssl_cert_id": id, "use_client_ssl_cert": true}))),
        ),
        // A key is scoped to its account: one derived from another account's monitor takes nothing over.
        (
            "/apply",
            owned.monitor,
            200,
            Box::new(|id| {
                let mut entry = website("n", json!({"key": format!("api-{id}"), "type": "website"}));
                entry["note"] = json!("mine");
                json!({"dry_run": true, "monitors": [entry]})
            }),
        ),
    ];
    for (path, id, status, body) in cases {
        let (found, unknown) =
            (stranger.post(path, body(id)).await, stranger.post(path, body(UNKNOWN_ID)).await);
        assert_eq!(found.status.as_u16(), status, "{path}: {}", found.text);
        assert_same(&found, &unknown, &id.to_string(), &UNKNOWN_ID.to_string(), path);
    }
    let account = |id: i64| json!({"default_locations": [{"id": id}]});
    let found = stranger.patch("/account", account(owned.location)).await;
    let unknown = stranger.patch("/account", account(UNKNOWN_ID)).await;
    assert_same(&found, &unknown, &owned.location.to_string(), &UNKNOWN_ID.to_string(), "/account");
    assert_eq!(found.status, 400);
}

async fn check_legacy_api(app: &App, customer: CustomerId, monitor: i64) {
    let accounts = &app.state.account_service;
    let (login, password) = (format!("legacy-{customer}"), "correct horse");
    accounts
        .add_user(
            &AccountService::host_admin_caller(customer, EntryPoint::Cli),
            customer,
            &login,
            Role::Admin,
            password,
        )
        .await
        .unwrap();
    let session = accounts.open_session(&login, password, [192, 0, 2, 1].into()).await.unwrap();
    let router = legacy::router(app.state.clone());
    for (method, path) in [
        (Method::GET, "/devices?id=ID&show_scripts=1"),
        (Method::GET, "/devices?id=ID,ID"),
        (Method::PATCH, "/devices/ID?x=1"),
        (Method::DELETE, "/devices/ID?x=1"),
        (Method::GET, "/devices?site_type=website-ssl"),
        (Method::GET, "/locations?x=1"),
    ] {
        let ask = async |id: i64| {
            let uri = format!("{}&login={login}&session={session}", path.replace("ID", &id.to_string()));
            let request = Request::builder().method(method.clone()).uri(uri);
            let request =
                request.header("content-type", "application/json").body(Body::from(r#"{"name":"x"}"#));
            let response = router.clone().oneshot(request.unwrap()).await.unwrap();
            String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
        };
        let (found, unknown) = (ask(monitor).await, ask(UNKNOWN_ID).await);
        assert_eq!(found, unknown, "{method} {path}");
        assert!(!found.contains(MARK), "{method} {path}: {found}");
        // Of several ids, those that do not exist are left out.
        assert!(
            !path.contains("ID") || path.contains(",ID") || found.contains(r#""status":"65""#),
            "{method} {path}: {found}"
        );
    }
}

struct AlwaysHealthy;

impl HealthSource for AlwaysHealthy {
    fn liveness(&self) -> Vec<HealthCondition> {
        Vec::new()
    }

    fn readiness(&self) -> Vec<HealthCondition> {
        Vec::new()
    }
}

/// The pages show a user only the monitors of their own account.
async fn check_pages(app: &App, owner: CustomerId, check: &str) {
    let site = PageState {
        monitor_reader: Arc::clone(&app.state.monitor_reader),
        health: Arc::new(AlwaysHealthy),
        metrics: Arc::new(Metrics::new()),
        metrics_properties: Arc::default(),
        max_monitor_series: 10,
        metrics_permits: vigie::web::metrics_permits(),
        clock: app.clock.clone(),
    };
    let auth = PageAuth::new(Arc::clone(&app.state.account_service));
    let router = web::router(site, auth);
    let reader = app.login_to(CustomerId(1), Role::ReadOnly).await;
    let monitors = app.state.monitor_service.monitor_cache().all();
    let monitor = monitors.iter().find(|monitor| monitor.customer == owner).unwrap();
    let result = format!("/results/{check}");
    let file = format!("{result}/captures/response-head.txt");
    for path in ["/".to_owned(), format!("/monitors/{}", monitor.id), result, file] {
        let request = Request::get(&path).header("host", "vigie.test");
        let request = request.header("authorization", format!("Bearer {}", reader.token.clone().unwrap()));
        let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        let own = owner == CustomerId(1);
        let mark = if path.contains("/captures/") { "HTTP/1.1 200" } else { MARK };
        assert_eq!(text.contains(mark), own, "{path}: {text}");
        assert_eq!(head.status == 200, own || path == "/", "{path}: {}", head.status);
        assert!(own || path != "/" || text.contains("<b>0</b>all"), "a count tells of others: {text}");
    }
}

#[tokio::test]
async fn ids_of_the_first_account_do_not_exist_for_others() {
    check_isolation(true).await;
}

#[tokio::test]
async fn ids_of_other_accounts_do_not_exist_for_the_first() {
    check_isolation(false).await;
}
