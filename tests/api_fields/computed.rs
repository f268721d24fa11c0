//! Fields that only Vigie sets (interface.md 2.1 to 2.3): the value of each before and after the action that changes it
//! (fields.md 3), in both APIs.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use vigie::domain::{MonitorType, Outcome, Role, Status};
use vigie::schema::field::Access;
use vigie::schema::table;

use crate::api_fields::legacy_encoding::as_text;
use crate::api_fields::world::World;

/// Returns the value of a field that no action of this test changes: SLAs, performance alerts, devices of providers,
/// content views.
fn constant_value(name: &str) -> Option<Value> {
    Some(match name {
        "has_sla" | "has_performance_alerts" | "has_active_performance_alerts" | "is_content_view" => {
            json!(false)
        }
        "sla_id" | "device_group_id" | "device_group_name" | "framework_id" | "framework_name"
        | "project_id" | "project_name" => Value::Null,
        "monitor_location_count" => json!(0),
        // Read-only for types of mobile devices.
        "locations" => json!([]),
        _ => return None,
    })
}

struct ComputedFields {
    world: World,
    id: i64,
    changed: BTreeSet<&'static str>,
}

impl ComputedFields {
    async fn patch(&self, body: Value) {
        self.world.v3.patch(&format!("{}/{}", self.world.path(), self.id), body).await.expect(200);
    }

    async fn value(&mut self, name: &str) -> Value {
        let shown = self.world.read_v3(self.id).await[name].clone();
        let record = self.world.read_legacy(self.id, false).await;
        let mut text = as_text(&shown);
        if name == "locations" {
            for location in text.as_array_mut().unwrap() {
                location.as_object_mut().unwrap().shift_remove("region");
            }
        }
        assert_eq!(record[name], text, "legacy `{name}`");
        shown
    }

