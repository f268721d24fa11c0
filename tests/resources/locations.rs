//! Locations: those of the settings, shared ones, and an account's own.

use serde_json::json;
use vigie::domain::{ConfigRecordKind, CustomerId, Revision, Role};
use vigie::service::ServiceError;
use vigie::store::ConfigRecordFilter;

use crate::resources::kit::{
    Kit, admin, as_role, assert_isolated, assert_refused, assert_roles, conflict, forbidden, long,
};

const KIND: ConfigRecordKind = ConfigRecordKind::Location;

#[tokio::test]
async fn a_location_is_created_changed_and_deleted() {
    let kit = Kit::new().await;
    let saved = kit.create(&admin(), KIND, json!({"name": "Lyon", "region": 33})).await.unwrap();
    let secret = saved.create_response_fields["enrolment_secret"].as_str().unwrap().to_owned();
    assert_eq!(secret.len(), 43);
    let record = kit.record(KIND, saved.id).await.unwrap();
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, secret.as_bytes());
    let stored = String::from_utf8(record.private_data.unwrap()).unwrap();
    let encoded = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, hash);
    assert!(stored.contains(&encoded) && !stored.contains(&secret), "{stored}");
    assert_eq!(
        kit.get(KIND, saved.id).await,
        json!({
            "id": saved.id, "name": "Lyon", "region": 33, "private": false, "verifies": false,
            "health": {"agents": 0, "alive": 0, "state": "away"}, "managed": false,
        })
    );
    let changed = kit.patch(&admin(), KIND, saved.id, json!({"name": "Lyon 2"})).await.unwrap();
    assert_eq!((changed.revision, changed.create_response_fields.len()), (2, 0));
    assert_eq!(kit.get(KIND, saved.id).await["region"], 33);
    kit.delete(&admin(), KIND, saved.id).await.unwrap();
    assert_eq!(kit.resources.get(&admin(), KIND, saved.id).await.err(), Some(ServiceError::NotFound));
    let trail = kit.audit_trail().await;
    assert_eq!(
        trail.iter().map(|row| row.action.as_str()).collect::<Vec<_>>(),
        ["delete", "change", "create"]
    );
    assert!(trail.iter().all(|row| row.object_kind == "location" && row.object_id == Some(saved.id)));
    assert_eq!(json!(trail[1].before), json!({"name": "Lyon"}));
    assert_eq!(json!(trail[1].after), json!({"name": "Lyon 2"}));
    assert_eq!(
        json!(trail[2].after),
        json!({"name": "Lyon", "region": 33, "private": false, "verifies": false})
    );
    let (hex, text) = (format!("{:x?}", hash.as_ref()), format!("{trail:?}"));
    assert!(!text.contains(&secret) && !text.contains(&hex));
}

#[tokio::test]
async fn locations_of_the_settings_are_visible_to_all_and_read_only() {
    let kit = Kit::new().await;
    let (first, revision) = kit.resources.get(&kit.stranger(), KIND, 1).await.unwrap();
    assert_eq!(revision, Revision(1));
    let north = json!({
        "id": 1, "name": "north", "region": 10, "private": false, "verifies": false,
        "health": {"agents": 1, "alive": 1, "state": "alive"}, "managed": true,
    });
    assert_eq!(json!(first), north);
    // The first has no live agent, the second is cut off from its network.
    kit.planner.0.lock().unwrap()[0].is_alive = false;
    kit.planner.0.lock().unwrap()[1].is_isolated = true;
    let away = json!({"agents": 1, "alive": 0, "state": "away"});
    for id in [1, 2] {
        assert_eq!(kit.get(KIND, id).await["health"], away, "{id}");
    }
    let page = kit
        .resources
        .list(&admin(), ConfigRecordFilter::new(KIND), crate::resources::kit::ALL)
        .await
        .unwrap();
    assert!(page.items.iter().all(|row| row["health"] == away), "{page:?}");
    let text = "This location is defined in the settings of the server; change it there";
    assert_eq!(forbidden(kit.patch(&admin(), KIND, 1, json!({"name": "x"})).await), text);
    assert_eq!(forbidden(kit.delete(&admin(), KIND, 2).await), text);
    assert_eq!(kit.delete(&admin(), KIND, 3).await.err(), Some(ServiceError::NotFound));
}

