//! Password bulk edit.

use serde_json::{Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::SecretMode;
use vigie::service::monitors;
use vigie::syntax::MASK;

use crate::bulk::support::{create_file_monitor, create_monitor, error_texts, replacement, snapshot};
use crate::monitors::harness::{Harness, admin};
use crate::support::fields::Fields;

const SCRIPT: &str = "<script><variable name='p' protected='true' value='old'/><step/></script>";

// row: 2.5 Password bulk edit.monitors; 2.5 Password bulk edit.current_value
// row: 2.5 Password bulk edit.new_value
#[tokio::test]
async fn every_secret_equal_to_the_current_value_is_replaced() {
    let harness = Harness::new();
    let web =
        harness.create_monitor(json!({"realm_userid": "old", "realm_password": "old", "note": "old"})).await;
    let step = |password: &str| {
        json!({"url": "http://a/", "step_name": "old", "head": {
            "http_basic_auth_username": "old", "http_basic_auth_password": password, "bearer_token": "old"}})
    };
    let api = json!({"api_steps": [step("old"), step("older")]});
    let api = create_monitor(&harness, T::WebsiteApi, api).await;
    let mail = create_monitor(
        &harness,
        T::EmailImap,
        json!({"hostname": "a", "imap_username": "u", "imap_password": "old"}),
    )
    .await;
    let browser_script = json!({"script": SCRIPT, "transaction_password": "old"});
    let browser_script = create_monitor(&harness, T::BrowserScript, browser_script).await;
    let all = [web, api, mail, browser_script];
    monitors::bulk_edit_passwords(&harness.monitors, &admin(), &replacement(&all, "old", "n\u{e9}w \""))
        .await
        .unwrap();
    let values = |id| Value::Object(harness.monitor(id).document.to_non_default_fields(SecretMode::Revealed));
    let new = json!("n\u{e9}w \"");
    assert_eq!((&values(web)["realm_password"], &values(web)["note"]), (&new, &json!("old")));
    assert_eq!(values(web)["realm_userid"], new, "it is a secret as well");
    let heads: Vec<Value> =
        values(api)["api_steps"].as_array().unwrap().iter().map(|step| step["head"].clone()).collect();
    assert_eq!((&heads[0]["http_basic_auth_password"], &heads[0]["bearer_token"]), (&new, &new));
    assert_eq!((&heads[1]["http_basic_auth_password"], &heads[1]["bearer_token"]), (&json!("older"), &new));
    assert_eq!(heads[0]["http_basic_auth_username"], json!("old"), "it is no secret");
    assert_eq!(values(mail)["imap_password"], new);
    assert_eq!(
        (&values(browser_script)["transaction_password"], &values(browser_script)["script"]),
        (&new, &json!(SCRIPT))
    );
    let audit = harness.audit().await;
    let rows: Vec<_> = audit.iter().filter(|row| row.action == "bulk-edit-passwords").collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[2].after["imap_password"], MASK);
    let text = format!("{audit:?}");
    assert!(!text.contains("n\u{e9}w") && !text.contains("older"), "{text}");
    let bytes = harness.bytes();
    assert!(!bytes.windows(5).any(|window| window == "n\u{e9}w ".as_bytes()));
    let harness = harness.restarted().await;
    assert_eq!(harness.monitor(mail).document.text("imap_password"), new.as_str());
}

#[tokio::test]
async fn one_monitor_without_the_password_refuses_the_whole_call() {
    let harness = Harness::new();
    let web = harness.create_monitor(json!({"realm_password": "old"})).await;
    let other = harness.create_monitor(json!({"realm_password": "older"})).await;
    let none = create_monitor(&harness, T::Ping, json!({"hostname": "a"})).await;
    let filed = create_file_monitor(&harness, 77).await;
    let before = snapshot(&harness).await;
    let call =
        async |body| error_texts(monitors::bulk_edit_passwords(&harness.monitors, &admin(), &body).await);
    let missing_secret =
        |id: i64| format!("current_value: monitor `{id}`: none of its secrets equals `current_value`");
    assert_eq!(
        call(replacement(&[web, other, none], "old", "new")).await,
        [missing_secret(other.0), missing_secret(none.0)]
    );
    assert!(call(replacement(&[web, filed], "old", "new")).await[0].contains("managed by a file"));
    for (current, new, expected) in [
        ("", "new", "current_value: `current_value` must not be empty"),
        ("old", "", "new_value: `new_value` must not be empty"),
        (MASK, "new", "current_value: `current_value` is masked: `********` is not a valid password"),
        ("old", MASK, "new_value: `new_value` is masked: `********` is not a valid password"),
    ] {
        let found = call(replacement(&[web], current, new)).await;
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    }
    let long = "x".repeat(256);
    assert_eq!(call(replacement(&[web], "old", &long)).await.len(), 1);
    assert_eq!(snapshot(&harness).await, before);
    assert!(call(replacement(&[web], "old", &long[1..])).await.is_empty());
}
