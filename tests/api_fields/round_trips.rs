//! Rounds over valid values: each sets every field of a type at once, through every call of both APIs, and reads it
//! back through every call.

use serde_json::{Map, Value, json};
use vigie::domain::MonitorType as T;

use crate::api_fields::cases::{Cases, location_ids};
use crate::api_fields::expected::arbitrary_value;
use crate::api_fields::world::World;
use crate::legacy::support::outcome;

/// More rounds than the field with the most values needs.
const MAX_ROUNDS: usize = 60;

pub async fn check_type(world: &mut World) {
    let mut cases = Cases::new(world);
    let base = Value::Object(world.base());
    let second = world.v3.post(&world.path(), base.clone()).await.id();
    let third = world.v3.post(&world.path(), base).await.id();
    for round in 0.. {
        if cases.remaining().is_empty() {
            break;
        }
        assert!(round < MAX_ROUNDS, "{}: never walked: {:?}", world.kind, cases.remaining());
        let sent = cases.next(world);
        let mut created = by_v3(world, &sent, round, second).await;
        if world.in_legacy_api() {
            created.extend(by_legacy(world, &sent, round, third).await);
        }
        for (at, id) in created.into_iter().enumerate() {
            remove(world, id, at.is_multiple_of(2) || !world.in_legacy_api()).await;
        }
    }
    for (field, _) in &cases.fields {
        world.covered.insert(field.name);
    }
    check_restart(world, second, third).await;
}

/// Creates, reads, lists, clones, and changes `second`.
async fn by_v3(world: &mut World, sent: &Map<String, Value>, round: usize, second: i64) -> Vec<i64> {
    let mut body = sent.clone();
    for field in world.read_only() {
        body.insert(field.name.to_owned(), arbitrary_value(field, round % 2 == 1));
        world.covered.insert(field.name);
    }
    let reply = world.v3.post(&world.path(), Value::Object(body.clone())).await;
    if reply.status != 200 {
        world.problem(&format!("round {round}: create refused: {} of {}", reply.text, json!(sent)));
        return Vec::new();
    }
    let id = reply.id();
    let shown = world.read_v3(id).await;
    let browser = sent.get("browser").and_then(Value::as_str).unwrap_or("Firefox");
    check_object(world, &format!("round {round}, created"), id, &shown, sent, browser).await;
    check_list(world, id, &shown, round).await;
    let copy = world.v3.post(&format!("/monitors/{id}/clone"), json!({"name": sent["name"]})).await.id();
    let mut copied = world.read_v3(copy).await;
    for name in ["id", "last_modified", "script_created", "script_modified"] {
        if let Some(value) = shown.get(name) {
            copied.insert(name.to_owned(), value.clone());
        }
    }
    world.compare(&format!("round {round}, copied"), &copied, &shown);
    if world.document(copy) != world.document(id) {
        world.problem("the copy holds something else");
    }
    // Otherwise the sent locations are taken for the account's default ones that were read before.
    body.shift_remove("monitor_uses_own_locations");
    let reply = world.v3.patch(&format!("{}/{second}", world.path()), Value::Object(body)).await;
    if reply.status == 200 {
        let shown = world.read_v3(second).await;
        check_object(world, &format!("round {round}, changed"), second, &shown, sent, browser).await;
        if world.in_legacy_api() {
            let (record, expected) =
                (world.read_legacy(second, true).await, world.legacy_record(&shown, true));
            world.compare(&format!("round {round}, record"), &record, &expected);
        }
        check_resend(world, second, shown).await;
    } else {
        world.problem(&format!("round {round}: change refused: {}", reply.text));
    }
    vec![id, copy]
}