#[tokio::test]
async fn locations_of_account_1_are_shared_unless_private() {
    let kit = Kit::new().await;
    let shared = kit.create_valid(KIND, json!({"name": "shared"})).await;
    let private = kit.create_valid(KIND, json!({"name": "private", "private": true})).await;
    let theirs =
        kit.create(&kit.stranger(), KIND, json!({"name": "shared", "private": false})).await.unwrap().id;
    let ids = async |caller| {
        let rows = kit.list(&caller, ConfigRecordFilter::new(KIND)).await;
        rows.iter().map(|row| row["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids(admin()).await, [1, 2, shared, private]);
    assert_eq!(ids(kit.stranger()).await, [1, 2, shared, theirs]);
    let (own, _) = kit.resources.get(&kit.stranger(), KIND, theirs).await.unwrap();
    assert_eq!(own["private"], true);
    assert_isolated(&kit, KIND, private, json!({"name": "x"})).await;
    assert_eq!(kit.delete(&admin(), KIND, theirs).await.err(), Some(ServiceError::NotFound));
    let text = "This location is shared by all accounts; only account 1 can change it";
    assert_eq!(forbidden(kit.delete(&kit.stranger(), KIND, shared).await), text);
    assert_eq!(forbidden(kit.patch(&kit.stranger(), KIND, shared, json!({"name": "x"})).await), text);
}

#[tokio::test]
async fn a_location_in_use_cannot_be_removed() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, json!({"name": "Lyon"})).await;
    let theirs = json!({"locations": [{"id": id}], "home_location": id});
    kit.monitor(200_001, kit.other, theirs.clone());
    assert_eq!(
        conflict(kit.delete(&admin(), KIND, id).await),
        "1 monitor uses this location; give them another one first"
    );
    assert_eq!(
        conflict(kit.patch(&admin(), KIND, id, json!({"private": true})).await),
        "Monitors of other accounts use this location; it cannot become private"
    );
    kit.monitor(200_002, CustomerId(1), theirs);
    assert_eq!(
        conflict(kit.delete(&admin(), KIND, id).await),
        "2 monitors use this location; give them another one first"
    );
    kit.monitors.replace_all(Vec::new());
    kit.patch(&admin(), ConfigRecordKind::Customer, 1, json!({"default_locations": [{"id": id}]}))
        .await
        .unwrap();
    assert_eq!(
        conflict(kit.delete(&admin(), KIND, id).await),
        "This location is among the default locations of 1 account(s)"
    );
    kit.patch(&admin(), ConfigRecordKind::Customer, 1, json!({"default_locations": []})).await.unwrap();
    kit.delete(&admin(), KIND, id).await.unwrap();
}

#[tokio::test]
async fn invalid_bodies_are_refused_with_every_error() {
    let kit = Kit::new().await;
    kit.create_valid(KIND, json!({"name": long(255)})).await;
    assert_refused(
        &kit,
        KIND,
        &[
            (json!({}), &["`name` is required"]),
            (json!({"name": ""}), &["`name` must not be empty"]),
            (json!({"name": long(256)}), &["`name` must have at most 255 characters, not 256"]),
            (
                json!({"name": "x", "region": -1}),
                &["`region` must be a whole number from 0 to 1000000, not `-1`"],
            ),
            (
                json!({"name": 5, "privat": true}),
                &[
                    "`name` must be a text, not `5`\n  hint: put it in quotes",
                    "`privat` is not a field of `LocationRecord`\n  hint: did you mean `private`?",
                ],
            ),
            (json!([]), &["this must be a map of fields, not a list"]),
        ],
    )
    .await;
    let taken = kit.create(&admin(), KIND, json!({"name": long(255)})).await;
    assert_eq!(conflict(taken), format!("A location `{}` already exists", long(255)));
}

#[tokio::test]
async fn only_admins_create_locations() {
    let kit = Kit::new().await;
    assert_roles(&kit, KIND, |role| json!({"name": role.name()}), &[Role::Admin, Role::CoAdmin]).await;
}

#[tokio::test]
async fn an_older_revision_is_refused() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, json!({"name": "a"})).await;
    let body = vigie::syntax::node::Node::from(json!({"name": "b"}));
    let patch = async |if_match| kit.resources.patch(&as_role(Role::Admin), KIND, id, &body, if_match).await;
    assert_eq!(patch(Some(Revision(2))).await.err(), Some(ServiceError::PreconditionFailed));
    assert_eq!(patch(Some(Revision(1))).await.unwrap().revision, 2);
    assert_eq!(patch(Some(Revision(1))).await.err(), Some(ServiceError::PreconditionFailed));
    // A patch that changes nothing makes no new revision.
    assert_eq!(patch(None).await.unwrap().revision, 2);
    let deletion = kit.resources.delete(&admin(), KIND, id, Some(Revision(1))).await;
    assert_eq!(deletion.err(), Some(ServiceError::PreconditionFailed));
}
