//! Tests on demand: started, read, limited, interrupted, purged.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use vigie::domain::{Outcome, Role};
use vigie::pipeline::PlanError;
use vigie::store::{AuditFilter, ConfigStore, Pagination};

use crate::support::app::{App, Client, RETENTION_DAYS, website};

/// Reads a test until it has ended.
async fn wait_until_ended(user: &Client, url: &str) -> Value {
    let wait = async {
        loop {
            let test = user.get(url.strip_prefix("/api/v3").unwrap()).await.expect(200);
            if test["progress"] != 1 {
                return test;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap()
}

async fn start_test(user: &Client, query: &str) -> (i64, String) {
    let body = user.post(&format!("/tests?{query}"), json!({})).await.expect(200);
    let url = body["result_url"].as_str().unwrap().to_owned();
    (body["id"].as_str().unwrap().parse().unwrap(), url)
}

#[tokio::test]
async fn a_test_runs_at_the_home_location_or_at_the_requested_one() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({"enabled": false}))).await.id();
    for (query, location) in [(String::new(), 1), ("&location_id=3".to_owned(), 3)] {
        let (test_id, url) = start_test(&user, &format!("monitor_id={id}{query}")).await;
        let test = wait_until_ended(&user, &url).await;
        assert_eq!(
            (&test["id"], &test["monitor_id"], &test["location_id"]),
            (&json!(test_id), &json!(id), &json!(location))
        );
        assert_eq!((&test["progress"], &test["result"]["outcome"]), (&json!(2), &json!("ok")));
        assert!(test["result"]["captures"].is_null(), "a file is named whose content nobody keeps");
        assert_eq!((&test["ordered_at"], &test["error"]), (&json!("2026-11-20T12:00:00Z"), &Value::Null));
    }
    // GET starts one as well, HEAD does not.
    let by_get = user.get(&format!("/tests?monitor_id={id}")).await.expect(200);
    assert_eq!(wait_until_ended(&user, by_get["result_url"].as_str().unwrap()).await["progress"], 2);
    assert_eq!(user.send(Method::HEAD, &format!("/tests?monitor_id={id}"), &[], "").await.status, 200);
    let filter = AuditFilter { object_kind: Some("test".to_owned()), ..AuditFilter::default() };
    let entries = app.store.audit_entries(filter, Pagination { limit: 10, offset: 0 }).await.unwrap().items;
    assert_eq!(entries.len(), 3);
    assert_eq!((entries[0].action.as_str(), entries[0].login.as_str()), ("create", "power-user-1"));
    let results = user.get("/results").await.expect(200);
    assert_eq!(results["metadata"]["resultset"]["count"], 0);
}

#[tokio::test]
async fn failed_tests_report_their_outcome_or_error() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    for (outcome_or_error, progress, outcome, error) in [
        (Ok(Outcome::Warning), 2, json!("warning"), ""),
        (Ok(Outcome::Error), 3, json!("error"), ""),
        (Ok(Outcome::Unknown), 3, json!("unknown"), ""),
        (Err(PlanError::LocationOffline), 3, Value::Null, "no agent of this location is online"),
        (Err(PlanError::QueueFull), 3, Value::Null, "too many checks are queued"),
    ] {
        app.planner.set_outcome(outcome_or_error);
        let (_, url) = start_test(&user, &format!("monitor_id={id}")).await;
        let test = wait_until_ended(&user, &url).await;
        assert_eq!((&test["progress"], &test["result"]["outcome"]), (&json!(progress), &outcome));
        assert!(test["error"].as_str().unwrap_or_default().contains(error), "{test}");
        assert_eq!(test["ended_at"], "2026-11-20T12:00:00Z");
    }
}

