//! Push tokens and push URLs.

use std::time::Duration;

use axum::http::Method;
use serde_json::{Value, json};
use vigie::domain::{MonitorId, Role};

use crate::support::app::{App, Client};

async fn pushed_monitor(admin: &Client) -> i64 {
    let body =
        json!({"name": "Backup", "billing_plancode": "x", "report": "push", "interval": 5, "grace": 30});
    let made = admin.post("/monitors/hostagent", body).await.expect(200);
    made["id"].as_str().unwrap().parse().unwrap()
}

async fn token_of(admin: &Client, id: i64) -> String {
    let made = admin.post(&format!("/monitors/{id}/push-token"), json!({})).await.expect(200);
    assert_eq!(made["path"], format!("/push/{}", made["token"].as_str().unwrap()));
    made["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_push_is_taken_as_three_kinds_of_clients_send_it() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let id = pushed_monitor(&admin).await;
    let token = token_of(&admin, id).await;
    let anyone = app.anonymous();
    let last =
        async || -> Value { admin.get(&format!("/monitors/{id}/push")).await.expect(200)["last"].clone() };
    assert_eq!(
        anyone.get(&format!("/push/{token}?status=up&msg=OK&ping=12.5")).await.expect(200)["ok"],
        true
    );
    assert_eq!((&last().await["message"], &last().await["ping_ms"]), (&json!("OK"), &json!(12.5)));
    anyone.get(&format!("/api/push/{token}?status=down&msg=no%20space&ping=")).await.expect(200);
    assert_eq!((&last().await["status"], &last().await["message"]), (&json!("down"), &json!("no space")));
    let endpoint = app.anonymous().with_token(token.clone());
    let path = "/api/v1/endpoints/core_backup/external?success=true&duration=2s";
    assert_eq!(endpoint.send(Method::POST, path, &[], "").await.status, 200);
    assert_eq!((&last().await["status"], &last().await["ping_ms"]), (&json!("up"), &json!(2000.0)));
    let output = "x".repeat(30_000) + "last line";
    let path = format!("/push/{token}?status=down&exit_code=3");
    assert_eq!(anyone.send(Method::POST, &path, &[("content-type", "text/plain")], output).await.status, 200);
    let last = last().await;
    assert_eq!(last["exit_code"], 3);
    let kept = last["output"].as_str().unwrap();
    assert!(kept.len() == 16 * 1024 && kept.ends_with("last line"), "the end is kept");
    assert!(!String::from_utf8_lossy(&app.files()).contains(&token), "the token is stored as a hash alone");
}

#[tokio::test]
async fn tokens_are_replaced_revoked_and_for_pushed_monitors_alone() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let id = pushed_monitor(&admin).await;
    let (first, second) = (token_of(&admin, id).await, token_of(&admin, id).await);
    let anyone = app.anonymous();
    let first = anyone.get(&format!("/push/{first}")).await;
    assert!(first.status == 404 && first.text.contains("push token"), "{}", first.text);
    anyone.get(&format!("/push/{second}")).await.expect(200);
    assert_eq!(anyone.get("/push/short").await.status, 404);
    assert_eq!(anyone.get(&format!("/push/{}", "x".repeat(5000))).await.status, 404);
    assert_eq!(admin.delete(&format!("/monitors/{id}/push-token")).await.status, 204);
    assert_eq!(anyone.get(&format!("/push/{second}")).await.status, 404);
    let viewer = app.login(Role::ReadOnly).await;
    assert_eq!(viewer.post(&format!("/monitors/{id}/push-token"), json!({})).await.status, 403);
    let account = app.account("Other").await;
    let stranger = app.login_to(account, Role::Admin).await;
    assert_eq!(stranger.post(&format!("/monitors/{id}/push-token"), json!({})).await.status, 404);
    assert_eq!(stranger.get(&format!("/monitors/{id}/push")).await.status, 404);
    let body = json!({"name": "Ping", "billing_plancode": "x", "hostname": "192.0.2.1"});
    let other = admin.post("/monitors/ping", body).await.expect(200);
    let path = format!("/monitors/{}/push-token", other["id"].as_str().unwrap());
    assert_eq!(admin.post(&path, json!({})).await.status, 409);
    // A monitor that is removed takes its token with it.
    let third = token_of(&admin, id).await;
    assert_eq!(admin.delete(&format!("/monitors/{id}")).await.status, 204);
    assert_eq!(anyone.get(&format!("/push/{third}")).await.status, 404);
}

#[tokio::test]
async fn a_flood_of_pushes_is_refused_and_says_when_to_come_again() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let id = pushed_monitor(&admin).await;
    let path = format!("/push/{}", token_of(&admin, id).await);
    let anyone = app.anonymous();
    for _ in 0..60 {
        anyone.get(&path).await.expect(200);
    }
    let refused = anyone.get(&path).await;
    assert_eq!((refused.status.as_u16(), refused.headers["retry-after"].to_str().unwrap()), (429, "60"));
    app.clock.advance(Duration::from_mins(1));
    anyone.get(&path).await.expect(200);
    for wrong in ["status=maybe", "ping=fast", "exit_code=one"] {
        assert_eq!(anyone.get(&format!("{path}?{wrong}")).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_check_is_told_of_the_push_and_of_its_absence() {
    let app = App::start_quick().await;
    let admin = app.login(Role::Admin).await;
    let id = pushed_monitor(&admin).await;
    let hosts = &app.state.host_service;
    let without_token = hosts.reported_state(MonitorId(id)).await.unwrap_err().to_string();
    assert!(without_token.contains("push-token"), "{without_token}");
    let token = token_of(&admin, id).await;
    let state = hosts.reported_state(MonitorId(id)).await.unwrap();
    assert_eq!((state.was_reported, state.push, state.overdue_after_us), (false, None, 330_000_000));
    let anyone = app.anonymous();
    anyone.get(&format!("/push/{token}?status=start")).await.expect(200);
    app.clock.advance(Duration::from_secs(40));
    let push = hosts.reported_state(MonitorId(id)).await.unwrap().push.unwrap();
    assert_eq!((push.is_down, push.running_us), (false, Some(40_000_000)));
    anyone.get(&format!("/push/{token}?status=down&exit_code=2")).await.expect(200);
    app.clock.advance(Duration::from_secs(10));
    let state = hosts.reported_state(MonitorId(id)).await.unwrap();
    let push = state.push.unwrap();
    assert_eq!((state.silent_us, push.is_down, push.running_us), (10_000_000, true, None));
    // The first push, and each that changes the status, is checked at once.
    let requested = app.planner.take_first_checks();
    assert_eq!(
        requested.iter().filter(|monitor| monitor.0 == id).count(),
        2,
        "after the change, and the push"
    );
}
