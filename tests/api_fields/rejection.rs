//! Invalid values, one at a time, through each call that sets a field: all are refused with the name of the field, and
//! nothing is written.

use serde_json::{Map, Value, json};
use vigie::domain::MonitorId;

use crate::api_fields::expected::arbitrary_value;
use crate::api_fields::invalid_values::{self, InvalidValue};
use crate::api_fields::legacy_encoding;
use crate::api_fields::round_trips::add_required_fields;
use crate::api_fields::world::World;
use crate::legacy::support::outcome;

pub async fn check_type(world: &mut World) {
    let target = world.v3.post(&world.path(), Value::Object(world.base())).await.id();
    let before = state(world, target);
    for field in world.settable() {
        let invalid_values = invalid_values::for_field(world, field);
        assert!(!invalid_values.is_empty(), "{}: nothing is wrong for `{}`", world.kind, field.name);
        for invalid in invalid_values {
            if invalid.in_v3 {
                by_v3(world, target, field.name, &invalid).await;
            }
            if invalid.in_legacy && world.in_legacy_api() {
                by_legacy(world, target, legacy_encoding::name(field), invalid.value, invalid.missing).await;
            }
        }
        let codes = if world.in_legacy_api() { invalid_values::legacy_codes(field) } else { Vec::new() };
        for (name, value) in codes {
            by_legacy(world, target, name, value, false).await;
        }
        if field.required {
            check_missing(world, field.name).await;
        }
        world.covered.insert(field.name);
        if state(world, target) != before {
            world.problem(&format!("`{}`: something was written", field.name));
        }
    }
    let unknown =
        InvalidValue { value: json!(1), path: String::new(), in_v3: true, in_legacy: false, missing: false };
    by_v3(world, target, "no_such_field", &unknown).await;
    check_ignored(world, target).await;
    assert_eq!(state(world, target), before, "{}", world.kind);
}

/// Returns the number of monitors, and revision and document of `target`.
fn state(world: &World, target: i64) -> (u64, i64, Map<String, Value>) {
    let monitors = world.app.state.monitor_service.monitor_cache();
    let monitor = monitors.get(MonitorId(target)).unwrap();
    let document = monitor.document.to_non_default_fields(vigie::schema::SecretMode::Revealed);
    (monitors.count_and_nth_match(0, |_| true).0, monitor.revision.0, document)
}

async fn by_v3(world: &mut World, target: i64, name: &str, invalid: &InvalidValue) {
    let mut body = world.base();
    body.insert(name.to_owned(), invalid.value.clone());
    let created = world.v3.post(&world.path(), Value::Object(body)).await;
    let changed = world.v3.patch(&format!("{}/{target}", world.path()), json!({name: invalid.value})).await;
    for (action, reply) in [("create", created), ("change", changed)] {
        let errors: Value = serde_json::from_str(&reply.text).unwrap_or_default();
        let messages = errors["errors"].as_array().cloned().unwrap_or_default();
        let path = format!("`{name}{}`", invalid.path);
        let names_path =
            |error: &Value| error["code"] == 400 && error["message"].as_str().unwrap().contains(&path);
        if reply.status != 400 || messages.len() != 1 || !messages.iter().all(names_path) {
            let text = &reply.text;
            world.problem(&format!("{action}, {path}: {} {text} to {}", reply.status, invalid.value));
        }
    }
}

async fn by_legacy(world: &mut World, target: i64, name: &str, value: Value, missing: bool) {
    let expected =
        if missing { ("64", format!("Missing {name}")) } else { ("66", format!("Invalid {name}")) };
    let path = format!("/devices/{target}");
    let changed = world.legacy.call("PATCH", &path, Some(json!({name: value}))).await;
    let mut responses = vec![("change", changed)];
    if world.legacy_creates() {
        let mut body = legacy_base(world);
        body.insert(name.to_owned(), value.clone());
        responses.push(("create", world.legacy.post(Value::Object(body)).await));
    }
    for (action, response) in responses {
        if outcome(&response) != (expected.0, &*expected.1) {
            let actual = outcome(&response);
            world.problem(&format!("legacy {action}: {actual:?}, not {expected:?}, to {value}"));
        }
    }
}

/// Returns a legacy body that creates a monitor.
fn legacy_base(world: &World) -> Map<String, Value> {
    let mut sent = world.base();
    for field in world.settable() {
        sent.entry(field.name).or_insert(Value::Null);
    }
    add_required_fields(world, &mut sent);
    let mut body = world.legacy_body(&sent, 0, false);
    body.retain(|_, value| !value.is_null());
    body.insert("site_type".to_owned(), json!(world.site_type()));
    body
}

/// Checks that a create without a required field is refused.
async fn check_missing(world: &mut World, name: &'static str) {
    let mut body = world.base();
    body.shift_remove(name);
    let messages = world.v3.post(&world.path(), Value::Object(body)).await.refused(400);
    if messages != [format!("`{name}` is required")] {
        world.problem(&format!("without `{name}`: {messages:?}"));
    }
    if world.legacy_creates() {
        let mut body = legacy_base(world);
        body.shift_remove(name);
        let response = world.legacy.post(Value::Object(body)).await;
        if outcome(&response) != ("64", &*format!("Missing {name}")) {
            world.problem(&format!("without `{name}`: {:?}", outcome(&response)));
        }
    }
}

/// Checks that both APIs ignore any value of a read-only field.
async fn check_ignored(world: &mut World, target: i64) {
    for field in world.read_only() {
        for odd in [false, true] {
            let body = json!({field.name: arbitrary_value(field, odd)});
            let reply = world.v3.patch(&format!("{}/{target}", world.path()), body.clone()).await;
            if reply.status != 200 {
                world.problem(&format!("`{}` is not ignored: {}", field.name, reply.text));
            }
            if world.in_legacy_api() {
                let response = world.legacy.call("PATCH", &format!("/devices/{target}"), Some(body)).await;
                if outcome(&response) != ("0", "No errors.") {
                    world.problem(&format!("`{}` is not ignored: {response}", field.name));
                }
            }
        }
        world.covered.insert(field.name);
    }
}
