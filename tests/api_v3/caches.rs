//! The cached facts of an account reflect each change at once.

use serde_json::{Value, json};
use vigie::catalog::AccountSnapshot;
use vigie::domain::{CustomerId, MonitorId, Role, Timestamp};
use vigie::schedule::BlackoutTarget;

use crate::support::app::{App, NOON, website};
use crate::support::tls_server::Authority;

/// Returns the cached facts of account 1 that a change below can alter.
async fn cached(app: &App) -> Value {
    let facts = app.state.monitor_service.account_cache().account(CustomerId(1)).await.unwrap();
    describe(&facts)
}

fn describe(facts: &AccountSnapshot) -> Value {
    let names = |names: Vec<&str>| json!(names);
    let noon = Timestamp::from_seconds(NOON);
    let in_blackout = |id: i64| {
        facts.blackout_calendar.active_window(BlackoutTarget::Monitor(MonitorId(id)), noon).is_some()
    };
    json!({
        "locations": names(facts.locations.values().map(|location| location.name.as_str()).collect()),
        "properties": names(facts.properties.values().map(|property| property.name.as_str()).collect()),
        "certificates": names(facts.certificates.values().map(|known| known.name.as_str()).collect()),
        "recipients": facts.contacts.recipients.len(),
        "groups": facts.contacts.groups.len(),
        "brand": facts.brand,
        "time_zone": facts.time_zone.iana_name(),
        // Over the ids of all monitors that a test here creates.
        "resting": (1..1000).filter(|id| in_blackout(*id)).count(),
    })
}

#[tokio::test]
async fn each_change_of_a_record_reaches_the_account_cache() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let monitor = admin.post("/monitors/website", website("Shop", json!({}))).await.id();
    let authority = Authority::new("Shop CA").pem();
    let records = [
        ("/locations", json!({"name": "Lyon", "region": 1}), json!({"name": "Nice"})),
        ("/properties", json!({"name": "Team", "values": [{"value": "a"}]}), json!({"name": "Crew"})),
        ("/certificates", json!({"name": "Shop CA", "kind": "authority", "pem": authority}), Value::Null),
        ("/recipients", json!({"name": "Anna", "recipient": "anna@a.example"}), Value::Null),
        ("/notifier-groups", json!({"name": "All", "monitors": [{"id": monitor}]}), Value::Null),
        (
            "/blackouts",
            json!({"assoc_id": monitor, "type": "Monitor", "from_date": "2026-11-20 11:57:00",
                "thru_date": "2026-11-20 13:00:00"}),
            Value::Null,
        ),
    ];
    let start = cached(&app).await;
    for (path, body, change) in records {
        let id = admin.post(path, body).await.id();
        let created = cached(&app).await;
        assert_ne!(created, start, "{path} created");
        if !change.is_null() {
            admin.patch(&format!("{path}/{id}"), change).await.expect(200);
            assert_ne!(cached(&app).await, created, "{path} changed");
        }
        admin.delete(&format!("{path}/{id}")).await.expect(204);
        assert_eq!(cached(&app).await, start, "{path} removed");
    }
    admin.patch("/account", json!({"time_zone": "Europe/Paris", "brand": "Shop watch"})).await.expect(200);
    let account = cached(&app).await;
    assert_eq!((&account["time_zone"], &account["brand"]), (&json!("Europe/Paris"), &json!("Shop watch")));
}

#[tokio::test]
async fn a_bulk_edit_of_blackouts_reaches_the_account_cache() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let monitor = admin.post("/monitors/website", website("Shop", json!({}))).await.id();
    let edit = |blackouts: Value| {
        json!({"monitors": [monitor], "update_persistent": false, "update_one_time": true,
            "update_one_time_action": "replace", "one_time_blackouts": blackouts})
    };
    let window =
        json!([{"type": "Monitor", "from_date": "2026-11-20 11:57:00", "thru_date": "2026-11-20 13:00:00"}]);
    assert_eq!(cached(&app).await["resting"], 0);
    admin.post("/blackouts/bulk-edit", edit(window)).await.expect(200);
    assert_eq!(cached(&app).await["resting"], 1);
}

/// A monitor is validated against the records that exist at the time of the call.
#[tokio::test]
async fn a_monitor_may_reference_a_record_only_while_it_exists() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let location = admin.post("/locations", json!({"name": "Lyon", "region": 1})).await.id();
    let body = website("Shop", json!({"locations": [{"id": location}], "home_location": location}));
    let monitor = admin.post("/monitors/website", body.clone()).await.id();
    admin.delete(&format!("/locations/{location}")).await.refused(409);
    admin.delete(&format!("/monitors/{monitor}")).await.expect(204);
    admin.delete(&format!("/locations/{location}")).await.expect(204);
    admin.post("/monitors/website", body).await.refused(400);
    let pem = Authority::new("Shop CA").pem();
    let body = json!({"name": "Shop CA", "kind": "authority", "pem": pem});
    let certificate = admin.post("/certificates", body).await.id();
    let named = website("Shop", json!({"url": "https://shop.example.com/", "ca_cert_id": certificate}));
    let monitor = admin.post("/monitors/website-ssl", named.clone()).await.id();
    admin.delete(&format!("/monitors/{monitor}")).await.expect(204);
    admin.delete(&format!("/certificates/{certificate}")).await.expect(204);
    admin.post("/monitors/website-ssl", named).await.refused(400);
}
