//! Outages, notifications, test notifications, performance alerts and SLAs of monitors, and occurrences of blackouts.

use serde_json::{Value, json};
use vigie::alerting::{EpisodeEnd, EpisodeSnapshot, LocationResult};
use vigie::domain::{
    CheckId, CustomerId, EpisodeId, LocationId, MonitorId, Outcome, Role, RunId, Status, Timestamp,
    Verification,
};
use vigie::store::{AlertChanges, AlertStore, DeliveryOutcome, Outbox, StoredEpisode};

use crate::support::app::{App, Client, NOON, website};

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_seconds(NOON + minutes * 60)
}

async fn monitor(client: &Client, name: &str) -> i64 {
    client.post("/monitors/website", website(name, json!({}))).await.id()
}

async fn recipient(client: &Client) -> i64 {
    client.post("/recipients", json!({"name": "Anna", "recipient": "anna@a.example"})).await.id()
}

/// Builds an outage of `monitor` from minute `start` to minute `end`, or an open one.
fn outage(customer: CustomerId, monitor: i64, start: i64, end: Option<i64>) -> StoredEpisode {
    let (monitor_id, since) = (MonitorId(monitor), at(start));
    let id = EpisodeId::new(monitor_id, since);
    let result = LocationResult {
        planned_at: since,
        location_id: LocationId(2),
        check_id: CheckId::new(RunId::new(monitor_id, since), LocationId(2)),
        outcome: Outcome::Error,
        status: Status(51),
        run_count: 1,
        last_planned_at: since,
        failing_step: Some(2),
        failed_views: vec![4],
        page_change: None,
        expiring_certificate: None,
    };
    let change = EpisodeSnapshot {
        id,
        since,
        cause: result,
        failed_runs: 3,
        last_failed_at: at(start + 2),
        last_status: Status(1),
        failed_locations: vec![LocationId(2), LocationId(3)],
        verification: Some(Verification {
            status: Status(71),
            location_id: Some(LocationId(1)),
            recheck_status: Some(Status(51)),
            completed_at: at(start),
        }),
        is_flapping: false,
        end: end.map(|end| EpisodeEnd { ended_at: at(end), is_recovery: true }),
    };
    let Value::Object(body) = serde_json::to_value(&change).unwrap() else { panic!("no object") };
    StoredEpisode {
        id,
        customer,
        monitor_id,
        monitor_name: "Shop".to_owned(),
        started_at: since,
        ended_at: end.map(at),
        acknowledged_by: String::new(),
        acknowledged_at: None,
        snapshot_fields: body,
    }
}

async fn store(app: &App, episodes: Vec<StoredEpisode>) {
    app.store.commit_alerts(AlertChanges { episodes, ..AlertChanges::default() }).await.unwrap();
}

