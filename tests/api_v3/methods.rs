//! Methods, unknown paths and authentication.

use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use vigie::domain::Role;

use crate::support::app::{App, website};

#[tokio::test]
async fn unknown_paths_and_types_are_not_found() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    for path in ["/nothing", "/monitors/", "/monitors/1/nothing", "/monitors/website/1/convert-api"] {
        assert_eq!(user.get(path).await.refused(404), ["Record not found"], "{path}");
    }
    user.post("/monitors/webseite", json!({})).await.refused(404);
    user.patch("/monitors/webseite/1", json!({})).await.refused(404);
    for id in ["abc", "0", "-1", "+1", "01", "1.0", "99999999999999999999", "%ff", "%20", "999999"] {
        let path = format!("/monitors/{id}");
        assert_eq!(user.get(&path).await.refused(404), ["Record not found"], "{path}");
        user.delete(&path).await.refused(404);
        user.post(&format!("{path}/clone"), json!({})).await.refused(404);
    }
}

#[tokio::test]
async fn other_methods_get_405_with_the_allowed_ones() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    for (method, path, allowed) in [
        (Method::PUT, "/monitors", "GET,HEAD"),
        (Method::POST, "/monitors", "GET,HEAD"),
        (Method::PATCH, "/monitors/1", "GET,HEAD,DELETE"),
        (Method::POST, "/monitors/1", "GET,HEAD,DELETE"),
        (Method::GET, "/monitors/website", "POST"),
        (Method::GET, "/monitors/bulk-edit", "POST"),
        (Method::DELETE, "/tests", "POST,GET,HEAD"),
    ] {
        let reply = user.send(method.clone(), path, &[], "").await;
        let mut methods: Vec<_> = reply.header("allow").split(',').map(str::trim).collect();
        let mut expected: Vec<_> = allowed.split(',').collect();
        methods.sort_unstable();
        expected.sort_unstable();
        assert_eq!(methods, expected, "{method} {path}");
        assert!(reply.refused(405)[0].contains(method.as_str()));
        let options = app.anonymous().send(Method::OPTIONS, path, &[], "").await;
        assert_eq!(options.status, 204, "{path}");
        assert!(!options.header("allow").is_empty());
    }
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    for path in ["/monitors".to_owned(), format!("/monitors/{id}")] {
        let head = user.send(Method::HEAD, &path, &[], "").await;
        assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
        assert_eq!(head.header("content-type"), "application/json");
    }
    assert_eq!(user.send(Method::HEAD, "/monitors/999999", &[], "").await.status, 404);
}

#[tokio::test]
async fn missing_forged_and_expired_tokens_are_refused() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let refused = |reply: crate::support::app::Reply| {
        assert_eq!(reply.header("www-authenticate"), "Bearer");
        reply.refused(401);
    };
    refused(app.anonymous().get("/monitors").await);
    for value in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer forged",
        "Basic YTpi",
        "bearer  ",
        "Token x",
        &"Bearer x".repeat(2000),
    ] {
        refused(app.anonymous().send(Method::GET, "/monitors", &[("authorization", value)], "").await);
    }
    let broken = app.anonymous().send(Method::POST, "/monitors/website", &[], "{".repeat(1000)).await;
    refused(broken);
    user.get("/monitors").await.expect(200);
    app.clock.advance(Duration::from_secs(3599));
    user.get("/monitors").await.expect(200);
    app.clock.advance(Duration::from_secs(1));
    refused(user.get("/monitors").await);
}
