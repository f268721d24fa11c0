//! Bad values, one by one, in each way that sets a field: all are refused, the field is named, and nothing is
//! written.

use serde_json::{Map, Value, json};
use vigie::domain::MonitorId;

use crate::api_fields::bad::{self, Bad};
use crate::api_fields::coded;
use crate::api_fields::rounds::minimal;
use crate::api_fields::wanted::nonsense;
use crate::api_fields::world::World;
use crate::legacy::support::outcome;

pub async fn walk(world: &mut World) {
    let target = world.v3.post(&world.path(), Value::Object(world.base())).await.id();
    let before = state(world, target);
    for field in world.settable() {
        let found = bad::of(world, field);
        assert!(!found.is_empty(), "{}: nothing is wrong for `{}`", world.kind, field.name);
        for bad in found {
            if bad.in_v3 {
                by_v3(world, target, field.name, &bad).await;
            }
            if bad.in_legacy && world.listed() {
                by_legacy(world, target, coded::name(field), bad.value, bad.missing).await;
            }
        }
        let codes = if world.listed() { bad::codes(field) } else { Vec::new() };
        for (name, value) in codes {
            by_legacy(world, target, name, value, false).await;
        }
        if field.required {
            absent(world, field.name).await;
        }
        world.walked.insert(field.name);
        if state(world, target) != before {
            world.problem(&format!("`{}`: something was written", field.name));
        }
    }
    let unknown = Bad { value: json!(1), path: String::new(), in_v3: true, in_legacy: false, missing: false };
    by_v3(world, target, "no_such_field", &unknown).await;
    ignored(world, target).await;
    assert_eq!(state(world, target), before, "{}", world.kind);
}

/// Number of monitors, and version and text of `target`.
fn state(world: &World, target: i64) -> (u64, i64, Map<String, Value>) {
    let monitors = world.app.state.monitors.monitors();
    let monitor = monitors.get(MonitorId(target)).unwrap();
    let document = monitor.document.to_stored(vigie::schema::SecretMode::Revealed);
    (monitors.count_matching(0, |_| true).0, monitor.revision.0, document)
}

async fn by_v3(world: &mut World, target: i64, name: &str, bad: &Bad) {
    let mut body = world.base();
    body.insert(name.to_owned(), bad.value.clone());
    let created = world.v3.post(&world.path(), Value::Object(body)).await;
    let changed = world.v3.patch(&format!("{}/{target}", world.path()), json!({name: bad.value})).await;
    for (act, reply) in [("create", created), ("change", changed)] {
        let errors: Value = serde_json::from_str(&reply.text).unwrap_or_default();
        let messages = errors["errors"].as_array().cloned().unwrap_or_default();
        let naming = format!("`{name}{}`", bad.path);
        let named =
            |error: &Value| error["code"] == 400 && error["message"].as_str().unwrap().contains(&naming);
        if reply.status != 400 || messages.len() != 1 || !messages.iter().all(named) {
            let text = &reply.text;
            world.problem(&format!("{act}, {naming}: {} {text} to {}", reply.status, bad.value));
        }
    }
}

async fn by_legacy(world: &mut World, target: i64, name: &str, value: Value, missing: bool) {
    let wanted = if missing { ("64", format!("Missing {name}")) } else { ("66", format!("Invalid {name}")) };
    let path = format!("/devices/{target}");
    let changed = world.legacy.call("PATCH", &path, Some(json!({name: value}))).await;
    let mut answers = vec![("change", changed)];
    if world.legacy_creates() {
        let mut body = legacy_base(world);
        body.insert(name.to_owned(), value.clone());
        answers.push(("create", world.legacy.post(Value::Object(body)).await));
    }
    for (act, answer) in answers {
        if outcome(&answer) != (wanted.0, &*wanted.1) {
            let told = outcome(&answer);
            world.problem(&format!("legacy {act}: {told:?}, not {wanted:?}, to {value}"));
        }
    }
}

/// A body of the legacy API that makes a monitor.
fn legacy_base(world: &World) -> Map<String, Value> {
    let mut sent = world.base();
    for field in world.settable() {
        sent.entry(field.name).or_insert(Value::Null);
    }
    minimal(world, &mut sent);
    let mut body = world.legacy_body(&sent, 0, false);
    body.retain(|_, value| !value.is_null());
    body.insert("site_type".to_owned(), json!(world.site_type()));
    body
}

/// Without a required field there is no monitor.
async fn absent(world: &mut World, name: &'static str) {
    let mut body = world.base();
    body.shift_remove(name);
    let told = world.v3.post(&world.path(), Value::Object(body)).await.refused(400);
    if told != [format!("`{name}` is required")] {
        world.problem(&format!("without `{name}`: {told:?}"));
    }
    if world.legacy_creates() {
        let mut body = legacy_base(world);
        body.shift_remove(name);
        let answer = world.legacy.post(Value::Object(body)).await;
        if outcome(&answer) != ("64", &*format!("Missing {name}")) {
            world.problem(&format!("without `{name}`: {:?}", outcome(&answer)));
        }
    }
}

/// Fields that Vigie sets are ignored by both APIs, whatever stands there.
async fn ignored(world: &mut World, target: i64) {
    for field in world.read_only() {
        for odd in [false, true] {
            let body = json!({field.name: nonsense(field, odd)});
            let reply = world.v3.patch(&format!("{}/{target}", world.path()), body.clone()).await;
            if reply.status != 200 {
                world.problem(&format!("`{}` is not ignored: {}", field.name, reply.text));
            }
            if world.listed() {
                let answer = world.legacy.call("PATCH", &format!("/devices/{target}"), Some(body)).await;
                if outcome(&answer) != ("0", "No errors.") {
                    world.problem(&format!("`{}` is not ignored: {answer}", field.name));
                }
            }
        }
        world.walked.insert(field.name);
    }
}
