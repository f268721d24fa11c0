//! Very long texts (fields.md 2): accepted up to their limit, returned byte-exact, and refused when one character
//! longer.

use axum::extract::DefaultBodyLimit;
use serde_json::{Value, json};
use vigie::domain::MonitorType as T;
use vigie::syntax::text_format::TextFormat;

use crate::api_fields::valid_values::of_length;
use crate::api_fields::world::World;
use crate::legacy::support::outcome;

const MEBIBYTE: usize = 1024 * 1024;

/// Returns a JAR of `bytes` bytes in Base64.
fn jar(bytes: usize) -> String {
    use base64::Engine as _;
    let mut jar = vec![0x5a; bytes];
    jar[..4].copy_from_slice(b"PK\x03\x04");
    base64::engine::general_purpose::STANDARD.encode(jar)
}

/// Returns an ASCII text of `count` characters in `format`, one byte each.
fn ascii(format: TextFormat, count: usize) -> String {
    let mut text = of_length(format, 100).unwrap();
    let at = text.find('日').unwrap();
    text.insert_str(at, &"x".repeat(count - 100));
    text
}

/// Sets `fields` to their longest values, and checks that values one character longer are refused.
async fn check_longest(kind: T, fields: Vec<(&str, String, String)>) {
    let mut world = World::new(kind).await;
    world.legacy.router = world.legacy.router.layer(DefaultBodyLimit::disable());
    let other = world.v3.post(&world.path(), Value::Object(world.base())).await.id();
    let mut body = world.base();
    for (field, longest, _) in &fields {
        body.insert((*field).to_owned(), json!(longest));
    }
    let reply = world.v3.post(&world.path(), Value::Object(body)).await;
    assert_eq!(reply.status, 200, "{kind}: {:.300}", reply.text);
    let id = reply.id();
    let shown = world.v3.get(&format!("/monitors/{id}")).await.expect(200);
    for (field, longest, longer) in &fields {
        assert!(shown[*field] == *longest, "{kind} `{field}` of version 3");
        let messages = world.v3.patch(&format!("{}/{other}", world.path()), json!({*field: longer})).await;
        let messages = messages.refused(400);
        assert!(messages[0].starts_with(&format!("`{field}` must")), "{messages:?}");
    }
    if !world.in_legacy_api() {
        return;
    }
    let (field, longest, longer) = &fields[0];
    let path = format!("/devices/{other}");
    let response = world.legacy.call("PATCH", &path, Some(json!({*field: longer}))).await;
    assert_eq!(outcome(&response), ("66", &*format!("Invalid {field}")));
    let response = world.legacy.call("PATCH", &path, Some(json!({*field: longest}))).await;
    assert_eq!(outcome(&response), ("0", "No errors."));
    let response = world.legacy.get(&format!("/devices?id={other}&show_scripts=1")).await;
    assert!(response["results"][0][*field] == *longest, "{kind} `{field}` of the legacy API");
}

#[tokio::test]
async fn scripts_of_10_mebibytes_are_stored_exactly_and_longer_refused() {
    let at = |field, format| (field, ascii(format, 10 * MEBIBYTE), ascii(format, 10 * MEBIBYTE + 1));
    check_longest(T::BrowserScript, vec![at("script", TextFormat::Script)]).await;
    check_longest(T::ApiProject, vec![at("script", TextFormat::Xml)]).await;
    let all = [("script", TextFormat::Json), ("environment", TextFormat::Json), ("data", TextFormat::Any)];
    check_longest(T::CollectionApi, all.map(|(field, format)| at(field, format)).to_vec()).await;
}

#[tokio::test]
async fn a_jar_of_50_mebibytes_is_stored_exactly_and_a_longer_refused() {
    check_longest(T::Selenium, vec![("script", jar(50 * MEBIBYTE), jar(50 * MEBIBYTE + 1))]).await;
}