// row: 2.1 allow_internal_testing
#[tokio::test]
async fn invalid_tests_are_refused() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let closed = website("Closed", json!({"allow_internal_testing": false}));
    let closed = user.post("/monitors/website", closed).await.id();
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    for (query, status, part) in [
        (format!("monitor_id={closed}"), 409, "allow_internal_testing"),
        ("monitor_id=999999".to_owned(), 404, "Record not found"),
        (String::new(), 400, "`monitor_id` is required"),
        ("monitor_id=abc".to_owned(), 400, "`monitor_id` must be an id"),
        (format!("monitor_id={id}&location_id=99"), 400, "`location_id`"),
        (format!("monitor_id={id}&location=1"), 400, "did you mean `location_id`?"),
    ] {
        for method in [Method::GET, Method::POST] {
            let reply = user.send(method, &format!("/tests?{query}"), &[], "").await;
            let messages = reply.refused(status);
            assert!(messages[0].contains(part), "{query}: {messages:?}");
        }
    }
    let reader = app.login(Role::ReadOnly).await;
    reader.get(&format!("/tests?monitor_id={id}")).await.refused(403);
    let (_, url) = start_test(&user, &format!("monitor_id={id}")).await;
    assert_eq!(wait_until_ended(&reader, &url).await["progress"], 2);
    let other = app.login_to(app.account("other").await, Role::Admin).await;
    other.get(url.strip_prefix("/api/v3").unwrap()).await.refused(404);
}

#[tokio::test]
async fn an_account_runs_at_most_five_tests_at_once() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    app.planner.hold_checks();
    let query = format!("monitor_id={id}");
    let mut urls = Vec::new();
    for _ in 0..5 {
        urls.push(start_test(&user, &query).await.1);
    }
    let refused = user.get(&format!("/tests?{query}")).await;
    assert_eq!(refused.header("retry-after"), "10");
    refused.refused(429);
    app.planner.release_checks(5);
    for url in urls {
        assert_eq!(wait_until_ended(&user, &url).await["progress"], 2);
    }
    // The slot is free once the test is over.
    app.planner.release_checks(1);
    let wait = async {
        while user.get(&format!("/tests?{query}")).await.status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap();
}

#[tokio::test]
async fn a_test_interrupted_by_a_restart_has_failed() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    app.planner.hold_checks();
    let (_, url) = start_test(&user, &format!("monitor_id={id}")).await;
    assert_eq!(user.get(url.strip_prefix("/api/v3").unwrap()).await.expect(200)["progress"], 1);
    let app = app.restarted().await;
    let user = app.login(Role::ReadOnly).await;
    let test = wait_until_ended(&user, &url).await;
    assert_eq!(
        (&test["progress"], &test["error"]),
        (&json!(3), &json!("the server stopped before the check ended"))
    );
}

#[tokio::test]
async fn old_tests_are_purged() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let (_, url) = start_test(&user, &format!("monitor_id={id}")).await;
    wait_until_ended(&user, &url).await;
    app.clock.advance(Duration::from_secs(RETENTION_DAYS * 86_400));
    assert_eq!(app.state.on_demand_tests.remove_expired().await.unwrap(), 0);
    app.clock.advance(Duration::from_secs(1));
    assert_eq!(app.state.on_demand_tests.remove_expired().await.unwrap(), 1);
    let user = app.login(Role::PowerUser).await;
    user.get(url.strip_prefix("/api/v3").unwrap()).await.refused(404);
}

#[tokio::test]
async fn a_monitor_is_checked_before_it_is_saved() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let monitor = website("Draft", json!({"type": "website", "timeout": 7}));
    let body = json!({"monitor": monitor, "location_id": 3});
    let started = user.post("/tests", body).await.expect(200);
    let test = wait_until_ended(&user, started["result_url"].as_str().unwrap()).await;
    assert_eq!(
        (&test["monitor_id"], &test["draft"], &test["location_id"], &test["progress"]),
        (&Value::Null, &json!(true), &json!(3), &json!(2))
    );
    assert_eq!(test["result"]["monitor_name"], "Draft");
    let checked = app.planner.take_checked();
    assert_eq!(checked[0].timeout(), Duration::from_secs(7));
    assert!(checked[0].id.0 < 0, "an agent could take it for a monitor that it has: {}", checked[0].id);
    assert_eq!(user.get("/monitors").await.expect(200)["metadata"]["resultset"]["count"], 0);
}

