//! Password bulk edit.

use serde_json::{Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::SecretMode;
use vigie::service::monitors;
use vigie::syntax::MASK;

use crate::bulk::support::{exchange, made, of_file, told, whole};
use crate::fleet::kit::{Kit, admin};
use crate::support::fields::Fields;

const SCRIPT: &str = "<script><variable name='p' protected='true' value='old'/><step/></script>";

#[tokio::test]
async fn every_secret_that_is_the_current_value_becomes_the_new_one() {
    let kit = Kit::new();
    let web = kit.made(json!({"realm_userid": "old", "realm_password": "old", "note": "old"})).await;
    let step = |password: &str| {
        json!({"url": "http://a/", "step_name": "old", "head": {
            "http_basic_auth_username": "old", "http_basic_auth_password": password, "bearer_token": "old"}})
    };
    let api = json!({"api_steps": [step("old"), step("older")]});
    let api = made(&kit, T::WebsiteApi, api).await;
    let mail =
        made(&kit, T::EmailImap, json!({"hostname": "a", "imap_username": "u", "imap_password": "old"}))
            .await;
    let played = json!({"script": SCRIPT, "transaction_password": "old"});
    let played = made(&kit, T::BrowserScript, played).await;
    let all = [web, api, mail, played];
    monitors::bulk_edit_passwords(&kit.monitors, &admin(), &exchange(&all, "old", "n\u{e9}w \""))
        .await
        .unwrap();
    let values = |id| Value::Object(kit.monitor(id).document.to_stored(SecretMode::Revealed));
    let new = json!("n\u{e9}w \"");
    assert_eq!((&values(web)["realm_password"], &values(web)["note"]), (&new, &json!("old")));
    assert_eq!(values(web)["realm_userid"], new, "it is a secret as well");
    let heads: Vec<Value> =
        values(api)["api_steps"].as_array().unwrap().iter().map(|step| step["head"].clone()).collect();
    assert_eq!((&heads[0]["http_basic_auth_password"], &heads[0]["bearer_token"]), (&new, &new));
    assert_eq!((&heads[1]["http_basic_auth_password"], &heads[1]["bearer_token"]), (&json!("older"), &new));
    assert_eq!(heads[0]["http_basic_auth_username"], json!("old"), "it is no secret");
    assert_eq!(values(mail)["imap_password"], new);
    assert_eq!((&values(played)["transaction_password"], &values(played)["script"]), (&new, &json!(SCRIPT)));
    let audit = kit.audit().await;
    let rows: Vec<_> = audit.iter().filter(|row| row.action == "bulk-edit-passwords").collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[2].after["imap_password"], MASK);
    let text = format!("{audit:?}");
    assert!(!text.contains("n\u{e9}w") && !text.contains("older"), "{text}");
    let bytes = kit.bytes();
    assert!(!bytes.windows(5).any(|window| window == "n\u{e9}w ".as_bytes()));
    let kit = kit.restarted().await;
    assert_eq!(kit.monitor(mail).document.text("imap_password"), new.as_str());
}

#[tokio::test]
async fn one_without_the_password_refuses_all() {
    let kit = Kit::new();
    let web = kit.made(json!({"realm_password": "old"})).await;
    let other = kit.made(json!({"realm_password": "older"})).await;
    let none = made(&kit, T::Ping, json!({"hostname": "a"})).await;
    let filed = of_file(&kit, 77).await;
    let before = whole(&kit).await;
    let call = async |body| told(monitors::bulk_edit_passwords(&kit.monitors, &admin(), &body).await);
    let lacking =
        |id: i64| format!("current_value: monitor `{id}`: none of its secrets equals `current_value`");
    assert_eq!(call(exchange(&[web, other, none], "old", "new")).await, [lacking(other.0), lacking(none.0)]);
    assert!(call(exchange(&[web, filed], "old", "new")).await[0].contains("managed by a file"));
    for (current, new, wanted) in [
        ("", "new", "current_value: `current_value` must not be empty"),
        ("old", "", "new_value: `new_value` must not be empty"),
        (MASK, "new", "current_value: `current_value` is masked: `********` is not a valid password"),
        ("old", MASK, "new_value: `new_value` is masked: `********` is not a valid password"),
    ] {
        let found = call(exchange(&[web], current, new)).await;
        assert!(found.len() == 1 && found[0].starts_with(wanted), "{found:?}");
    }
    let long = "x".repeat(256);
    assert_eq!(call(exchange(&[web], "old", &long)).await.len(), 1);
    assert_eq!(whole(&kit).await, before);
    assert!(call(exchange(&[web], "old", &long[1..])).await.is_empty());
}