/// Compares `read_v3` with what was sent, and the document with what must be stored.
async fn check_object(
    world: &mut World,
    context: &str,
    id: i64,
    shown: &Map<String, Value>,
    sent: &Map<String, Value>,
    browser: &str,
) {
    let mut names: Vec<&str> = world.fields().iter().map(|field| field.name).chain(["type"]).collect();
    names.sort_unstable();
    let mut keys: Vec<&str> = shown.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, names);
    assert_eq!((&shown["id"], &shown["type"]), (&json!(id), &json!(world.kind.name())));
    let expected = world.expected_object(sent, browser);
    let settable = shown.iter().filter(|(name, _)| expected.contains_key(*name));
    let settable = settable.map(|(name, value)| (name.clone(), value.clone())).collect();
    world.compare(context, &settable, &expected);
    let document = world.document(id);
    let clear = world.expected_document(sent);
    let stored = clear.keys().map(|name| (name.clone(), document.value(name).cloned().unwrap_or_default()));
    world.compare(&format!("{context}, kept"), &stored.collect(), &clear);
    let own = sent.get("locations").and_then(Value::as_array).is_some_and(|own| !own.is_empty());
    if shown["monitor_uses_own_locations"] != own
        || shown["access_type"] != "Edit"
        || shown["customer_id"] != 1
    {
        world.problem(&format!(
            "{context}: {} with {}",
            shown["monitor_uses_own_locations"], sent["locations"]
        ));
    }
}

/// Checks that the list shows the selected fields of the single object.
async fn check_list(world: &mut World, id: i64, shown: &Map<String, Value>, round: usize) {
    let scripts = round.is_multiple_of(2);
    let is_chosen = |name: &str| round.is_multiple_of(3) || name == "id" || name.len() % 3 == round % 3;
    let chosen: Vec<&str> = shown.keys().map(String::as_str).filter(|name| is_chosen(name)).collect();
    let select =
        if round.is_multiple_of(3) { String::new() } else { format!("&select={}", chosen.join(",")) };
    let path =
        format!("/monitors?type={}&show_scripts={}{select}", world.kind, if scripts { "1" } else { "0" });
    let list = world.v3.get(&path).await.expect(200);
    let found = list["results"].as_array().unwrap().iter().find(|one| one["id"] == id);
    let mut expected: Map<String, Value> =
        chosen.iter().map(|name| ((*name).to_owned(), shown[*name].clone())).collect();
    if !scripts {
        expected.shift_remove("script");
    }
    world.compare(&format!("round {round}, listed"), found.unwrap().as_object().unwrap(), &expected);
}

/// Checks that a read object, with its masks, changes nothing when it is sent back.
async fn check_resend(world: &mut World, id: i64, shown: Map<String, Value>) {
    let (before, revision) = (world.document(id), read_revision(world, id).await);
    let reply = world.v3.patch(&format!("{}/{id}", world.path()), Value::Object(shown)).await;
    if reply.status != 200 {
        world.problem(&format!("what was read is refused: {}", reply.text));
    }
    if world.document(id) != before || read_revision(world, id).await != revision {
        world.problem("what was read changes something when it is sent back");
    }
}

async fn read_revision(world: &World, id: i64) -> String {
    world.v3.get(&format!("/monitors/{id}")).await.header("etag").to_owned()
}

/// Changes `third` through the legacy API, reads it, and creates a monitor.
async fn by_legacy(world: &mut World, sent: &Map<String, Value>, round: usize, third: i64) -> Vec<i64> {
    let mut sent = sent.clone();
    let pool = i64::try_from(location_ids(&sent).len()).unwrap();
    let mut count = [0, 1, pool][round % 3];
    if sent["mode"] == "Primary" && count < pool {
        count = 0;
    }
    // Restricts the values to those that a legacy body can express.
    let rotates = 0 < count && count < pool && !world.is_mobile();
    sent.insert("rotate_locations".to_owned(), json!(rotates));
    if !world.is_mobile() {
        sent.insert("monitor_location_count".to_owned(), json!(count));
    }
    let mut body = world.legacy_body(&sent, count, round % 2 == 1);
    for field in world.read_only().into_iter().filter(|field| field.name != "monitor_uses_own_locations") {
        body.insert(field.name.to_owned(), arbitrary_value(field, round % 2 == 1));
    }
    let browser = sent.get("browser_type").and_then(Value::as_str).unwrap_or("Firefox").to_owned();
    let has_choice = world.document(third).value("browser").is_some();
    set_browser(&mut sent, has_choice);
    let path = format!("/devices/{third}");
    let response = world.legacy.call("PATCH", &path, Some(Value::Object(body.clone()))).await;
    if outcome(&response) == ("0", "No errors.") {
        read_both(world, &format!("round {round}, legacy change"), third, &sent, &browser, round).await;
        let record = world.read_legacy(third, true).await;
        let before = world.document(third);
        let response = world.legacy.call("PATCH", &path, Some(Value::Object(record))).await;
        if outcome(&response) != ("0", "No errors.") || world.document(third) != before {
            world.problem(&format!("round {round}: a legacy record sent back: {response}"));
        }
    } else {
        world.problem(&format!("round {round}: legacy change refused: {response}, {}", json!(body)));
    }
    add_required_fields(world, &mut sent);
    let mut body = world.legacy_body(&sent, count, round.is_multiple_of(2));
    body.insert("site_type".to_owned(), json!(world.site_type()));
    let response = world.legacy.post(Value::Object(body.clone())).await;
    if !world.legacy_creates() {
        assert_eq!(outcome(&response), ("65", "Invalid device."));
        return Vec::new();
    }
    if outcome(&response) != ("0", "No errors.") {
        world.problem(&format!("round {round}: legacy create refused: {response}, {}", json!(body)));
        return Vec::new();
    }
    let id = response["results"]["id"].as_str().unwrap().parse().unwrap();
    let browser = sent.get("browser_type").and_then(Value::as_str).unwrap_or("Firefox").to_owned();
    set_browser(&mut sent, true);
    read_both(world, &format!("round {round}, legacy create"), id, &sent, &browser, round).await;
    vec![id]
}

