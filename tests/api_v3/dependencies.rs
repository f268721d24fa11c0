//! `depends_on`: what it accepts, who is meant, and what a removal does.

use serde_json::{Value, json};
use vigie::domain::{MonitorType, Role};

use crate::support::app::{App, Client, website};

fn body(parents: &[i64]) -> Value {
    let mut body = website("Shop", json!({}));
    body["depends_on"] = json!(parents);
    body
}

async fn create(client: &Client, parents: &[i64]) -> i64 {
    client.post("/monitors/website", body(parents)).await.id()
}

async fn set_parents(client: &Client, id: i64, parents: Value) -> Vec<String> {
    client.patch(&format!("/monitors/website/{id}"), json!({"depends_on": parents})).await.refused(400)
}

async fn parents_of(client: &Client, id: i64) -> Value {
    client.get(&format!("/monitors/{id}")).await.expect(200)["depends_on"].clone()
}

#[tokio::test]
async fn every_type_depends_on_monitors_of_its_account() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let parent = create(&user, &[]).await;
    for kind in MonitorType::ALL {
        let mut body = crate::support::app::example(*kind);
        body["depends_on"] = json!([parent]);
        let id = user.post(&format!("/monitors/{kind}"), body).await.id();
        assert_eq!(parents_of(&user, id).await, json!([parent]), "{kind}");
    }
}

#[tokio::test]
async fn a_monitor_of_another_account_is_refused_like_one_that_does_not_exist() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let other_account = app.account("Other").await;
    let other = app.login_to(other_account, Role::Admin).await;
    let foreign = create(&other, &[]).await;
    let own = create(&user, &[]).await;
    let unknown = foreign + 1000;
    let refusals =
        [set_parents(&user, own, json!([foreign])).await, set_parents(&user, own, json!([unknown])).await];
    let text = |id: i64| vec![format!("`depends_on[0]`: monitor `{id}` does not exist")];
    assert_eq!(refusals, [text(foreign), text(unknown)]);
    let created = user.post("/monitors/website", body(&[foreign])).await.refused(400);
    assert_eq!(created, text(foreign));
    assert_eq!(parents_of(&user, own).await, json!([]));
}

#[tokio::test]
async fn circles_repeats_and_long_or_odd_lists_are_refused() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let a = create(&user, &[]).await;
    let b = create(&user, &[a]).await;
    let c = create(&user, &[b, a]).await;
    let circle = set_parents(&user, a, json!([c])).await;
    let named = format!("`{a}` depends on `{c}`, which depends on `{a}`");
    assert!(circle[0].starts_with(&format!("`depends_on` closes a circle: {named}\n")), "{circle:?}");
    let longer = create(&user, &[]).await;
    user.patch(&format!("/monitors/website/{c}"), json!({"depends_on": [b]})).await.expect(200);
    let circle = set_parents(&user, a, json!([longer, c])).await;
    let named = format!("`{a}` depends on `{c}`, which depends on `{b}`, which depends on `{a}`");
    assert!(circle[0].contains(&named), "{circle:?}");
    assert!(set_parents(&user, a, json!([a])).await[0].contains("cannot depend on itself"));
    assert!(set_parents(&user, c, json!([a, a])).await[0].contains("is in the list already"));
    for bad in
        [json!(["a"]), json!([0]), json!([-1]), json!([1.5]), json!([null]), json!("1"), json!({"id": a})]
    {
        set_parents(&user, b, bad).await;
    }
    let many: Vec<i64> = (1..=21).collect();
    assert!(set_parents(&user, b, json!(many)).await[0].contains("at most 20 entries"));
    assert_eq!(parents_of(&user, a).await, json!([]), "nothing was stored");
    user.patch(&format!("/monitors/website/{b}"), json!({"depends_on": []})).await.expect(200);
    user.patch(&format!("/monitors/website/{a}"), json!({"depends_on": [c]})).await.expect(200);
}

#[tokio::test]
async fn a_removed_monitor_is_left_out_and_its_dependents_can_still_be_changed() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let (gone, stays) = (create(&user, &[]).await, create(&user, &[]).await);
    let child = create(&user, &[gone, stays]).await;
    user.delete(&format!("/monitors/{gone}")).await.expect(204);
    assert_eq!(parents_of(&user, child).await, json!([stays]));
    let path = format!("/monitors/website/{child}");
    user.patch(&path, json!({"timeout": 60})).await.expect(200);
    let read = user.get(&format!("/monitors/{child}")).await.expect(200);
    user.patch(&path, read).await.expect(200);
    // Once left out, it is as unknown as any other.
    assert!(set_parents(&user, child, json!([gone])).await[0].contains("does not exist"));
    let export = user.get("/export").await.expect(200);
    let entries = export["monitors"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["id"] == child).unwrap();
    assert_eq!(entry["entry"]["depends_on"], json!([format!("api-{stays}")]), "by key");
}

#[tokio::test]
async fn a_copy_depends_on_the_same_monitors() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let parent = create(&user, &[]).await;
    let child = create(&user, &[parent]).await;
    let copy = user.post(&format!("/monitors/{child}/clone"), json!({})).await.id();
    assert_eq!(parents_of(&user, copy).await, json!([parent]));
}
