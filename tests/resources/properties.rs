//! Custom properties: ids of values are stable, and values in use cannot be removed.

use serde_json::{Value, json};
use vigie::domain::{ConfigRecordKind, Role};
use vigie::service::ServiceError;

use crate::resources::kit::{
    Kit, admin, assert_isolated, assert_refused, assert_roles, conflict, long, messages,
};

const KIND: ConfigRecordKind = ConfigRecordKind::Property;

async fn values(kit: &Kit, id: i64) -> Value {
    kit.get(KIND, id).await["values"].clone()
}

#[tokio::test]
async fn values_keep_their_ids_and_no_id_is_reused() {
    let kit = Kit::new().await;
    let id = kit
        .create_valid(KIND, json!({"name": "colour", "values": [{"value": "red"}, {"value": "blue"}]}))
        .await;
    assert_eq!(values(&kit, id).await, json!([{"id": 1, "value": "red"}, {"id": 2, "value": "blue"}]));
    let put = async |list: Value| kit.patch(&admin(), KIND, id, json!({"values": list})).await;
    // By id with another text, by the same text, and a new one.
    put(json!([{"value": "blue"}, {"id": 1, "value": "crimson"}, {"value": "green"}])).await.unwrap();
    let expected =
        json!([{"id": 2, "value": "blue"}, {"id": 1, "value": "crimson"}, {"id": 3, "value": "green"}]);
    assert_eq!(values(&kit, id).await, expected);
    // The read object can be sent back.
    let read = kit.get(KIND, id).await;
    assert_eq!(kit.patch(&admin(), KIND, id, read).await.unwrap().revision, 2);
    put(json!([{"id": 2, "value": "blue"}])).await.unwrap();
    put(json!([{"value": "blue"}, {"value": "green"}])).await.unwrap();
    assert_eq!(values(&kit, id).await, json!([{"id": 2, "value": "blue"}, {"id": 4, "value": "green"}]));
    assert_eq!(
        messages(put(json!([{"id": 9, "value": "x"}, {"value": "y"}, {"value": "y"}])).await),
        [
            "`values[0].id`: the property has no value `9`; leave `id` out for a new one",
            "`values[2].value` is already in the list",
        ]
    );
    assert!(kit.get(KIND, id).await.get("next_value").is_none());
    assert!(!format!("{:?}", kit.audit_trail().await).contains("next_value"));
}

#[tokio::test]
async fn a_value_in_use_and_its_property_cannot_be_removed() {
    let kit = Kit::new().await;
    let id = kit
        .create_valid(KIND, json!({"name": "colour", "values": [{"value": "red"}, {"value": "blue"}]}))
        .await;
    let red = json!({"custom_properties": [{"id": id, "value_id": 1}]});
    kit.monitor(200_001, vigie::domain::CustomerId(1), red);
    let put = async |list: Value| kit.patch(&admin(), KIND, id, json!({"values": list})).await;
    let text = "1 monitor uses the value `red` (1); it cannot be removed";
    assert_eq!(conflict(put(json!([{"value": "blue"}])).await), text);
    put(json!([{"value": "red"}])).await.unwrap();
    assert_eq!(
        conflict(kit.delete(&admin(), KIND, id).await),
        "1 monitor uses this property; remove it from them first"
    );
    kit.monitors.replace_all(Vec::new());
    kit.delete(&admin(), KIND, id).await.unwrap();
    assert_eq!(kit.resources.get(&admin(), KIND, id).await.err(), Some(ServiceError::NotFound));
}

#[tokio::test]
async fn the_account_cache_has_each_change_at_once() {
    let kit = Kit::new().await;
    let properties =
        async || kit.accounts.account(vigie::domain::CustomerId(1)).await.unwrap().properties.clone();
    assert!(properties().await.is_empty());
    let id = kit.create_valid(KIND, json!({"name": "colour", "values": [{"value": "red"}]})).await;
    assert_eq!(properties().await[&id].values[&1], "red");
    kit.patch(&admin(), KIND, id, json!({"name": "paint"})).await.unwrap();
    assert_eq!(properties().await[&id].name, "paint");
    kit.delete(&admin(), KIND, id).await.unwrap();
    assert!(properties().await.is_empty());
}

#[tokio::test]
async fn invalid_bodies_are_refused_with_every_error() {
    let kit = Kit::new().await;
    kit.create_valid(KIND, json!({"name": long(255), "values": [{"value": long(1000)}]})).await;
    let many: Vec<Value> = (0..=1000).map(|n| json!({"value": n.to_string()})).collect();
    kit.create_valid(KIND, json!({"name": "many", "values": many[..1000]})).await;
    assert_refused(
        &kit,
        KIND,
        &[
            (json!({"values": []}), &["`name` is required"]),
            (json!({"name": long(256)}), &["`name` must have at most 255 characters, not 256"]),
            (
                json!({"name": "x", "values": [{"value": long(1001)}, {"value": ""}, {}]}),
                &[
                    "`values[0].value` must have at most 1000 characters, not 1001",
                    "`values[1].value` must not be empty",
                    "`values[2].value` is required",
                ],
            ),
            (json!({"name": "x", "values": many}), &["`values` must have at most 1000 entries, not 1001"]),
            (
                json!({"name": "x", "values": [{"id": 1, "value": "a"}]}),
                &["`values[0].id`: the property has no value `1`; leave `id` out for a new one"],
            ),
        ],
    )
    .await;
    let taken = kit.create(&admin(), KIND, json!({"name": "many"})).await;
    assert_eq!(conflict(taken), "A property `many` already exists");
    // Another account may have a property of the same name.
    kit.create(&kit.stranger(), KIND, json!({"name": "many"})).await.unwrap();
}

#[tokio::test]
async fn only_admins_create_properties_and_each_account_sees_its_own() {
    let kit = Kit::new().await;
    assert_roles(&kit, KIND, |role| json!({"name": role.name()}), &[Role::Admin, Role::CoAdmin]).await;
    let id = kit.create_valid(KIND, json!({"name": "colour"})).await;
    assert_isolated(&kit, KIND, id, json!({"name": "x"})).await;
}
