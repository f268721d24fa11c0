//! Clone and convert-api.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType as T, Revision, Role, Timestamp};
use vigie::schema::{Origin, SecretMode};
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::bulk::support::{made, of_file, told, whole};
use crate::fleet::kit::{Kit, admin, caller, with_plans};
use crate::support::fields::Fields;

async fn copied(kit: &Kit, id: MonitorId, body: Value) -> Result<MonitorId, ServiceError> {
    monitors::copy(&kit.monitors, &admin(), id, &Node::from(body)).await.map(|saved| MonitorId(saved.id))
}

#[tokio::test]
async fn a_copy_has_all_but_its_own_name_and_past() {
    let kit = Kit::new();
    let script = "<script><variable name='p' protected='true' value='hush'/><step/></script>";
    let values = json!({"script": script, "transaction_password": "t", "note": "n", "locations": [{"id": 2}],
        "home_location": 2, "browser_type": "Firefox"});
    let old = made(&kit, T::BrowserScript, values).await;
    monitors::pause(&kit.monitors, &admin(), old, Timestamp::from_seconds(crate::fleet::kit::NOON + 60))
        .await
        .unwrap();
    let new = copied(&kit, old, json!({"name": "Twin"})).await.unwrap();
    let (old, twin) = (kit.monitor(old), kit.monitor(new));
    let mut wanted = old.document.to_stored(SecretMode::Revealed);
    wanted.insert("name".to_owned(), json!("Twin"));
    assert_eq!(Value::Object(twin.document.to_stored(SecretMode::Revealed)), Value::Object(wanted));
    assert_eq!(
        (twin.revision, twin.origin.clone(), twin.metadata.paused_until),
        (Revision(1), Origin::Api, None)
    );
    assert_eq!(kit.notes.planned().get(&new), Some(&Revision(1)), "it does not rest");
    let row = kit.audit().await.pop().unwrap();
    assert_eq!((row.action.as_str(), row.object_id), ("clone", Some(new.0)));
    assert!(!format!("{row:?}").contains("hush"));
}

#[tokio::test]
async fn a_copy_without_a_name_is_called_so() {
    let kit = Kit::new();
    let old = kit.made(json!({"name": "\u{e9}".repeat(255)})).await;
    for body in [json!({}), json!({"name": null}), json!({"name": ""})] {
        let new = copied(&kit, old, body).await.unwrap();
        assert_eq!(kit.monitor(new).name(), format!("Copy of {}", "\u{e9}".repeat(247)));
    }
    let copy = copied(&kit, old, json!({"name": "\u{e9}".repeat(255)})).await;
    assert!(copy.is_ok());
    let filed = of_file(&kit, 77).await;
    let new = copied(&kit, filed, json!({})).await.unwrap();
    assert_eq!(kit.monitor(new).origin, Origin::Api, "the copy is none of the file's");
    let before = whole(&kit).await;
    for body in [json!({"name": "x".repeat(256)}), json!({"name": 7}), json!({"nmae": "x"}), json!([])] {
        assert_eq!(told(copied(&kit, old, body.clone()).await.map(drop)).len(), 1, "{body}");
    }
    assert_eq!(copied(&kit, MonitorId(999_999), json!({})).await, Err(ServiceError::NotFound));
    let other = monitors::copy(&kit.monitors, &caller(2, Role::Admin), old, &Node::from(json!({}))).await;
    assert_eq!(other, Err(ServiceError::NotFound));
    let reader = monitors::copy(&kit.monitors, &caller(1, Role::ReadOnly), old, &Node::from(json!({}))).await;
    assert!(matches!(reader, Err(ServiceError::Forbidden(_))));
    assert_eq!(whole(&kit).await, before);
}

#[tokio::test]
async fn a_full_plan_takes_no_copy() {
    let kit = Kit::over(with_plans());
    let one = kit.made(json!({"billing_plancode": "small"})).await;
    copied(&kit, one, json!({})).await.unwrap();
    let found = told(copied(&kit, one, json!({})).await.map(drop));
    assert!(found.len() == 1 && found[0].contains("is full"), "{found:?}");
}

#[tokio::test]
async fn one_request_becomes_step_one() {
    let kit = Kit::new();
    let assertions = json!([{"source": "Status Code", "comparison": "equals", "value": "204"}]);
    let values = json!({"url": "https://a/x", "http_method": "HEAD", "assertions": assertions});
    let id = made(&kit, T::WebsiteSslApi, values).await;
    let saved = monitors::convert_to_steps(&kit.monitors, &admin(), id, T::WebsiteSslApi, Some(Revision(1)))
        .await
        .unwrap();
    assert_eq!((saved.id, saved.revision), (id.0, 2));
    let document = &kit.monitor(id).document;
    let step = &document.list("api_steps")[0];
    assert_eq!(document.list("api_steps").len(), 1);
    assert_eq!((&step["url"], &step["http_method"]), (&json!("https://a/x"), &json!("HEAD")));
    assert_eq!((&step["step_name"], &step["step_number"]), (&json!("Step 1"), &json!(1)));
    assert_eq!((&step["assertions"][0]["value"], &step["head"]["headers"]), (&json!("204"), &json!([])));
    assert!(["url", "http_method", "assertions"].iter().all(|field| !document.is_set(field)));
    assert_eq!(kit.audit().await.pop().unwrap().action, "convert-api");
    let again = monitors::convert_to_steps(&kit.monitors, &admin(), id, T::WebsiteSslApi, None).await;
    assert!(matches!(again, Err(ServiceError::Conflict(_))), "{again:?}");
}

#[tokio::test]
async fn what_cannot_be_converted_is_told() {
    let kit = Kit::new();
    let website = kit.made(json!({})).await;
    let api = made(&kit, T::WebsiteApi, json!({"url": "http://a/"})).await;
    let before = whole(&kit).await;
    let convert = async |id, kind, version| {
        monitors::convert_to_steps(&kit.monitors, &admin(), id, kind, version).await.unwrap_err()
    };
    assert_eq!(convert(website, T::Website, None).await, ServiceError::NotFound);
    assert_eq!(convert(website, T::WebsiteApi, None).await, ServiceError::NotFound);
    assert_eq!(convert(api, T::WebsiteSslApi, None).await, ServiceError::NotFound);
    assert_eq!(convert(MonitorId(999_999), T::WebsiteApi, None).await, ServiceError::NotFound);
    assert_eq!(convert(api, T::WebsiteApi, Some(Revision(9))).await, ServiceError::PreconditionFailed);
    let reader =
        monitors::convert_to_steps(&kit.monitors, &caller(1, Role::ReadOnly), api, T::WebsiteApi, None).await;
    assert!(matches!(reader, Err(ServiceError::Forbidden(_))));
    assert_eq!(whole(&kit).await, before);
}
