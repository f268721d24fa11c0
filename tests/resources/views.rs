//! Saved views of the list: what their query may hold, and who sees which.

use serde_json::{Value, json};
use vigie::domain::{ConfigRecordFilter, ConfigRecordKind, Role};
use vigie::service::ServiceError;

use crate::resources::kit::{
    Kit, admin, as_role, assert_isolated, assert_refused, assert_roles, conflict, forbidden, long, messages,
};

const KIND: ConfigRecordKind = ConfigRecordKind::View;

async fn ids(kit: &Kit, role: Role) -> Vec<Value> {
    let views = kit.list(&as_role(role), ConfigRecordFilter::new(KIND)).await;
    views.iter().map(|view| view["id"].clone()).collect()
}

#[tokio::test]
async fn a_query_is_kept_as_the_list_reads_it_and_unknown_parts_are_named() {
    let kit = Kit::new().await;
    let sent = "type=website&q=&property=team%3Aa&sort=name&page=3";
    let id = kit.create_valid(KIND, json!({"name": "shop", "query": sent})).await;
    let view = kit.get(KIND, id).await;
    assert_eq!(view["query"], "type=website&property=team%3Aa&sort=name", "a view begins at its first page");
    assert_eq!((&view["shared"], &view["created_by"]), (&json!(false), &json!("anna")));
    assert!(view.get("owner").is_none() && !format!("{:?}", kit.audit_trail().await).contains("owner"));
    // The read object can be sent back.
    assert_eq!(kit.patch(&admin(), KIND, id, view).await.unwrap().revision, 1);
    let odd = "type=websites&colour=red&sort=name";
    let expected = "`query`: the list has no such filter, or not this value: `type=websites`, `colour=red`";
    assert_eq!(messages(kit.patch(&admin(), KIND, id, json!({"query": odd})).await), [expected]);
    assert_refused(
        &kit,
        KIND,
        &[
            (json!({"query": ""}), &["`name` is required"]),
            (json!({"name": "x", "query": odd}), &[expected]),
            (
                json!({"name": "x", "query": format!("q={}&group={}", long(200), long(200))}),
                &["`query` must have at most 1900 characters as in an address"],
            ),
            (json!({"name": long(129)}), &["`name` must have at most 128 characters, not 129"]),
        ],
    )
    .await;
    assert_eq!(
        conflict(kit.create(&admin(), KIND, json!({"name": "shop"})).await),
        "A view `shop` already exists"
    );
    kit.create(&kit.stranger(), KIND, json!({"name": "shop"})).await.unwrap();
}

#[tokio::test]
async fn a_view_that_is_not_shared_exists_for_who_made_it_alone() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, json!({"name": "mine"})).await;
    let other = as_role(Role::Admin);
    assert_eq!(ids(&kit, Role::Admin).await, [] as [Value; 0]);
    assert_eq!(kit.resources.get(&other, KIND, id).await.err(), Some(ServiceError::NotFound));
    assert_eq!(kit.patch(&other, KIND, id, json!({"name": "x"})).await.err(), Some(ServiceError::NotFound));
    assert_eq!(kit.delete(&other, KIND, id).await.err(), Some(ServiceError::NotFound));
    kit.patch(&admin(), KIND, id, json!({"shared": true})).await.unwrap();
    assert_eq!(ids(&kit, Role::ReadOnly).await, [json!(id)]);
    kit.patch(&other, KIND, id, json!({"name": "ours"})).await.unwrap();
    let taken = kit.patch(&other, KIND, id, json!({"shared": false})).await;
    assert_eq!(forbidden(taken), "Only who made a view can take it back from the others of the account");
    kit.patch(&admin(), KIND, id, json!({"shared": false})).await.unwrap();
    assert_eq!(ids(&kit, Role::Admin).await, [] as [Value; 0]);
}

#[tokio::test]
async fn the_views_of_a_removed_user_go_unless_they_are_shared() {
    let kit = Kit::new().await;
    let user = json!({"login": "carl", "role": "POWER-USER", "password": "long enough"});
    let user = kit.create_valid(ConfigRecordKind::User, user).await;
    let carl = vigie::service::Caller { user_id: vigie::domain::UserId(user), ..as_role(Role::PowerUser) };
    let mine = kit.create(&carl, KIND, json!({"name": "mine"})).await.unwrap().id;
    let ours = kit.create(&carl, KIND, json!({"name": "ours", "shared": true})).await.unwrap().id;
    kit.delete(&admin(), ConfigRecordKind::User, user).await.unwrap();
    assert!(kit.record(KIND, mine).await.is_none() && kit.record(KIND, ours).await.is_some());
}

#[tokio::test]
async fn editors_save_views_and_each_account_sees_its_own() {
    let kit = Kit::new().await;
    let editors = [Role::Admin, Role::CoAdmin, Role::PowerUser];
    assert_roles(&kit, KIND, |role| json!({"name": role.name()}), &editors).await;
    let id = kit.create_valid(KIND, json!({"name": "all", "shared": true})).await;
    assert_isolated(&kit, KIND, id, json!({"name": "x"})).await;
}
