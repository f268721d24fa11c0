//! Clone and convert-api.

use serde_json::{Value, json};
use vigie::domain::{MonitorId, MonitorType as T, Revision, Role, Timestamp};
use vigie::schema::{Origin, SecretMode};
use vigie::service::ServiceError;
use vigie::service::monitors;
use vigie::syntax::node::Node;

use crate::bulk::support::{create_file_monitor, create_monitor, error_texts, snapshot};
use crate::monitors::harness::{Harness, admin, caller, with_plans};
use crate::support::fields::Fields;

async fn create_copy(harness: &Harness, id: MonitorId, body: Value) -> Result<MonitorId, ServiceError> {
    monitors::copy_monitor(&harness.monitors, &admin(), id, &Node::from(body))
        .await
        .map(|saved| MonitorId(saved.id))
}

// row: 2.5 Monitor clone.name
#[tokio::test]
async fn a_copy_has_all_fields_but_its_own_name_and_no_history() {
    let harness = Harness::new();
    let script = "<script><variable name='p' protected='true' value='hush'/><step/></script>";
    let values = json!({"script": script, "transaction_password": "t", "note": "n", "locations": [{"id": 2}],
        "home_location": 2, "browser_type": "Firefox"});
    let old = create_monitor(&harness, T::BrowserScript, values).await;
    monitors::pause_monitor(
        &harness.monitors,
        &admin(),
        old,
        Timestamp::from_seconds(crate::monitors::harness::NOON + 60),
    )
    .await
    .unwrap();
    let new = create_copy(&harness, old, json!({"name": "Twin"})).await.unwrap();
    let (old, twin) = (harness.monitor(old), harness.monitor(new));
    let mut expected = old.document.to_non_default_fields(SecretMode::Revealed);
    expected.insert("name".to_owned(), json!("Twin"));
    assert_eq!(
        Value::Object(twin.document.to_non_default_fields(SecretMode::Revealed)),
        Value::Object(expected)
    );
    assert_eq!(
        (twin.revision, twin.origin.clone(), twin.metadata.paused_until),
        (Revision(1), Origin::Api, None)
    );
    assert_eq!(harness.planner.planned().get(&new), Some(&Revision(1)), "it does not rest");
    let row = harness.audit().await.pop().unwrap();
    assert_eq!((row.action.as_str(), row.object_id), ("clone", Some(new.0)));
    assert!(!format!("{row:?}").contains("hush"));
}

#[tokio::test]
async fn a_copy_without_a_name_gets_a_default_name() {
    let harness = Harness::new();
    let old = harness.create_monitor(json!({"name": "\u{e9}".repeat(255)})).await;
    for body in [json!({}), json!({"name": null}), json!({"name": ""})] {
        let new = create_copy(&harness, old, body).await.unwrap();
        assert_eq!(harness.monitor(new).name(), format!("Copy of {}", "\u{e9}".repeat(247)));
    }
    let copy = create_copy(&harness, old, json!({"name": "\u{e9}".repeat(255)})).await;
    assert!(copy.is_ok());
    let filed = create_file_monitor(&harness, 77).await;
    let new = create_copy(&harness, filed, json!({})).await.unwrap();
    assert_eq!(harness.monitor(new).origin, Origin::Api, "the copy is none of the file's");
    let before = snapshot(&harness).await;
    for body in [json!({"name": "x".repeat(256)}), json!({"name": 7}), json!({"nmae": "x"}), json!([])] {
        assert_eq!(error_texts(create_copy(&harness, old, body.clone()).await.map(drop)).len(), 1, "{body}");
    }
    assert_eq!(create_copy(&harness, MonitorId(999_999), json!({})).await, Err(ServiceError::NotFound));
    let other =
        monitors::copy_monitor(&harness.monitors, &caller(2, Role::Admin), old, &Node::from(json!({}))).await;
    assert_eq!(other, Err(ServiceError::NotFound));
    let reader =
        monitors::copy_monitor(&harness.monitors, &caller(1, Role::ReadOnly), old, &Node::from(json!({})))
            .await;
    assert!(matches!(reader, Err(ServiceError::Forbidden(_))));
    assert_eq!(snapshot(&harness).await, before);
}

#[tokio::test]
async fn a_full_plan_refuses_a_copy() {
    let harness = Harness::over(with_plans());
    let one = harness.create_monitor(json!({"billing_plancode": "small"})).await;
    create_copy(&harness, one, json!({})).await.unwrap();
    let found = error_texts(create_copy(&harness, one, json!({})).await.map(drop));
    assert!(found.len() == 1 && found[0].contains("is full"), "{found:?}");
}

#[tokio::test]
async fn a_single_request_is_converted_to_step_one() {
    let harness = Harness::new();
    let assertions = json!([{"source": "Status Code", "comparison": "equals", "value": "204"}]);
    let values = json!({"url": "https://a/x", "http_method": "HEAD", "assertions": assertions});
    let id = create_monitor(&harness, T::WebsiteSslApi, values).await;
    let saved = monitors::convert_single_request_to_steps(
        &harness.monitors,
        &admin(),
        id,
        T::WebsiteSslApi,
        Some(Revision(1)),
    )
    .await
    .unwrap();
    assert_eq!((saved.id, saved.revision), (id.0, 2));
    let document = &harness.monitor(id).document;
    let step = &document.list("api_steps")[0];
    assert_eq!(document.list("api_steps").len(), 1);
    assert_eq!((&step["url"], &step["http_method"]), (&json!("https://a/x"), &json!("HEAD")));
    assert_eq!((&step["step_name"], &step["step_number"]), (&json!("Step 1"), &json!(1)));
    assert_eq!((&step["assertions"][0]["value"], &step["head"]["headers"]), (&json!("204"), &json!([])));
    assert!(["url", "http_method", "assertions"].iter().all(|field| !document.differs_from_default(field)));
    assert_eq!(harness.audit().await.pop().unwrap().action, "convert-api");
    let second_conversion =
        monitors::convert_single_request_to_steps(&harness.monitors, &admin(), id, T::WebsiteSslApi, None)
            .await;
    assert!(matches!(second_conversion, Err(ServiceError::Conflict(_))), "{second_conversion:?}");
}

#[tokio::test]
async fn conversions_that_are_not_possible_are_refused() {
    let harness = Harness::new();
    let website = harness.create_monitor(json!({})).await;
    let api = create_monitor(&harness, T::WebsiteApi, json!({"url": "http://a/"})).await;
    let before = snapshot(&harness).await;
    let convert = async |id, kind, version| {
        monitors::convert_single_request_to_steps(&harness.monitors, &admin(), id, kind, version)
            .await
            .unwrap_err()
    };
    assert_eq!(convert(website, T::Website, None).await, ServiceError::NotFound);
    assert_eq!(convert(website, T::WebsiteApi, None).await, ServiceError::NotFound);
    assert_eq!(convert(api, T::WebsiteSslApi, None).await, ServiceError::NotFound);
    assert_eq!(convert(MonitorId(999_999), T::WebsiteApi, None).await, ServiceError::NotFound);
    assert_eq!(convert(api, T::WebsiteApi, Some(Revision(9))).await, ServiceError::PreconditionFailed);
    let reader = monitors::convert_single_request_to_steps(
        &harness.monitors,
        &caller(1, Role::ReadOnly),
        api,
        T::WebsiteApi,
        None,
    )
    .await;
    assert!(matches!(reader, Err(ServiceError::Forbidden(_))));
    assert_eq!(snapshot(&harness).await, before);
}
