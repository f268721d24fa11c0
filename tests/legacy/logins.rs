//! Logins, sessions and roles in the legacy API.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use vigie::domain::{CustomerId, Role};

use crate::legacy::support::{outcome, router, send, someone, start_with_admin, website};
use crate::support::app::App;

const JSON: [(&str, &str); 1] = [("content-type", "application/json; charset=utf-8")];
const WRONG: (&str, &str) = ("40", "Invalid login information.");

// row: 4.1 POST /login; 4.1 metadata; 5 1; 5 2
#[tokio::test]
async fn a_login_opens_a_session_usable_by_query_and_by_header() {
    let app = App::start().await;
    app.state.account_service.ensure_first_admin(Some("correct horse battery".to_owned())).await.unwrap();
    let router = router(&app);
    let body = |password: &str| json!({"login": "admin", "password": password}).to_string();
    let response = send(&router, "POST", "/login", &JSON, &body("correct horse battery")).await;
    assert_eq!(
        (outcome(&response), response["metadata"]["login"].as_str()),
        (("0", "No errors."), Some("admin"))
    );
    assert!(response.get("results").is_none());
    let session = response["metadata"]["session"].as_str().unwrap();
    let by_query = send(&router, "GET", &format!("/devices?login=admin&session={session}"), &[], "").await;
    assert_eq!((outcome(&by_query), &by_query["results"]), (("0", "No errors."), &json!([])));
    assert_eq!(by_query["metadata"]["session"], session);
    let token = format!("Bearer {}", STANDARD.encode(format!("admin:{session}")));
    let by_header = send(&router, "GET", "/devices", &[("authorization", &token)], "").await;
    assert_eq!(outcome(&by_header), ("0", "No errors."));
    let response = send(&router, "POST", "/login", &JSON, &body("wrong")).await;
    assert_eq!((outcome(&response), response["metadata"]["session"].as_str()), (WRONG, Some("")));
    let after_failed_login =
        send(&router, "GET", &format!("/devices?login=admin&session={session}"), &[], "").await;
    assert_eq!(outcome(&after_failed_login), ("0", "No errors."), "a failed login ends no session");
}

#[tokio::test]
async fn a_login_with_missing_fields_is_told_which() {
    let app = App::start().await;
    let router = router(&app);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    for (headers, body, expected) in [
        (&JSON[..], r#"{"password": "x"}"#, ("64", "Missing login")),
        (&JSON, r#"{"login": "", "password": "x"}"#, ("64", "Missing login")),
        (&JSON, r#"{"login": "admin", "password": null}"#, ("64", "Missing password")),
        (&JSON, r#"{"login": ["admin"], "password": "x"}"#, ("66", "Invalid login")),
        (&JSON, "{", ("66", "Invalid body")),
        (&JSON, "", ("66", "Invalid body")),
        (&JSON, "[]", ("66", "Invalid body")),
        (&form, "login=admin&password=x", ("66", "Invalid Content-Type")),
        (&[], "{}", ("66", "Invalid Content-Type")),
    ] {
        assert_eq!(outcome(&send(&router, "POST", "/login", headers, body).await), expected, "{body}");
    }
}

// row: 4.1 GET /devices authentication; 7 failed calls
#[tokio::test]
async fn without_a_session_every_call_is_40_before_any_other_check() {
    let (_app, admin) = start_with_admin().await;
    for (method, path) in [
        ("GET", "/devices"),
        ("GET", "/devices?id=x"),
        ("POST", "/devices"),
        ("PATCH", "/devices/1"),
        ("DELETE", "/devices/x"),
        ("GET", "/locations"),
        ("GET", "/devices?login=admin-1"),
        ("GET", "/devices?login=admin-1&session=unknown"),
    ] {
        assert_eq!(outcome(&send(&admin.router, method, path, &[], "{").await), WRONG, "{method} {path}");
    }
    let other = format!("/devices?login=somebody&session={}", admin.session);
    assert_eq!(outcome(&send(&admin.router, "GET", &other, &[], "").await), WRONG, "the login has to fit");
    for (method, path, expected) in [
        ("GET", "/nothing", ("66", "Invalid path")),
        ("PUT", "/devices", ("66", "Invalid method")),
        ("GET", "/login", ("66", "Invalid method")),
    ] {
        assert_eq!(outcome(&send(&admin.router, method, path, &[], "").await), expected, "{method} {path}");
    }
}

#[tokio::test]
async fn a_session_ends_15_minutes_after_its_last_use() {
    let (app, admin) = start_with_admin().await;
    for _ in 0..3 {
        app.clock.advance(Duration::from_mins(14));
        assert_eq!(outcome(&admin.get("/devices").await), ("0", "No errors."));
    }
    app.clock.advance(Duration::from_mins(15));
    assert_eq!(outcome(&admin.get("/devices").await), WRONG);
}

// row: 4.1 POST /devices role; 5 3
#[tokio::test]
async fn roles_are_enforced_and_a_locked_account_has_its_own_status() {
    let (app, _) = start_with_admin().await;
    let reader = someone(&app, CustomerId(1), Role::ReadOnly, json!({})).await;
    assert_eq!(outcome(&reader.get("/devices").await), ("0", "No errors."));
    assert_eq!(outcome(&reader.post(json!({})).await).0, "63", "the right comes before the body");
    assert_eq!(outcome(&reader.call("DELETE", "/devices/1", None).await).0, "63");
    let reporter = someone(&app, CustomerId(1), Role::ReportOnly, json!({})).await;
    assert_eq!(outcome(&reporter.get("/devices").await).0, "63");
    assert_eq!(outcome(&reporter.get("/locations").await).0, "63");
    let power = someone(&app, CustomerId(1), Role::PowerUser, json!({})).await;
    power.made(website("by a power user")).await;
    let locked = someone(&app, CustomerId(1), Role::CoAdmin, json!({"locked": true})).await;
    assert_eq!(outcome(&locked.get("/devices").await), ("47", "Account locked or not yet active."));
}