    /// Checks `fields`, given with their values before and after `check_change`.
    async fn check_change(
        &mut self,
        fields: Vec<(&'static str, Value, Value)>,
        act: impl AsyncFnOnce(&Self),
    ) {
        for (name, before, _) in &fields {
            assert_eq!(self.value(name).await, *before, "`{name}` before");
        }
        act(self).await;
        for (name, _, after) in fields {
            assert_eq!(self.value(name).await, after, "`{name}` after");
            self.changed.insert(name);
        }
    }
}

fn script_of(steps: &[usize]) -> Value {
    let step = |actions: &usize| format!("<step>{}</step>", "<open url=\"http://a/\"/>".repeat(*actions));
    json!(format!("<script>{}</script>", steps.iter().map(step).collect::<String>()))
}

// row: 2.2 browserscript.ssl_cert_format; 2.2 browserscript.ssl_cert_name; 2.2 browserscript.last_modified
// row: 2.2 browserscript.script_created; 2.2 browserscript.script_modified
// row: 2.2 browserscript.script_modified_by_user; 2.2 browserscript.script_status
// row: 2.2 browserscript.mobile_type; 2.2 browserscript.transaction_events
// row: 2.2 browserscript.mobile_location_count; 2.2 browserscript.transaction_steps
// row: 2.2 browserscript.has_capture; 2.2 browserscript.has_content_views
// row: 2.2 browserscript.has_mobile_locations; 2.2 browserscript.has_multipop
// row: 2.2 browserscript.has_user_experience; 2.2 browserscript.is_content_view
// row: 2.2 browserscript.is_transaction; 2.2 browserscript.script_replayed_successfully
// row: 2.2 ftp-ssl.ssl_cert_format; 2.2 ftp-ssl.ssl_cert_name; 3 script_status
#[tokio::test]
async fn every_read_only_field_follows_the_action_that_changes_it() {
    let world = World::new(MonitorType::BrowserScript).await;
    let id = world.v3.post(&world.path(), Value::Object(world.base())).await.id();
    let mut watched = ComputedFields { world, id, changed: BTreeSet::new() };
    follows_its_document(&mut watched).await;
    follows_its_script(&mut watched).await;
    follows_the_account(&mut watched).await;
    follows_its_pause(&mut watched).await;
    assert_ne!(watched.world.read_v3(id).await["id"], watched.world.client);
    watched.changed.insert("id");
    let read_only = MonitorType::ALL.iter().flat_map(|kind| table::for_type(*kind).fields());
    let read_only: BTreeSet<_> =
        read_only.filter(|field| field.access == Access::ReadOnly).map(|field| field.name).collect();
    let is_covered = |name: &&str| constant_value(name).is_some() || watched.changed.contains(name);
    let uncovered: Vec<_> = read_only.into_iter().filter(|name| !is_covered(name)).collect();
    assert!(uncovered.is_empty(), "no act changes {uncovered:?}");
}

async fn follows_its_document(watched: &mut ComputedFields) {
    let (no, yes) = (json!(false), json!(true));
    let own = json!({"locations": [{"id": 3}, {"id": 2}], "mode": "SLA (MultiPOP)"});
    let fields = vec![
        ("monitor_uses_own_locations", no.clone(), yes.clone()),
        ("has_multipop", no.clone(), yes.clone()),
    ];
    watched.check_change(fields, async |watched_monitor| watched_monitor.patch(own).await).await;
    follows_the_mobile_settings(watched).await;
    let view = json!({"content_views": [{"id": 1, "notify_on_error": true, "inherit_global_errors": false}]});
    let fields = vec![("has_content_views", no.clone(), yes.clone())];
    watched.check_change(fields, async |watched_monitor| watched_monitor.patch(view).await).await;
    let fields = vec![("has_user_experience", no.clone(), yes.clone())];
    watched
        .check_change(fields, async |watched_monitor| {
            watched_monitor.patch(json!({"user_experience_enabled": true})).await;
        })
        .await;
    let fields = vec![("has_capture", yes, no)];
    watched
        .check_change(fields, async |watched_monitor| {
            watched_monitor.patch(json!({"capture": {"level": "Disabled"}})).await;
        })
        .await;
    let certificate = watched.world.client;
    let fields =
        vec![("ssl_cert_name", Value::Null, json!("walk")), ("ssl_cert_format", Value::Null, json!("PEM"))];
    watched
        .check_change(fields, async |watched_monitor| {
            watched_monitor.patch(json!({"ssl_cert_id": certificate})).await;
        })
        .await;
}

/// Region 3 is the mobile one and has location 3; each subtype has a profile.
async fn follows_the_mobile_settings(watched: &mut ComputedFields) {
    let fields = vec![
        ("has_mobile_locations", json!(true), json!(false)),
        ("mobile_location_count", json!(1), json!(0)),
    ];
    watched
        .check_change(fields, async |at| at.patch(json!({"locations": [{"id": 2}, {"id": 1}]})).await)
        .await;
    for (subtype, before, after) in
        [(1, "", "phone"), (2, "phone", "tablet"), (3, "tablet", "watch"), (0, "watch", "")]
    {
        let fields = vec![("mobile_type", json!(before), json!(after))];
        watched.check_change(fields, async |at| at.patch(json!({"subtype": subtype})).await).await;
    }
}

async fn follows_its_pause(watched: &mut ComputedFields) {
    let until = json!("2026-11-20T20:00:00Z");
    let fields = vec![("paused_until", Value::Null, until.clone())];
    watched
        .check_change(fields, async |at| {
            let path = format!("/monitors/{}/pause", at.id);
            at.world.v3.post(&path, json!({"until": until})).await.expect(200);
        })
        .await;
}

async fn follows_its_script(watched: &mut ComputedFields) {
    let (null, no, yes) = (Value::Null, json!(false), json!(true));
    let times = ["2026-11-20T12:00:00Z", "2026-11-20T12:01:30Z", "2026-11-20T12:02:30Z"].map(Value::from);
    let [noon, first, second] = times;
    let fields = vec![
        ("last_modified", noon, first.clone()),
        ("script_created", null.clone(), first.clone()),
        ("script_modified", null.clone(), first.clone()),
        ("script_modified_by_user", json!(""), json!("admin-1")),
        ("transaction_steps", json!(1), json!(2)),
        ("transaction_events", json!(1), json!(3)),
        ("is_transaction", no.clone(), yes.clone()),
    ];
    let script = json!({"script": script_of(&[1, 2])});
    watched
        .check_change(fields, async |at| {
            at.world.app.clock.advance(Duration::from_secs(90));
            at.patch(script).await;
        })
        .await;
    let fields = vec![
        ("last_modified", first.clone(), second.clone()),
        ("script_created", first.clone(), first.clone()),
        ("script_modified", first, second),
        ("script_modified_by_user", json!("admin-1"), json!("power-user-1")),
        ("transaction_steps", json!(2), json!(50)),
        ("transaction_events", json!(3), json!(50)),
    ];
    let script = json!({"script": script_of(&[1; 50])});
    watched
        .check_change(fields, async |at| {
            at.world.app.clock.advance(Duration::from_mins(1));
            let other = at.world.app.login(Role::PowerUser).await;
            other.patch(&format!("{}/{}", at.world.path(), at.id), script).await.expect(200);
        })
        .await;
    for (outcome, status, reply, passed, before) in [
        (Outcome::Ok, 0, "ok", true, ("Never played", false)),
        (Outcome::Error, 80, "error: 80 ", false, ("ok", true)),
        (Outcome::Warning, 0, "warning", true, ("error: 80 ", false)),
    ] {
        assert!(watched.value("script_status").await.as_str().unwrap().starts_with(before.0));
        assert_eq!(watched.value("script_replayed_successfully").await, before.1);
        watched.world.app.planner.set_last_run(outcome, Status(status));
        assert!(watched.value("script_status").await.as_str().unwrap().starts_with(reply), "{reply}");
        assert_eq!(watched.value("script_replayed_successfully").await, passed, "{reply}");
    }
    watched.changed.extend(["script_status", "script_replayed_successfully"]);
}

async fn follows_the_account(watched: &mut ComputedFields) {
    let id = watched.id;
    let weekly = json!({"assoc_id": id, "type": "Alert", "persistent": true,
        "start_day": 7, "start_time": "22:00", "end_day": 1, "end_time": "06:00"});
    assert_eq!(watched.value("blackout_ids").await, json!([]));
    let blackout = watched.world.v3.post("/blackouts", weekly).await.id();
    assert_eq!(watched.value("blackout_ids").await, json!([blackout]));
    let fields = vec![("blackout_ids", json!([blackout]), json!([]))];
    watched
        .check_change(fields, async |at| {
            at.world.v3.delete(&format!("/blackouts/{blackout}")).await.expect(204);
        })
        .await;
    let path = format!("/monitors/{id}");
    for (role, access) in [
        (Role::Admin, "Edit"),
        (Role::PowerUser, "Edit"),
        (Role::ReadOnly, "View"),
        (Role::ReportOnly, "View"),
    ] {
        let reply = watched.world.app.login(role).await.get(&path).await;
        if reply.status == 200 {
            assert_eq!(reply.expect(200)["access_type"], access, "{role}");
        }
    }
    let account = watched.world.app.account("other").await;
    let other = watched.world.app.login_to(account, Role::Admin).await;
    let body = Value::Object(watched.world.base());
    let theirs = other.post(&watched.world.path(), body).await.id();
    assert_eq!(other.get(&format!("/monitors/{theirs}")).await.expect(200)["customer_id"], account.0);
    assert_eq!(watched.value("customer_id").await, 1);
    watched.changed.extend(["access_type", "customer_id"]);
    names_of_references(watched).await;
}

/// Names and regions in sub-objects are those of the referenced objects.
async fn names_of_references(watched: &mut ComputedFields) {
    let location = watched.world.v3.post("/locations", json!({"name": "Lyon", "region": 33})).await.id();
    let (property, _, values) = watched.world.properties[0].clone();
    let value = values[1].0;
    watched.patch(json!({"locations": [{"id": location}, {"id": 1}], "custom_properties": [{"id": property, "value_id": value}]})).await;
    let at = |name: &str, region: i64| json!([{"id": location, "name": name, "region": region}, {"id": 1, "name": "Home", "region": 1}]);
    let of =
        |name: &str, text: &str| json!([{"id": property, "value_id": value, "name": name, "value": text}]);
    let fields = vec![
        ("locations", at("Lyon", 33), at("Lyon 2", 34)),
        ("custom_properties", of("colour", "blue"), of("color", "navy")),
    ];
    watched
        .check_change(fields, async |at| {
            let renamed = json!({"name": "Lyon 2", "region": 34});
            at.world.v3.patch(&format!("/locations/{location}"), renamed).await.expect(200);
            let values = json!([{"id": values[0].0, "value": "red"}, {"id": value, "value": "navy"}]);
            let renamed = json!({"name": "color", "values": values});
            at.world.v3.patch(&format!("/properties/{property}"), renamed).await.expect(200);
        })
        .await;
}

/// Fields that no action changes have their constant value in every type that has them.
#[tokio::test]
async fn fields_that_nothing_changes_have_their_constant_value() {
    for kind in [MonitorType::BrowserScript, MonitorType::MobileCloud, MonitorType::MobileLab] {
        let mut world = World::new(kind).await;
        let id = world.v3.post(&world.path(), Value::Object(world.base())).await.id();
        let shown = world.read_v3(id).await;
        for field in world.read_only() {
            if let Some(value) = constant_value(field.name) {
                assert_eq!(shown[field.name], value, "{kind} `{}`", field.name);
            }
        }
    }
}