/// Sets `browser` to what `browser_type` sets it to. A record with the browser of a monitor without a choice, which
/// uses Firefox, sets nothing.
fn set_browser(sent: &mut Map<String, Value>, has_choice: bool) {
    if sent.contains_key("browser") {
        let chosen = sent.get("browser_type").filter(|name| has_choice || **name != "Firefox").cloned();
        sent.insert("browser".to_owned(), chosen.unwrap_or_default());
    }
}

/// Adds the fields that a legacy create requires (interface.md 4.1).
pub fn add_required_fields(world: &World, sent: &mut Map<String, Value>) {
    let script = "<script><step><open url=\"http://a/\"/></step></script>";
    let required: &[(&str, Value)] = match world.kind {
        T::Website | T::WebsiteSsl | T::ApiProject => &[("interval", json!(5)), ("enabled", json!(true))],
        T::BrowserScript => &[
            ("interval", json!(5)),
            ("enabled", json!(true)),
            ("browser_type", json!("Google Chrome")),
            ("script", json!(script)),
        ],
        _ => &[],
    };
    for (name, value) in required {
        if sent[*name].is_null() || sent[*name] == "" {
            sent.insert((*name).to_owned(), value.clone());
        }
    }
}

/// Checks that both APIs show what was sent through the legacy one.
async fn read_both(
    world: &mut World,
    context: &str,
    id: i64,
    sent: &Map<String, Value>,
    browser: &str,
    round: usize,
) {
    let shown = world.read_v3(id).await;
    check_object(world, context, id, &shown, sent, browser).await;
    for scripts in [false, true] {
        if scripts || round.is_multiple_of(4) {
            let record = world.read_legacy(id, scripts).await;
            let expected = world.legacy_record(&shown, scripts);
            world.compare(&format!("{context}, record"), &record, &expected);
        }
    }
}

async fn remove(world: &mut World, id: i64, by_v3: bool) {
    if by_v3 {
        world.v3.delete(&format!("/monitors/{id}")).await.expect(204);
    } else {
        let response = world.legacy.call("DELETE", &format!("/devices/{id}"), None).await;
        assert_eq!(outcome(&response), ("0", "No errors."));
    }
    assert_eq!(world.v3.get(&format!("/monitors/{id}")).await.status, 404);
}

/// Checks that the stored documents, with their secrets, survive a restart.
async fn check_restart(world: &mut World, second: i64, third: i64) {
    let ids = [second, third];
    let before = ids.map(|id| world.document(id));
    let fresh = crate::support::app::App::start_quick().await;
    let old = std::mem::replace(&mut world.app, fresh);
    world.app = old.restarted().await;
    for (id, before) in ids.into_iter().zip(before) {
        if world.document(id) != before {
            world.problem(&format!("monitor {id} is another one after a restart"));
        }
    }
}
