//! Blackouts: one-time or weekly, of a monitor of the account.

use serde_json::{Value, json};
use vigie::domain::{ConfigRecordKind, CustomerId, Role};
use vigie::service::ServiceError;
use vigie::store::ConfigRecordFilter;

use crate::resources::kit::{
    Kit, admin, assert_isolated, assert_refused, assert_roles, conflict, long, messages, object,
};

const KIND: ConfigRecordKind = ConfigRecordKind::Blackout;
const MONITOR: i64 = 200_001;

async fn kit() -> Kit {
    let kit = Kit::new().await;
    kit.monitor(MONITOR, CustomerId(1), json!({}));
    kit.monitor(200_002, kit.other, json!({}));
    kit
}

fn once(more: Value) -> Value {
    let mut body = json!({
        "assoc_id": MONITOR, "type": "Monitor",
        "from_date": "2026-01-01 12:00:00", "thru_date": "2026-01-01 13:00:00",
    });
    body.as_object_mut().unwrap().extend(object(more));
    body
}

fn weekly(more: Value) -> Value {
    let mut body = json!({
        "assoc_id": MONITOR, "type": "Alert", "persistent": true,
        "start_day": 7, "start_time": "22:00", "end_day": 1, "end_time": "06:00",
    });
    body.as_object_mut().unwrap().extend(object(more));
    body
}

// row: 2.4 id; 2.4 assoc_id; 2.4 persistent; 2.4 from_date; 2.4 thru_date; 2.4 start_day; 2.4 note
// row: 2.4 date_added; 2.4 login
#[tokio::test]
async fn the_unused_half_of_the_fields_is_null() {
    let kit = kit().await;
    let first = kit.create_valid(KIND, once(json!({"note": "deploy"}))).await;
    assert_eq!(
        kit.get(KIND, first).await,
        json!({
            "id": first, "assoc_id": MONITOR, "type": "Monitor", "persistent": false, "start_day": null,
            "start_time": null, "end_day": null, "end_time": null, "from_date": "2026-01-01 12:00:00",
            "thru_date": "2026-01-01 13:00:00", "note": "deploy", "date_added": "2026-01-01T12:00:00Z",
            "login": "anna",
        })
    );
    let second = kit.get(KIND, kit.create_valid(KIND, weekly(json!({}))).await).await;
    assert_eq!((&second["from_date"], &second["thru_date"]), (&Value::Null, &Value::Null));
    assert_eq!((&second["start_day"], &second["note"]), (&json!(7), &Value::Null));
}

#[tokio::test]
async fn times_are_in_the_time_zone_of_the_account() {
    let kit = kit().await;
    kit.patch(&admin(), ConfigRecordKind::Customer, 1, json!({"time_zone": "Europe/Paris"})).await.unwrap();
    // It is 13:00 in Paris.
    assert_eq!(
        messages(kit.create(&admin(), KIND, once(json!({}))).await),
        ["`thru_date` is past", "`from_date` is more than 5 minutes ago"]
    );
    kit.create_valid(
        KIND,
        once(json!({"from_date": "2026-01-01 12:55:00", "thru_date": "2026-01-01 13:00:01"})),
    )
    .await;
}

#[tokio::test]
async fn only_weekly_blackouts_can_be_changed() {
    let kit = kit().await;
    let first = kit.create_valid(KIND, once(json!({}))).await;
    assert_eq!(
        conflict(kit.patch(&admin(), KIND, first, json!({"note": "x"})).await),
        "A one-time blackout cannot be changed; remove it and create another"
    );
    let second = kit.create_valid(KIND, weekly(json!({}))).await;
    let change = async |body: Value| kit.patch(&admin(), KIND, second, body).await;
    change(json!({"start_time": "23:30", "note": "x"})).await.unwrap();
    let shown = kit.get(KIND, second).await;
    assert_eq!(
        (&shown["start_time"], &shown["note"], &shown["end_day"]),
        (&json!("23:30"), &json!("x"), &json!(1))
    );
    // The read object can be sent back.
    assert_eq!(change(shown).await.unwrap().revision, 2);
    for (body, text) in [
        (
            json!({"persistent": false}),
            "`persistent` stays `true`; remove the blackout and make one that comes once",
        ),
        (json!({"start_day": null}), "`start_day` is required when `persistent` is true"),
        (json!({"start_day": 8}), "`start_day` must be a whole number from 1 to 7, not `8`"),
        (json!({"from_date": "2026-02-01 00:00:00"}), "`from_date` does not go with `persistent` true"),
        (json!({"assoc_id": 7}), "`assoc_id` of a blackout cannot be changed; remove it and create another"),
    ] {
        assert_eq!(messages(change(body).await), [text]);
    }
}

