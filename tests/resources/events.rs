//! Events: reported once, shown in the time of the account.

use serde_json::json;
use vigie::domain::{RecordKind, Role, Timestamp};
use vigie::service::ServiceError;
use vigie::store::RecordFilter;

use crate::resources::kit::{Kit, NOON, admin, apart, long, refuses, roles};

const KIND: RecordKind = RecordKind::Event;

#[tokio::test]
async fn an_event_gets_name_login_and_time_from_the_server() {
    let kit = Kit::new().await;
    kit.change(&admin(), RecordKind::Customer, 1, json!({"time_zone": "Asia/Tokyo"})).await.unwrap();
    let body = json!({
        "event": "deploy_done", "description": "v7", "value": "12345678",
        "name": "ignored", "login": "ignored", "timestamp": "ignored", "id": 5,
    });
    let id = kit.made(KIND, body).await;
    assert_eq!(
        kit.shown(KIND, id).await,
        json!({
            "id": id, "event": "deploy_done", "description": "v7", "value": "12345678", "quantity": 1,
            "name": "Deploy done", "login": "anna", "timestamp": "2026-01-01 21:00:00",
        })
    );
    assert_eq!(
        kit.change(&admin(), KIND, id, json!({"value": "x"})).await.err(),
        Some(ServiceError::NotFound)
    );
    assert_eq!(kit.gone(&admin(), KIND, id).await.err(), Some(ServiceError::NotFound));
}

#[tokio::test]
async fn lists_are_narrowed_by_type_and_time() {
    let kit = Kit::new().await;
    for event in ["a", "b", "a"] {
        kit.made(KIND, json!({"event": event, "description": "x"})).await;
        kit.clock.advance(std::time::Duration::from_mins(1));
    }
    let at = |minute: i64| Some(Timestamp::from_seconds(NOON + 60 * minute));
    let count = async |filter: RecordFilter| kit.listed(&admin(), filter).await.len();
    let all = || RecordFilter::new(KIND);
    assert_eq!(count(all()).await, 3);
    assert_eq!(count(RecordFilter { fields: vec![("event", json!("a"))], ..all() }).await, 2);
    assert_eq!(count(RecordFilter { from: at(1), ..all() }).await, 2);
    assert_eq!(count(RecordFilter { from: at(1), until: at(2), ..all() }).await, 1);
}

#[tokio::test]
async fn the_limits_hold() {
    let kit = Kit::new().await;
    kit.made(KIND, json!({"event": long(255), "description": long(65535), "value": long(8), "quantity": 0}))
        .await;
    refuses(
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
    // A long text stands in the trail as its length and hash.
    let after = kit.trail().await.pop().unwrap().after;
    assert!(after["description"].as_str().unwrap().starts_with("65535 characters, SHA-256 "));
}

#[tokio::test]
async fn editors_report_them_and_no_account_sees_those_of_another() {
    let kit = Kit::new().await;
    let body = json!({"event": "a", "description": "x"});
    roles(&kit, KIND, |_| body.clone(), &[Role::Admin, Role::CoAdmin, Role::PowerUser]).await;
    let id = kit.made(KIND, body.clone()).await;
    let stranger = kit.stranger();
    assert_eq!(kit.resources.get(&stranger, KIND, id).await.err(), Some(ServiceError::NotFound));
    apart(&kit, KIND, id, body).await;
}
