//! Texts that may be very long (fields.md 2): taken whole, byte-exact in every answer, and refused when they are
//! a character longer.

use axum::extract::DefaultBodyLimit;
use serde_json::{Value, json};
use vigie::domain::MonitorType as T;
use vigie::syntax::text_format::TextFormat;

use crate::api_fields::good::of_length;
use crate::api_fields::world::World;
use crate::legacy::support::outcome;

const MEBIBYTE: usize = 1024 * 1024;

/// A JAR of `bytes` in Base64.
fn jar(bytes: usize) -> String {
    use base64::Engine as _;
    let mut jar = vec![0x5a; bytes];
    jar[..4].copy_from_slice(b"PK\x03\x04");
    base64::engine::general_purpose::STANDARD.encode(jar)
}

/// A text of `count` characters in `format` that is ASCII, to be small.
fn ascii(format: TextFormat, count: usize) -> String {
    let mut text = of_length(format, 100).unwrap();
    let at = text.find('日').unwrap();
    text.insert_str(at, &"x".repeat(count - 100));
    text
}

/// Sets `fields` to their longest values, and refuses them one longer.
async fn exact(kind: T, fields: Vec<(&str, String, String)>) {
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
        let told = world.v3.patch(&format!("{}/{other}", world.path()), json!({*field: longer})).await;
        let told = told.refused(400);
        assert!(told[0].starts_with(&format!("`{field}` must")), "{told:?}");
    }
    if !world.listed() {
        return;
    }
    let (field, longest, longer) = &fields[0];
    let path = format!("/devices/{other}");
    let answer = world.legacy.call("PATCH", &path, Some(json!({*field: longer}))).await;
    assert_eq!(outcome(&answer), ("66", &*format!("Invalid {field}")));
    let answer = world.legacy.call("PATCH", &path, Some(json!({*field: longest}))).await;
    assert_eq!(outcome(&answer), ("0", "No errors."));
    let answer = world.legacy.get(&format!("/devices?id={other}&show_scripts=1")).await;
    assert!(answer["results"][0][*field] == *longest, "{kind} `{field}` of the legacy API");
}

#[tokio::test]
async fn scripts_of_10_mebibytes_are_kept_byte_exact_and_not_one_character_more() {
    let at = |field, format| (field, ascii(format, 10 * MEBIBYTE), ascii(format, 10 * MEBIBYTE + 1));
    exact(T::BrowserScript, vec![at("script", TextFormat::Script)]).await;
    exact(T::Api, vec![at("script", TextFormat::Xml)]).await;
    let all = [("script", TextFormat::Json), ("environment", TextFormat::Json), ("data", TextFormat::Any)];
    exact(T::CollectionApi, all.map(|(field, format)| at(field, format)).to_vec()).await;
}

#[tokio::test]
async fn a_jar_of_50_mebibytes_is_kept_byte_exact_and_not_one_byte_more() {
    exact(T::Selenium, vec![("script", jar(50 * MEBIBYTE), jar(50 * MEBIBYTE + 1))]).await;
}