#[tokio::test]
async fn a_past_blackout_cannot_be_removed() {
    let kit = kit().await;
    let first = kit.create_valid(KIND, once(json!({}))).await;
    let second = kit.create_valid(KIND, once(json!({"thru_date": "2026-01-01 14:00:00"}))).await;
    kit.clock.advance(std::time::Duration::from_hours(1));
    assert_eq!(conflict(kit.delete(&admin(), KIND, first).await), "A past blackout cannot be removed");
    kit.delete(&admin(), KIND, second).await.unwrap();
    assert_eq!(kit.delete(&admin(), KIND, second).await.err(), Some(ServiceError::NotFound));
}

#[tokio::test]
async fn lists_are_filtered() {
    let kit = kit().await;
    kit.monitor(200_003, CustomerId(1), json!({}));
    let first = kit.create_valid(KIND, once(json!({}))).await;
    let second = kit.create_valid(KIND, weekly(json!({}))).await;
    let third = kit.create_valid(KIND, weekly(json!({"assoc_id": 200_003}))).await;
    let ids = async |fields: Vec<(&'static str, Value)>, assoc: Vec<i64>| {
        let filter =
            ConfigRecordFilter { field_values: fields, parent_ids: assoc, ..ConfigRecordFilter::new(KIND) };
        let rows = kit.list(&admin(), filter).await;
        rows.iter().map(|row| row["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids(vec![], vec![]).await, [first, second, third]);
    assert_eq!(ids(vec![("type", json!("Alert"))], vec![]).await, [second, third]);
    assert_eq!(ids(vec![("persistent", json!(false))], vec![]).await, [first]);
    assert_eq!(ids(vec![("persistent", json!(true))], vec![200_003]).await, [third]);
}

// row: 2.4 note; 8 note of a blackout; 8 day of the week
#[tokio::test]
async fn invalid_bodies_are_refused_with_every_error() {
    let kit = kit().await;
    kit.create_valid(KIND, once(json!({"note": long(255), "from_date": "2026-01-01 11:55:00"}))).await;
    kit.create_valid(KIND, weekly(json!({"start_day": 1, "end_day": 7}))).await;
    assert_refused(
        &kit,
        KIND,
        &[
            (json!({}), &["`assoc_id` is required", "`type` is required"]),
            (once(json!({"note": long(256)})), &["`note` must have at most 255 characters, not 256"]),
            (once(json!({"assoc_id": 7})), &["`assoc_id`: monitor `7` does not exist"]),
            (once(json!({"assoc_id": 200_002})), &["`assoc_id`: monitor `200002` does not exist"]),
            (
                once(json!({"type": "Notifier", "note": "x"})),
                &["`note` does not go with `type` Notifier", "`assoc_id`: there is no recipient `200001`"],
            ),
            (
                weekly(json!({"start_day": 0, "end_day": 8, "start_time": "24:00"})),
                &[
                    "`start_day` must be a whole number from 1 to 7, not `0`",
                    "`start_time` must be a time `hh:mm` of 24 hours, not `24:00`",
                    "`end_day` must be a whole number from 1 to 7, not `8`",
                ],
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn editors_create_blackouts_and_each_account_sees_its_own() {
    let kit = kit().await;
    assert_roles(&kit, KIND, |_| once(json!({})), &[Role::Admin, Role::CoAdmin, Role::PowerUser]).await;
    let id = kit.create_valid(KIND, weekly(json!({}))).await;
    assert_isolated(&kit, KIND, id, json!({"note": "x"})).await;
}
