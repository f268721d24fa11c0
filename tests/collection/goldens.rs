//! Golden observations of collections: what a result holds, with times and ports masked.

use serde_json::json;

use super::check::{item, run, run_with};
use super::echo;
use crate::probe_api::check::golden;

#[tokio::test]
async fn a_collection_that_passes() {
    let service = echo::start().await;
    let port = service.address.port();
    let code = "pm.test('is there', () => pm.response.to.have.status(200)); pm.test.skip('later', () => {});
                pm.environment.set('id', '7')";
    let folder =
        json!({"name": "Orders", "item": [item("Create", &service.url("/x?key={{api_key}}"), code)]});
    let environment = json!({"values": [{"key": "api_key", "value": "s3cret-key", "type": "secret"}]});
    let observation = run_with(json!([folder]), json!({"environment": environment.to_string()})).await;
    insta::assert_snapshot!("collection_ok", golden(&observation, port));
}

#[tokio::test]
async fn a_collection_that_fails() {
    let service = echo::start().await;
    let port = service.address.port();
    let code = "console.warn('look'); pm.test('wrong', () => pm.expect(pm.response.code).to.equal(201)); x.y";
    let observation = run(json!([item("Create", &service.url("/x"), code)])).await;
    insta::assert_snapshot!("collection_failed", golden(&observation, port));
}

#[tokio::test]
async fn a_collection_that_cannot_run() {
    let request = json!({"url": "http://a.test", "auth": {"type": "ntlm"}});
    let observation = run(json!([{"name": "Login", "request": request}])).await;
    insta::assert_snapshot!("collection_not_started", golden(&observation, 0));
}
