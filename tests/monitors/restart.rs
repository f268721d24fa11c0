//! Monitors after a restart.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType};
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::monitors::harness::{Harness, admin};

#[tokio::test]
async fn a_restart_restores_the_same_monitors_with_their_secrets() {
    let harness = Harness::new();
    let id = harness
        .create_monitor(json!({"realm_userid": "u", "realm_password": "pa\"ss/~", "locations": [{"id": 2}]}))
        .await;
    let step = |name: &str, password: Value| {
        json!({"url": "http://a/", "http_method": "GET", "step_name": name,
               "head": {"http_basic_auth_username": "u", "http_basic_auth_password": password}})
    };
    let steps = json!({"billing_plancode": "p", "name": "steps", "api_steps": [step("one", json!("1")), step("two", json!("2"))]});
    let created = monitors::create(
        &harness.monitors,
        &admin(),
        MonitorType::WebsiteApi,
        InputFormat::V3,
        &Node::from(steps),
    )
    .await
    .unwrap();
    harness.patch(id, json!({"note": "later"})).await.unwrap();
    let before = [harness.monitor(id), harness.monitor(MonitorId(created.id))];
    let harness = harness.restarted().await;
    assert_eq!(harness.monitors.monitor_cache().len(), 2);
    assert_eq!([harness.monitor(id), harness.monitor(MonitorId(created.id))], before);
}

#[tokio::test]
async fn no_secret_is_in_the_files_of_the_store() {
    let harness = Harness::new();
    let id =
        harness.create_monitor(json!({"realm_password": "correct-horse", "note": "battery-staple"})).await;
    harness.patch(id, json!({"realm_password": "tr0ubador"})).await.unwrap();
    harness.store.inner.close().await;
    let bytes = harness.bytes();
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("battery-staple"), "this looks into the right files");
    assert!(!has("correct-horse") && !has("tr0ubador"));
}