#[tokio::test]
async fn outages_are_listed_newest_first_and_filtered() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let (one, two) = (monitor(&admin, "one").await, monitor(&admin, "two").await);
    let mine = CustomerId(1);
    let other = app.account("Other").await;
    let ended = outage(mine, one, -60, Some(-30));
    let open = outage(mine, two, -10, None);
    store(&app, vec![ended.clone(), open.clone(), outage(other, 77, -5, None)]).await;
    let ids = async |query: &str| {
        let list = admin.get(&format!("/episodes{query}")).await.expect(200);
        let rows = list["results"].as_array().unwrap().clone();
        rows.iter().map(|row| row["id"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ids("").await, [open.id.0, ended.id.0]);
    assert_eq!(ids("?open=true").await, [open.id.0]);
    assert_eq!(ids("?open=false").await, [ended.id.0]);
    assert_eq!(ids(&format!("?monitor_id={one}")).await, [ended.id.0]);
    assert_eq!(ids("?from=2026-11-20T11:40:00Z").await, [open.id.0]);
    assert_eq!(ids("?thru=2026-11-20T11:40:00Z").await, [ended.id.0]);
    assert_eq!(ids("?limit=1&offset=1").await, [ended.id.0]);
    assert_eq!(admin.get("/episodes?open=maybe").await.refused(400).len(), 1);
    let episode = admin.get(&format!("/episodes/{}", ended.id)).await.expect(200);
    assert_eq!(
        episode,
        json!({
            "id": ended.id.0, "monitor_id": one, "monitor_name": "Shop",
            "started_at": "2026-11-20T11:00:00Z", "ended_at": "2026-11-20T11:30:00Z", "recovered": true,
            "status": 1, "status_text": Status(1).text(), "runs": 3, "last_run": "2026-11-20T11:02:00Z",
            "cause": {
                "check_id": ended.snapshot_fields["cause"]["check_id"], "planned_at": "2026-11-20T11:00:00Z",
                "location_id": 2, "status": 51, "status_text": Status(51).text(), "step": 2,
            },
            "locations": [2, 3],
            "verification": {"status": 71, "status_text": Status(71).text(), "location_id": 1, "found": 51,
                "at": "2026-11-20T11:00:00Z"},
            "flapping": false, "acknowledged_by": null, "acknowledged_at": null, "notifications": [],
        })
    );
}

#[tokio::test]
async fn an_open_outage_is_acknowledged_once() {
    let app = App::start().await;
    let (admin, reader) = (app.login(Role::Admin).await, app.login(Role::ReadOnly).await);
    let one = monitor(&admin, "one").await;
    let (ended, open) = (outage(CustomerId(1), one, -60, Some(-30)), outage(CustomerId(1), one, -10, None));
    store(&app, vec![ended.clone(), open.clone()]).await;
    let path = format!("/episodes/{}/acknowledge", open.id);
    reader.post(&path, json!({})).await.refused(403);
    let acknowledged = admin.post(&path, json!({})).await.expect(200);
    assert_eq!(
        (&acknowledged["acknowledged_by"], &acknowledged["acknowledged_at"]),
        (&json!("admin-1"), &json!("2026-11-20T12:00:00Z"))
    );
    // The second acknowledgement, by another user, changes nothing.
    app.clock.advance(std::time::Duration::from_mins(1));
    let again = app.login(Role::PowerUser).await.post(&path, json!({})).await.expect(200);
    assert_eq!(
        (&again["acknowledged_by"], &again["acknowledged_at"]),
        (&json!("admin-1"), &json!("2026-11-20T12:00:00Z"))
    );
    assert_eq!(
        admin.post(&format!("/episodes/{}/acknowledge", ended.id), json!({})).await.refused(409),
        ["This outage has ended"]
    );
    admin.post("/episodes/999999/acknowledge", json!({})).await.refused(404);
    let entries = admin.get("/audit?object=episode").await.expect(200);
    assert_eq!(entries["results"][0]["action"], "acknowledge");
    assert_eq!(entries["metadata"]["resultset"]["count"], 1);
}

#[tokio::test]
async fn a_test_notification_is_queued_and_a_dead_one_is_retried() {
    let app = App::start().await;
    let (admin, reader) = (app.login(Role::Admin).await, app.login(Role::ReadOnly).await);
    let (anna, one) = (recipient(&admin).await, monitor(&admin, "one").await);
    let body = json!({"recipient_id": anna, "monitor_id": one});
    reader.post("/test-notifiers", body.clone()).await.refused(403);
    let id = admin.post("/test-notifiers", body).await.id();
    let waiting = app.store.due_notifications(at(0), 10, 10).await.unwrap();
    assert_eq!(waiting.len(), 1);
    let content = &waiting[0].message.content;
    assert_eq!(
        (content.kind.name(), content.monitor_name.as_str(), content.brand.as_str()),
        ("test", "one", "Vigie")
    );
    assert_eq!(content.target, "http://shop.example.com/");
    let shown = admin.get(&format!("/notifications/{id}")).await.expect(200);
    assert_eq!(
        shown,
        json!({
            "id": id, "kind": "test", "state": "pending", "recipient_id": anna, "recipient_name": "Anna",
            "method_id": 12, "group_id": null, "monitor_id": one, "monitor_name": "one", "episode_id": null,
            "check_id": null, "status": 0, "status_text": Status(0).text(), "errcount": 0,
            "created_at": "2026-11-20T12:00:00Z", "attempts": 0, "next_at": "2026-11-20T12:00:00Z",
            "sent_at": null, "error": null, "digest_id": null,
        })
    );
    let retry = format!("/notifications/{id}/retry");
    let only = "Only a notification that was given up (state `dead`) can be sent again";
    assert_eq!(admin.post(&retry, json!({})).await.refused(409), [only]);
    app.store
        .record_outcomes(vec![(id, DeliveryOutcome::Dead { error: "refused".to_owned() })], at(0))
        .await
        .unwrap();
    let dead = admin.get("/notifications?state=dead").await.expect(200);
    assert_eq!(
        (&dead["results"][0]["error"], &dead["results"][0]["next_at"]),
        (&json!("refused"), &Value::Null)
    );
    reader.post(&retry, json!({})).await.refused(403);
    let other = app.account("Other").await;
    let stranger = app.login_to(other, Role::Admin).await;
    assert_eq!(stranger.post(&retry, json!({})).await.refused(404), ["Record not found"]);
    assert_eq!(stranger.get("/notifications").await.expect(200)["metadata"]["resultset"]["count"], 0);
    assert_eq!(admin.post(&retry, json!({})).await.expect(200)["state"], "pending");
    assert_eq!(app.store.due_notifications(at(0), 10, 10).await.unwrap().len(), 1);
    for (query, count) in [
        (format!("recipient_id={anna}"), 1),
        (format!("monitor_id={one}"), 1),
        ("monitor_id=999999".to_owned(), 0),
        ("episode_id=1".to_owned(), 0),
        ("state=sent".to_owned(), 0),
    ] {
        let list = admin.get(&format!("/notifications?{query}")).await.expect(200);
        assert_eq!(list["metadata"]["resultset"]["count"], count, "{query}");
    }
    assert_eq!(
        stranger.post("/test-notifiers", json!({"recipient_id": anna, "monitor_id": one})).await.refused(400),
        [
            format!("`recipient_id`: recipient `{anna}` does not exist"),
            format!("`monitor_id`: monitor `{one}` does not exist")
        ]
    );
    let actions = admin.get("/audit?limit=2").await.expect(200);
    let actions: Vec<_> =
        actions["results"].as_array().unwrap().iter().map(|entry| entry["action"].clone()).collect();
    assert_eq!(actions, ["retry", "test"]);
}

// row: 2.1 has_active_performance_alerts; 2.1 has_performance_alerts; 2.1 has_sla; 2.1 sla_id
#[tokio::test]
async fn a_monitor_shows_its_sla_and_its_performance_alerts() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let (one, two) = (monitor(&admin, "one").await, monitor(&admin, "two").await);
    let flags = async || {
        let shown = admin.get(&format!("/monitors/{one}")).await.expect(200);
        let field = |name: &str| shown[name].clone();
        json!([
            field("has_sla"),
            field("sla_id"),
            field("has_performance_alerts"),
            field("has_active_performance_alerts")
        ])
    };
    assert_eq!(flags().await, json!([false, null, false, false]));
    let sla =
        admin.post("/slas", json!({"monitor_id": one, "name": "Gold", "availability": 99.9})).await.id();
    let path = format!("/monitors/{one}/performance-alerts");
    let reply = admin.post(&path, json!({"type": "static", "threshold": 1.5, "window": 3})).await.expect(200);
    assert!(reply["warnings"][0].as_str().unwrap().starts_with("`window` of 3 min is shorter"), "{reply}");
    let alert: i64 = reply["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(flags().await, json!([true, sla, true, false]));
    app.state.monitor_service.account_cache().active_performance_alerts().set_active(alert, true);
    assert_eq!(flags().await, json!([true, sla, true, true]));
    let shown = admin.get(&format!("{path}/{alert}")).await.expect(200);
    assert_eq!(
        shown,
        json!({"id": alert, "monitor_id": one, "type": "static", "threshold": 1.5, "days": 7, "window": 3,
            "level": "error", "step": null, "enabled": true, "active": true})
    );
    // It exists under its own monitor only.
    let wrong_path = format!("/monitors/{two}/performance-alerts/{alert}");
    admin.get(&wrong_path).await.refused(404);
    admin.patch(&wrong_path, json!({"window": 10})).await.refused(404);
    admin.delete(&wrong_path).await.refused(404);
    admin
        .patch(&format!("{path}/{alert}"), json!({"type": "dynamic", "threshold": 50, "days": 3}))
        .await
        .expect(200);
    let list = admin.get(&path).await.expect(200);
    assert_eq!(list["results"][0]["days"], 3);
    assert_eq!(
        admin.get(&format!("/monitors/{two}/performance-alerts")).await.expect(200)["results"],
        json!([])
    );
    admin.get("/monitors/999999/performance-alerts").await.refused(404);
    admin
        .post("/monitors/999999/performance-alerts", json!({"type": "static", "threshold": 1}))
        .await
        .refused(404);
    assert_eq!(
        admin.post(&path, json!({"type": "sharp", "threshold": 0, "days": 8})).await.refused(400).len(),
        3
    );
    // A clone has the alerts, but no SLA.
    let copy = admin.post(&format!("/monitors/{one}/clone"), json!({})).await.id();
    let shown = admin.get(&format!("/monitors/{copy}")).await.expect(200);
    assert_eq!((&shown["has_sla"], &shown["has_performance_alerts"]), (&json!(false), &json!(true)));
    let copied = admin.get(&format!("/monitors/{copy}/performance-alerts")).await.expect(200);
    assert_eq!(
        (&copied["results"][0]["days"], &copied["results"][0]["monitor_id"]),
        (&json!(3), &json!(copy))
    );
    // They are deleted with their monitor.
    admin.delete(&format!("/monitors/{one}")).await.expect(204);
    admin.get(&format!("/slas/{sla}")).await.refused(404);
    admin.get(&format!("{path}/{alert}")).await.refused(404);
}

#[tokio::test]
async fn a_blackout_lists_its_next_occurrences() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    admin.patch("/account", json!({"time_zone": "Europe/Paris"})).await.expect(200);
    let one = monitor(&admin, "one").await;
    // Fridays from 22:00 to Saturday 06:00 in Paris; it is Friday, 13:00 there.
    let weekly = json!({"assoc_id": one, "type": "Alert", "persistent": true, "start_day": 6,
        "start_time": "22:00", "end_day": 7, "end_time": "06:00"});
    let weekly = admin.post("/blackouts", weekly).await.id();
    let path = format!("/blackouts/{weekly}/occurrences");
    let next = admin.get(&format!("{path}?limit=2")).await.expect(200);
    assert_eq!(
        next["results"],
        json!([
            {"from_date": "2026-11-20 22:00:00", "thru_date": "2026-11-21 06:00:00",
             "from": "2026-11-20T21:00:00Z", "thru": "2026-11-21T05:00:00Z"},
            {"from_date": "2026-11-27 22:00:00", "thru_date": "2026-11-28 06:00:00",
             "from": "2026-11-27T21:00:00Z", "thru": "2026-11-28T05:00:00Z"},
        ])
    );
    // In summer the offset of Paris is another.
    let summer = admin.get(&format!("{path}?limit=1&after=2027-07-01%2000:00:00")).await.expect(200);
    assert_eq!(summer["results"][0]["from"], "2027-07-02T20:00:00Z");
    assert_eq!(admin.get(&path).await.expect(200)["results"].as_array().unwrap().len(), 10);
    assert_eq!(
        admin.get(&format!("{path}?limit=1000")).await.expect(200)["results"].as_array().unwrap().len(),
        100
    );
    assert_eq!(admin.get(&format!("{path}?limit=0")).await.expect(200)["results"], json!([]));
    admin.get(&format!("{path}?after=soon")).await.refused(400);
    let once = json!({"assoc_id": one, "type": "Monitor", "from_date": "2026-11-20 14:00:00", "thru_date": "2026-11-20 15:00:00"});
    let once = admin.post("/blackouts", once).await.id();
    let path = format!("/blackouts/{once}/occurrences");
    assert_eq!(admin.get(&path).await.expect(200)["metadata"]["resultset"]["count"], 1);
    app.clock.advance(std::time::Duration::from_hours(3));
    assert_eq!(app.login(Role::ReadOnly).await.get(&path).await.expect(200)["results"], json!([]));
}

