//! A record that monitors reference is not deleted while a monitor that may reference it is being validated.

use std::time::Duration;

use serde_json::json;
use vigie::domain::Role;

use crate::support::app::{App, website};

#[tokio::test]
async fn records_are_not_deleted_while_a_monitor_is_validated() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let location = user.post("/locations", json!({"name": "Lyon", "region": 1})).await.id();
    let property = user.post("/properties", json!({"name": "Team", "values": [{"value": "a"}]})).await.id();
    let paths = [format!("/locations/{location}"), format!("/properties/{property}")];
    // Holds the lock as the validation of a monitor does.
    let guard = app.state.monitor_service.lock_exclusive().await;
    for path in &paths {
        let removal = tokio::time::timeout(Duration::from_millis(300), user.delete(path)).await;
        assert!(removal.is_err(), "{path} was removed: {:?}", removal.unwrap().status);
    }
    drop(guard);
    let fields = json!({"home_location": location, "locations": [{"id": location}],
                        "custom_properties": [{"id": property, "value_id": 1}]});
    user.post("/monitors/website", website("n", fields)).await.id();
    for path in &paths {
        assert_eq!(user.delete(path).await.status, 409, "{path}");
    }
}

#[tokio::test]
async fn a_blackout_is_not_created_while_its_monitor_may_be_deleted() {
    let app = App::start().await;
    let user = app.login(Role::Admin).await;
    let monitor = user.post("/monitors/website", website("n", json!({}))).await.id();
    let blackout = json!({"type": "Monitor", "assoc_id": monitor, "persistent": true, "start_day": 1,
                          "start_time": "01:00", "end_day": 1, "end_time": "02:00"});
    let guard = app.state.monitor_service.lock_exclusive().await;
    let creation =
        tokio::time::timeout(Duration::from_millis(300), user.post("/blackouts", blackout.clone())).await;
    assert!(creation.is_err(), "made: {}", creation.unwrap().text);
    drop(guard);
    user.post("/blackouts", blackout).await.id();
}
