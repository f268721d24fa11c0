//! One monitor: created, read, changed and deleted.

use axum::http::Method;
use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType, Role};

use crate::support::app::{App, example, website};
use crate::support::fields::Fields;

// row: 2.1 id; 2.1 type; 2.1 customer_id; 9 /api/v3
#[tokio::test]
async fn every_type_is_created_read_patched_with_itself_and_deleted() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    for kind in MonitorType::ALL {
        let created = user.post(&format!("/monitors/{kind}"), example(*kind)).await;
        assert_eq!(created.header("etag"), "\"1\"", "{kind}: {}", created.text);
        let id = created.id();
        let path = format!("/monitors/{id}");
        let read = user.get(&path).await;
        assert_eq!(read.header("etag"), "\"1\"");
        let read = read.expect(200);
        assert_eq!(
            (&read["id"], &read["type"], &read["customer_id"]),
            (&json!(id), &json!(kind.name()), &json!(1))
        );
        for field in ["billing_plancode", "name", "enabled", "interval", "mode", "timeout", "home_location"] {
            assert!(!read[field].is_null(), "{kind}: {field}");
        }
        let again = user.patch(&format!("/monitors/{kind}/{id}"), read.clone()).await;
        assert_eq!(again.status, 200, "{kind}: {}", again.text);
        let after = user.get(&path).await.expect(200);
        let stable_fields = |object: &Value| {
            let mut object = object.as_object().unwrap().clone();
            // The account's default locations become the monitor's own with the patch.
            for field in ["last_modified", "script_modified", "monitor_uses_own_locations"] {
                object.remove(field);
            }
            object
        };
        assert_eq!(stable_fields(&read), stable_fields(&after), "{kind}");
        user.delete(&path).await.expect(204);
        user.get(&path).await.refused(404);
        user.delete(&path).await.refused(404);
    }
    assert!(app.state.monitor_service.monitor_cache().is_empty());
}

#[tokio::test]
async fn a_new_monitor_is_planned_and_survives_a_restart() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let body = website("Shop", json!({"realm_userid": "anna", "realm_password": "tulip"}));
    let id = user.post("/monitors/website", body).await.id();
    assert_eq!(app.planner.planned().last().unwrap().0[0].id, MonitorId(id));
    let read = user.get(&format!("/monitors/{id}")).await;
    assert!(!read.text.contains("tulip"));
    assert_eq!(read.expect(200)["realm_password"], "********");
    let app = app.restarted().await;
    let user = app.login(Role::ReadOnly).await;
    let read = user.get(&format!("/monitors/{id}")).await.expect(200);
    assert_eq!((&read["name"], &read["access_type"]), (&json!("Shop"), &json!("View")));
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    assert_eq!(monitor.document.text("realm_password"), Some("tulip"));
}

// row: 2.1 name; 2.1 note
#[tokio::test]
async fn a_change_is_partial_and_a_list_replaces() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let locations = json!([{"id": 1}, {"id": 2}]);
    let id = user
        .post("/monitors/website", website("Shop", json!({"locations": locations, "note": "n"})))
        .await
        .id();
    let path = format!("/monitors/website/{id}");
    let change =
        json!({"locations": [{"id": 2}], "home_location": 2, "note": null, "id": 7, "customer_id": 9});
    let changed = user.patch(&path, change).await;
    assert_eq!(changed.header("etag"), "\"2\"");
    assert_eq!(changed.id(), id);
    let read = user.get(&format!("/monitors/{id}")).await.expect(200);
    assert_eq!((&read["id"], &read["customer_id"]), (&json!(id), &json!(1)));
    assert_eq!(read["locations"], json!([{"id": 2, "name": "Away", "region": 2}]));
    assert_eq!(read["note"], Value::Null);
    assert_eq!(read["url"], "http://shop.example.com/");
    for (body, part) in [
        (json!({"url": "ftp://x"}), "`url`"),
        (json!({"home_location": 99}), "`home_location`"),
        (json!({"name": null}), "`name` is required"),
        (json!({"name": ""}), "`name`"),
        (json!({"type": "ping"}), "`type`"),
    ] {
        let messages = user.patch(&path, body).await.refused(400);
        assert!(messages.iter().any(|message| message.contains(part)), "{part}: {messages:?}");
    }
    assert_eq!(user.get(&format!("/monitors/{id}")).await.header("etag"), "\"2\"");
}

