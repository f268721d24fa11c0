//! Events: reported once, shown in the time zone of the account.

use serde_json::json;
use vigie::domain::{ConfigRecordKind, Role, Timestamp};
use vigie::service::ServiceError;
use vigie::store::ConfigRecordFilter;

use crate::resources::kit::{Kit, NOON, admin, assert_isolated, assert_refused, assert_roles, long};

const KIND: ConfigRecordKind = ConfigRecordKind::Event;

// row: 2.6 event; 2.6 description; 2.6 value; 2.6 quantity; 2.6 name; 2.6 login; 2.6 timestamp
#[tokio::test]
async fn an_event_gets_name_login_and_time_from_the_server() {
    let kit = Kit::new().await;
    kit.patch(&admin(), ConfigRecordKind::Customer, 1, json!({"time_zone": "Asia/Tokyo"})).await.unwrap();
    let body = json!({
        "event": "deploy_done", "description": "v7", "value": "12345678",
        "name": "ignored", "login": "ignored", "timestamp": "ignored", "id": 5,
    });
    let id = kit.create_valid(KIND, body).await;
    assert_eq!(
        kit.get(KIND, id).await,
        json!({
            "id": id, "event": "deploy_done", "description": "v7", "value": "12345678", "quantity": 1,
            "name": "Deploy done", "login": "anna", "timestamp": "2026-01-01 21:00:00",
        })
    );
    assert_eq!(
        kit.patch(&admin(), KIND, id, json!({"value": "x"})).await.err(),
        Some(ServiceError::NotFound)
    );
    assert_eq!(kit.delete(&admin(), KIND, id).await.err(), Some(ServiceError::NotFound));
}

#[tokio::test]
async fn lists_are_filtered_by_type_and_time() {
    let kit = Kit::new().await;
    for event in ["a", "b", "a"] {
        kit.create_valid(KIND, json!({"event": event, "description": "x"})).await;
        kit.clock.advance(std::time::Duration::from_mins(1));
    }
    let at = |minute: i64| Some(Timestamp::from_seconds(NOON + 60 * minute));
    let count = async |filter: ConfigRecordFilter| kit.list(&admin(), filter).await.len();
    let all = || ConfigRecordFilter::new(KIND);
    assert_eq!(count(all()).await, 3);
    assert_eq!(count(ConfigRecordFilter { field_values: vec![("event", json!("a"))], ..all() }).await, 2);
    assert_eq!(count(ConfigRecordFilter { from: at(1), ..all() }).await, 2);
    assert_eq!(count(ConfigRecordFilter { from: at(1), until: at(2), ..all() }).await, 1);
}

// row: 8 description and value of an event
#[tokio::test]
async fn limits_are_enforced() {
    let kit = Kit::new().await;
    kit.create_valid(
        KIND,
        json!({"event": long(255), "description": long(65535), "value": long(8), "quantity": 0}),
    )
    .await;
    assert_refused(
        &kit,
        KIND,
        &[
            (json!({}), &["`event` is required", "`description` is required"]),
            (
                json!({"event": long(256), "description": long(65536), "value": long(9), "quantity": -1}),
                &[
                    "`event` must have at most 255 characters, not 256",
                    "`description` must have at most 65535 characters, not 65536",
                    "`value` must have at most 8 characters, not 9",
                    "`quantity` must be a whole number of at least 0, not `-1`",
                ],
            ),
        ],
    )
    .await;
    // The audit trail has a long text as its length and hash.
    let after = kit.audit_trail().await.pop().unwrap().after;
    assert!(after["description"].as_str().unwrap().starts_with("65535 characters, SHA-256 "));
}

#[tokio::test]
async fn editors_report_events_and_each_account_sees_its_own() {
    let kit = Kit::new().await;
    let body = json!({"event": "a", "description": "x"});
    assert_roles(&kit, KIND, |_| body.clone(), &[Role::Admin, Role::CoAdmin, Role::PowerUser]).await;
    let id = kit.create_valid(KIND, body.clone()).await;
    let stranger = kit.stranger();
    assert_eq!(kit.resources.get(&stranger, KIND, id).await.err(), Some(ServiceError::NotFound));
    assert_isolated(&kit, KIND, id, body).await;
}
