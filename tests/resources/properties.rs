//! Custom properties: the numbers of values are stable, and values in use stay.

use serde_json::{Value, json};
use vigie::domain::{RecordKind, Role};
use vigie::service::ServiceError;

use crate::resources::kit::{Kit, admin, apart, conflict, long, messages, refuses, roles};

const KIND: RecordKind = RecordKind::Property;

async fn values(kit: &Kit, id: i64) -> Value {
    kit.shown(KIND, id).await["values"].clone()
}

#[tokio::test]
async fn values_keep_their_numbers_and_no_number_is_given_twice() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, json!({"name": "colour", "values": [{"value": "red"}, {"value": "blue"}]})).await;
    assert_eq!(values(&kit, id).await, json!([{"id": 1, "value": "red"}, {"id": 2, "value": "blue"}]));
    let put = async |list: Value| kit.change(&admin(), KIND, id, json!({"values": list})).await;
    // By number with another text, by the same text, and a new one.
    put(json!([{"value": "blue"}, {"id": 1, "value": "crimson"}, {"value": "green"}])).await.unwrap();
    let expected =
        json!([{"id": 2, "value": "blue"}, {"id": 1, "value": "crimson"}, {"id": 3, "value": "green"}]);
    assert_eq!(values(&kit, id).await, expected);
    // What was read can be sent back.
    let read = kit.shown(KIND, id).await;
    assert_eq!(kit.change(&admin(), KIND, id, read).await.unwrap().revision, 2);
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
    assert!(kit.shown(KIND, id).await.get("next_value").is_none());
    assert!(!format!("{:?}", kit.trail().await).contains("next_value"));
}

#[tokio::test]
async fn a_value_in_use_stays_and_so_does_its_property() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, json!({"name": "colour", "values": [{"value": "red"}, {"value": "blue"}]})).await;
    let red = json!({"custom_properties": [{"id": id, "value_id": 1}]});
    kit.monitor(200_001, vigie::domain::CustomerId(1), red);
    let put = async |list: Value| kit.change(&admin(), KIND, id, json!({"values": list})).await;
    let text = "1 monitor uses the value `red` (1); it cannot be removed";
    assert_eq!(conflict(put(json!([{"value": "blue"}])).await), text);
    put(json!([{"value": "red"}])).await.unwrap();
    assert_eq!(
        conflict(kit.gone(&admin(), KIND, id).await),
        "1 monitor uses this property; remove it from them first"
    );
    kit.monitors.replace_all(Vec::new());
    kit.gone(&admin(), KIND, id).await.unwrap();
    assert_eq!(kit.resources.get(&admin(), KIND, id).await.err(), Some(ServiceError::NotFound));
}

#[tokio::test]
async fn the_directory_knows_them_at_once() {
    let kit = Kit::new().await;
    let known = async || kit.accounts.facts(vigie::domain::CustomerId(1)).await.unwrap().properties.clone();
    assert!(known().await.is_empty());
    let id = kit.made(KIND, json!({"name": "colour", "values": [{"value": "red"}]})).await;
    assert_eq!(known().await[&id].values[&1], "red");
    kit.change(&admin(), KIND, id, json!({"name": "paint"})).await.unwrap();
    assert_eq!(known().await[&id].name, "paint");
    kit.gone(&admin(), KIND, id).await.unwrap();
    assert!(known().await.is_empty());
}

#[tokio::test]
async fn bad_bodies_are_refused_with_every_offence() {
    let kit = Kit::new().await;
    kit.made(KIND, json!({"name": long(255), "values": [{"value": long(1000)}]})).await;
    let many: Vec<Value> = (0..=1000).map(|n| json!({"value": n.to_string()})).collect();
    kit.made(KIND, json!({"name": "many", "values": many[..1000]})).await;
    refuses(
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
    let taken = kit.make(&admin(), KIND, json!({"name": "many"})).await;
    assert_eq!(conflict(taken), "A property `many` already exists");
    // Another account may have one of the same name.
    kit.make(&kit.stranger(), KIND, json!({"name": "many"})).await.unwrap();
}

#[tokio::test]
async fn admins_alone_make_them_and_no_account_sees_those_of_another() {
    let kit = Kit::new().await;
    roles(&kit, KIND, |role| json!({"name": role.name()}), &[Role::Admin, Role::CoAdmin]).await;
    let id = kit.made(KIND, json!({"name": "colour"})).await;
    apart(&kit, KIND, id, json!({"name": "x"})).await;
}
