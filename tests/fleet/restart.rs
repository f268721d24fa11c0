//! What a start finds in the store.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType};
use vigie::schema::reader::InputFormat;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::fleet::kit::{Kit, admin};

#[tokio::test]
async fn a_restart_gives_the_same_monitors_secrets_included() {
    let kit = Kit::new();
    let id =
        kit.made(json!({"realm_userid": "u", "realm_password": "pa\"ss/~", "locations": [{"id": 2}]})).await;
    let step = |name: &str, password: Value| {
        json!({"url": "http://a/", "http_method": "GET", "step_name": name,
               "head": {"http_basic_auth_username": "u", "http_basic_auth_password": password}})
    };
    let steps = json!({"billing_plancode": "p", "name": "steps", "api_steps": [step("one", json!("1")), step("two", json!("2"))]});
    let made = monitors::create(
        &kit.monitors,
        &admin(),
        MonitorType::WebsiteApi,
        InputFormat::V3,
        &Node::from(steps),
    )
    .await
    .unwrap();
    kit.patch(id, json!({"note": "later"})).await.unwrap();
    let before = [kit.monitor(id), kit.monitor(MonitorId(made.id))];
    let kit = kit.restarted().await;
    assert_eq!(kit.monitors.monitors().len(), 2);
    assert_eq!([kit.monitor(id), kit.monitor(MonitorId(made.id))], before);
}

#[tokio::test]
async fn no_secret_is_in_the_files_of_the_store() {
    let kit = Kit::new();
    let id = kit.made(json!({"realm_password": "correct-horse", "note": "battery-staple"})).await;
    kit.patch(id, json!({"realm_password": "tr0ubador"})).await.unwrap();
    kit.ledger.inner.close().await;
    let bytes = kit.bytes();
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("battery-staple"), "this looks into the right files");
    assert!(!has("correct-horse") && !has("tr0ubador"));
}