// row: 2.1 type
#[tokio::test]
async fn the_type_in_the_path_must_match() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    for path in [format!("/monitors/ping/{id}"), format!("/monitors/website-api/{id}/convert-api")] {
        user.patch(&path, json!({})).await.refused(404);
    }
}

#[tokio::test]
async fn if_match_refuses_other_revisions() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let path = format!("/monitors/website/{id}");
    let change = json!({"name": "Shop 2"});
    let patch = |tag: &'static str| {
        let (user, path, change) = (user.clone(), path.clone(), change.clone());
        async move { user.json(Method::PATCH, &path, &[("if-match", tag)], &change).await }
    };
    for stale in ["\"2\"", "\"0\"", "\"x\"", "W/\"1\"", "1"] {
        patch(stale).await.refused(412);
    }
    assert_eq!(patch("\"1\"").await.header("etag"), "\"2\"");
    patch("\"1\"").await.refused(412);
    patch("*").await.expect(200);
    let one = format!("/monitors/{id}");
    user.send(Method::DELETE, &one, &[("if-match", "\"1\"")], "").await.refused(412);
    let etag = user.get(&one).await.header("etag").to_owned();
    user.send(Method::DELETE, &one, &[("if-match", &etag)], "").await.expect(204);
}

#[tokio::test]
async fn a_monitor_of_another_account_is_not_found() {
    let app = App::start().await;
    let (mine, other) = (app.login(Role::Admin).await, app.account("other").await);
    let stranger = app.login_to(other, Role::Admin).await;
    let id = mine.post("/monitors/website", website("Shop", json!({}))).await.id();
    for id in [id, 999_999] {
        stranger.get(&format!("/monitors/{id}")).await.refused(404);
        stranger.delete(&format!("/monitors/{id}")).await.refused(404);
        stranger.patch(&format!("/monitors/website/{id}"), json!({"name": "x"})).await.refused(404);
        stranger.post(&format!("/monitors/{id}/clone"), json!({})).await.refused(404);
        stranger
            .post(&format!("/monitors/{id}/pause"), json!({"until": "2030-01-01T00:00:00Z"}))
            .await
            .refused(404);
        stranger.post(&format!("/monitors/{id}/resume"), json!({})).await.refused(404);
        stranger.get(&format!("/tests?monitor_id={id}")).await.refused(404);
    }
    assert_eq!(stranger.get("/monitors").await.expect(200)["results"], json!([]));
    assert_eq!(mine.get(&format!("/monitors/{id}")).await.header("etag"), "\"1\"");
}

#[tokio::test]
async fn a_pause_ends_at_its_time_or_on_resume() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let id = user.post("/monitors/website", website("Shop", json!({}))).await.id();
    let path = format!("/monitors/{id}/pause");
    for (body, part) in [
        (json!({}), "`until` is required"),
        (json!({"until": "tomorrow"}), "`until` must be a time"),
        (json!({"until": 7}), "`until`"),
        (json!({"until": "2026-11-20 11:59:59"}), "`until` must be in the future"),
        (json!({"until": "2030-01-01T00:00:00Z", "untill": 1}), "`untill` is not a field"),
    ] {
        let messages = user.post(&path, body).await.refused(400);
        assert!(messages[0].contains(part), "{part}: {messages:?}");
    }
    user.post(&path, json!({"until": "2026-11-20 12:30:00"})).await.expect(200);
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    assert_eq!(monitor.metadata.paused_until.unwrap().to_string(), "2026-11-20T12:30:00Z");
    let shown = async || {
        let object = user.get(&format!("/monitors/{id}")).await.expect(200);
        let report = user.get("/report-sitestatus").await.expect(200);
        (object["paused_until"].clone(), report["results"][0]["paused_until"].clone())
    };
    assert_eq!(shown().await, (json!("2026-11-20T12:30:00Z"), json!("2026-11-20T12:30:00Z")));
    user.post(&format!("/monitors/{id}/resume"), json!({})).await.expect(200);
    let monitor = app.state.monitor_service.monitor_cache().get(MonitorId(id)).unwrap();
    assert!(monitor.is_active(app.state.clock.now()));
    assert_eq!(shown().await, (json!(null), json!(null)));
}