#[tokio::test]
async fn changes_are_checked_before_they_are_saved_with_the_secrets_that_are_stored() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let secret = json!({"realm_userid": "anna", "realm_password": "pw1", "timeout": 10});
    let id = user.post("/monitors/website", website("Shop", secret)).await.id();
    for (change, password) in [
        (json!({"timeout": 7}), "pw1"),
        (json!({"timeout": 7, "realm_password": "********"}), "pw1"),
        (json!({"timeout": 7, "realm_password": "pw2"}), "pw2"),
    ] {
        let body = json!({"monitor_id": id, "monitor": change});
        let started = user.post("/tests", body).await.expect(200);
        let test = wait_until_ended(&user, started["result_url"].as_str().unwrap()).await;
        assert_eq!((&test["monitor_id"], &test["result"]["monitor_id"]), (&json!(id), &json!(id)));
        let checked = app.planner.take_checked();
        assert_eq!(checked[0].document.value("realm_password"), Some(&json!(password)));
        assert_ne!(checked[0].id.0, id, "the agent would check what is stored");
    }
    assert_eq!(user.get(&format!("/monitors/{id}")).await.expect(200)["timeout"], 10);
    // Of a monitor as it is stored, the body may say the same as the query.
    let started = user.post("/tests", json!({"monitor_id": id})).await.expect(200);
    assert_eq!(wait_until_ended(&user, started["result_url"].as_str().unwrap()).await["draft"], false);
}

#[tokio::test]
async fn what_could_not_be_saved_is_not_checked() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    for (body, part) in [
        (json!({"monitor": {"name": "x"}}), "`monitor.type` is required"),
        (json!({"monitor": {"type": "websit"}}), "did you mean `website`?"),
        (
            json!({"monitor": {"type": "website", "billing_plancode": "basic", "name": "x"}}),
            "`url` is required",
        ),
        (json!({"monitor": [1]}), "`monitor.type` is required"),
        (json!({"monitor_id": id, "monitor": {"timeout": -1}}), "`timeout`"),
        (json!({"monitor_id": id, "monitor": {"type": "tcp"}}), "`type` must be `website`"),
        (json!({"monitor_id": id, "monitor": 7}), "map of fields"),
        (json!({"location_id": 3}), "neither `monitor_id` nor `monitor`"),
        (json!(false), "The body must be a JSON object"),
        (json!({"monitor": website("x", json!({"type": "website"})), "location_id": 99}), "`location_id`"),
        (json!({"monitor_id": "x"}), "`monitor_id`"),
        (json!({"monitors": {}}), "did you mean `monitor`?"),
    ] {
        let messages = user.post("/tests", body.clone()).await.refused(400);
        assert!(messages[0].contains(part), "{body}: {messages:?}");
    }
    let draft = json!({"monitor": website("x", json!({"type": "website", "allow_internal_testing": false}))});
    user.post("/tests", draft).await.refused(409);
    let draft = json!({"monitor": website("x", json!({"type": "website"}))});
    app.login(Role::ReadOnly).await.post("/tests", draft.clone()).await.refused(403);
    let other = app.login_to(app.account("other").await, Role::Admin).await;
    other.post("/tests", json!({"monitor_id": id, "monitor": {"timeout": 7}})).await.refused(404);
    let started = user.post("/tests", draft).await.expect(200);
    other.get(started["result_url"].as_str().unwrap().strip_prefix("/api/v3").unwrap()).await.refused(404);
    assert_eq!(app.planner.take_checked().len(), 1);
}