#[tokio::test]
async fn a_template_is_previewed_without_being_stored_or_sent() {
    let app = App::start().await;
    let (admin, reader) = (app.login(Role::Admin).await, app.login(Role::ReadOnly).await);
    let one = monitor(&admin, "Front door").await;
    admin.patch("/account", json!({"brand": "Shopwatch"})).await.expect(200);
    let preview = async |body: Value| admin.post("/templates/preview", body).await;
    let built_in = preview(json!({"monitor_id": one, "method_id": 1})).await.expect(200);
    let subject = built_in["subject"].as_str().unwrap();
    assert!(subject.starts_with("[Shopwatch]") && subject.contains("Front door"), "{subject}");
    assert_eq!((&built_in["html"], &built_in["body"]), (&Value::Null, &Value::Null));
    admin.patch("/account", json!({"language": "de"})).await.expect(200);
    let german = preview(json!({"monitor_id": one, "method_id": 1})).await.expect(200);
    let (subject, text) = (german["subject"].as_str().unwrap(), german["text"].as_str().unwrap());
    assert!(subject.starts_with("[Shopwatch] Störung (ST="), "{subject}");
    assert!(text.contains("\nZeit: ") && !text.contains("Time:"), "{text}");
    admin.patch("/account", json!({"language": "it"})).await.refused(400);
    assert_eq!(
        preview(json!({"monitor_id": 999_999})).await.refused(400),
        ["`monitor_id`: monitor `999999` does not exist"]
    );
    assert_eq!(preview(json!({"kind": "birthday", "method_id": 2})).await.refused(400).len(), 2);
    reader.post("/templates/preview", json!({})).await.refused(403);
    let own =
        preview(json!({"monitor_id": one, "method_id": 1, "subject": "{{ device_name }} is ill"})).await;
    assert_eq!(own.expect(200)["subject"], "Front door is ill");
    let broken = json!({"name": "broken", "subject": "{{ device_name", "method_id": 1});
    for path in ["/templates", "/templates/preview"] {
        let mut body = broken.clone();
        if path != "/templates" {
            body.as_object_mut().unwrap().remove("name");
        }
        let messages = admin.post(path, body).await.refused(400);
        assert!(messages[0].starts_with("`subject` cannot be used: "), "{messages:?}");
    }
    // Nothing was stored and nothing sent.
    assert_eq!(admin.get("/templates").await.expect(200)["results"], json!([]));
    assert_eq!(admin.get("/notifications").await.expect(200)["results"], json!([]));
}
