//! Invalid request bodies: each gets the error body and changes nothing.

use axum::http::Method;
use serde_json::json;
use vigie::domain::{MonitorType, Role};

use crate::support::app::{App, example, website};

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn invalid_json_is_refused_with_its_position() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    for (body, status, part) in [
        ("", 400, "The body is empty"),
        (" \n", 400, "The body is empty"),
        ("{", 400, "line 1, column 1: EOF"),
        ("{\"name\":\n tru}", 400, "line 2"),
        ("{\"name\":\"a\",}", 400, "trailing comma"),
        ("{} {}", 400, "trailing characters"),
        ("{\"name\":\"\\ud800\"}", 400, "line 1"),
        ("[]", 400, "must be a map of fields"),
        ("null", 400, "must be a map of fields"),
        ("\"x\"", 400, "must be a map of fields"),
        ("{\"name\":1e999}", 400, "number out of range"),
    ] {
        for path in ["/monitors/website", "/monitors/bulk-edit", "/apply", "/monitors/bulk-edit-passwords"] {
            let messages = user.send(Method::POST, path, &[JSON], body).await.refused(status);
            assert!(messages.iter().any(|message| message.contains(part)), "{path} {body:?}: {messages:?}");
        }
    }
    let broken = user.send(Method::POST, "/monitors/website", &[JSON], b"{\"name\":\"\xff\"}".to_vec()).await;
    assert!(broken.refused(400)[0].contains("invalid unicode"));
    assert!(app.state.monitor_service.monitor_cache().is_empty());
}

#[tokio::test]
async fn only_json_is_accepted() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let body = website("Shop", json!({})).to_string();
    for kind in [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "multipart/form-data; boundary=x",
    ] {
        let headers: &[(&str, &str)] = if kind.is_empty() { &[] } else { &[("content-type", kind)] };
        user.send(Method::POST, "/monitors/website", headers, body.clone()).await.refused(415);
    }
    for kind in ["application/json", "Application/JSON; charset=utf-8"] {
        user.send(Method::POST, "/monitors/website", &[("content-type", kind)], body.clone()).await.id();
    }
}

#[tokio::test]
async fn deep_and_large_bodies_are_refused() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let deep = format!("{{\"name\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let messages = user.send(Method::POST, "/monitors/website", &[JSON], deep).await.refused(400);
    assert!(messages[0].contains("nested more than 24 deep"), "{messages:?}");
    let large = format!("{{\"monitors\":[1],\"note\":\"{}\"}}", "x".repeat(3 * 1024 * 1024));
    user.send(Method::POST, "/monitors/bulk-edit", &[JSON], large.clone()).await.refused(413);
    // A script may be that large.
    let mut script = example(MonitorType::Selenium);
    script["script"] = json!("UEsDBBQA".repeat(3 * 1024 * 1024 / 8));
    user.post("/monitors/selenium", script).await.id();
}

#[tokio::test]
async fn every_error_is_reported_with_a_hint() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let body = r#"{"billing_plancode":"basic","name":"Shop","name":"Shop","url":"http://a.example/",
        "intervall":5,"interval":"5","timeout":7.5,"enabled":"yes","locations":{},"type":"ping"}"#;
    let messages = user.send(Method::POST, "/monitors/website", &[JSON], body).await.refused(400);
    for part in [
        "`name` is given twice",
        "`intervall` is not a field",
        "did you mean `interval`?",
        "`interval` must be one of",
        "`timeout` must be one of",
        "`enabled` must be `true` or `false`",
        "`locations` must be a list",
        "`type` must be `website`",
    ] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part}: {messages:?}");
    }
    let messages = user.post("/monitors/website", json!({})).await.refused(400);
    for field in ["billing_plancode", "name", "url"] {
        assert!(
            messages.iter().any(|message| message.contains(&format!("`{field}` is required"))),
            "{messages:?}"
        );
    }
    assert!(app.state.monitor_service.monitor_cache().is_empty());
}
