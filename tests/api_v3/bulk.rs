//! The calls of bulk edits and apply.

use serde_json::{Value, json};
use vigie::domain::Role;

use crate::support::app::{App, website};

fn all_fields(monitors: &[i64], more: Value) -> Value {
    let mut body = json!({
        "monitors": monitors, "billing_plancode": "gold", "enabled": true, "interval": 10, "mode": "Global Verify",
        "rotate_locations": false, "monitor_location_count": 0, "notify_on_error": true, "home_location": 1,
        "retry_on_failure": true, "allow_internal_testing": true, "traceroute_on_error": false, "timeout": 20,
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[tokio::test]
async fn a_bulk_edit_returns_the_changed_ids() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let first = user.post("/monitors/website", website("a", json!({}))).await.id();
    let second = user.post("/monitors/website", website("b", json!({}))).await.id();
    let body = all_fields(&[first, second], json!({"note": "moved"}));
    let edited = user.post("/monitors/bulk-edit", body).await.expect(200);
    assert_eq!(edited, json!({"ids": [first.to_string(), second.to_string()]}));
    for id in [first, second] {
        let read = user.get(&format!("/monitors/{id}")).await.expect(200);
        assert_eq!((&read["interval"], &read["note"]), (&json!(10), &json!("moved")));
    }
    let strange = all_fields(&[first, 999_999], json!({"interval": 20}));
    user.post("/monitors/bulk-edit", strange).await.refused(403);
    let mut lacking = all_fields(&[first], json!({}));
    lacking.as_object_mut().unwrap().remove("timeout");
    assert!(
        user.post("/monitors/bulk-edit", lacking).await.refused(400)[0].contains("`timeout` is required")
    );
    assert_eq!(user.get(&format!("/monitors/{first}")).await.expect(200)["interval"], 10);
}

#[tokio::test]
async fn a_bulk_edit_returns_each_monitor_once_and_its_warnings() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let first = user.post("/monitors/website", website("a", json!({}))).await.id();
    let second = user.post("/monitors/website", website("b", json!({"ip_address": "192.0.2.1"}))).await.id();
    let body = all_fields(&[first, second, first], json!({}));
    let edited = user.post("/monitors/bulk-edit", body).await.expect(200);
    assert_eq!(edited["ids"], json!([first.to_string(), second.to_string()]));
    let warning = format!(
        "monitor `{second}`: `ip_address` is not used: `resolve_dns` is true, so the name is resolved"
    );
    assert_eq!(edited["warnings"], json!([warning]));
}

#[tokio::test]
async fn passwords_are_replaced_where_the_current_value_matches() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let body = website("a", json!({"realm_userid": "u", "realm_password": "tulip"}));
    let id = user.post("/monitors/website", body).await.id();
    let path = "/monitors/bulk-edit-passwords";
    let wrong = json!({"monitors": [id], "current_value": "rose", "new_value": "daisy"});
    user.post(path, wrong).await.refused(400);
    let right = json!({"monitors": [id], "current_value": "tulip", "new_value": "daisy"});
    assert_eq!(user.post(path, right).await.expect(200), json!({"ids": [id.to_string()]}));
    let long = json!({"monitors": [id], "current_value": "x".repeat(256), "new_value": "y".repeat(256)});
    assert_eq!(user.post(path, long).await.refused(400).len(), 2);
}

#[tokio::test]
async fn every_error_of_an_apply_is_reported_with_its_path() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let monitors = json!([
        {"key": "a", "type": "website"}, {"key": "a", "type": "website"}, {"type": "webseite"}, 7, {"key": "", "type": "ping"},
    ]);
    let messages = user.post("/apply", json!({"monitors": monitors, "dryrun": true})).await.refused(400);
    for part in [
        "`monitors[1].key` must be unique",
        "`monitors[2].key` must be",
        "did you mean `website`?",
        "`monitors[3]` must be a map",
        "`monitors[4].key`",
        "did you mean `dry_run`?",
    ] {
        assert!(messages.iter().any(|message| message.contains(part)), "{part}: {messages:?}");
    }
    assert!(user.post("/apply", json!({})).await.refused(400)[0].contains("`monitors` is required"));
}

#[tokio::test]
async fn an_apply_reports_and_makes_its_changes() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let mut monitor = website("Shop", json!({"key": "shop", "type": "website"}));
    let dry = user.post("/apply", json!({"monitors": [monitor], "dry_run": true})).await.expect(200);
    assert_eq!((&dry["changes"][0]["action"], &dry["changes"][0]["id"]), (&json!("create"), &Value::Null));
    assert!(app.state.monitor_service.monitor_cache().is_empty());
    let applied = user.post("/apply", json!({"monitors": [monitor]})).await.expect(200);
    let id = applied["changes"][0]["id"].as_i64().unwrap();
    assert_eq!(user.get(&format!("/monitors/{id}")).await.expect(200)["name"], "Shop");
    monitor["name"] = json!("Shop 2");
    let changed = user.post("/apply", json!({"monitors": [monitor]})).await.expect(200);
    let change = &changed["changes"][0];
    assert_eq!((&change["action"], &change["id"]), (&json!("change"), &json!(id)));
    assert_eq!((&change["before"]["name"], &change["after"]["name"]), (&json!("Shop"), &json!("Shop 2")));
}
