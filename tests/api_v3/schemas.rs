//! JSON Schemas of assertions: an object or a text in version 3, the legacy API and monitor files, and the text in all
//! responses.

use serde_json::{Value, json};
use vigie::domain::Role;
use vigie::schema::SecretMode;
use vigie::schema::monitor_file::{KeyPolicy, parse_monitor_files};
use vigie::schema::reader::reject_secret_sources;
use vigie::schema::validation_context::ValidationContext;

use crate::legacy::support::start_with_admin;
use crate::support::app::App;

fn steps(schema: &Value) -> Value {
    json!([{"url": "http://shop.example/", "step_name": "s", "http_method": "GET", "head": {}, "assertions": [
        {"source": "JSON Response", "property": "$", "comparison": "matches schema", "value": "unread", "schema": schema},
    ]}])
}

fn assertion(monitor: &Value) -> &Value {
    &monitor["api_steps"][0]["assertions"][0]
}

#[tokio::test]
async fn version_3_takes_an_object_and_a_text_and_returns_the_text() {
    let app = App::start().await;
    let user = app.login(Role::PowerUser).await;
    let create = |schema: Value| json!({"name": "API", "billing_plancode": "p", "api_steps": steps(&schema)});
    let object = json!({"type": "object", "required": ["ä"], "properties": {"n": {"maximum": 1.5, "enum": [1, null]}}});
    for (schema, text) in [
        (object.clone(), object.to_string()),
        (json!(" {\"type\" : \"null\"}"), " {\"type\" : \"null\"}".to_owned()),
    ] {
        let id = user.post("/monitors/website-api", create(schema)).await.id();
        let path = format!("/monitors/{id}");
        let stored = user.get(&path).await.expect(200);
        assert_eq!(assertion(&stored)["schema"], text);
        assert_eq!(assertion(&stored)["comparison"], "matches schema");
        // What is returned can be sent back.
        let change = json!({"api_steps": stored["api_steps"]});
        user.patch(&format!("/monitors/website-api/{id}"), change).await.expect(200);
        assert_eq!(assertion(&user.get(&path).await.expect(200))["schema"], text);
    }
    let refused =
        user.post("/monitors/website-api", create(json!({"items": {"type": "text"}}))).await.expect(400);
    let refused = refused.to_string();
    assert!(refused.contains("api_steps[0].assertions[0].schema"), "{refused}");
    assert!(refused.contains("at `/items/type`"), "{refused}");
    let long = json!({"title": "x".repeat(64 * 1024)});
    let refused = user.post("/monitors/website-api", create(long)).await.expect(400).to_string();
    assert!(refused.contains("must have at most 65536 characters"), "{refused}");
}

#[tokio::test]
async fn the_legacy_api_takes_and_returns_the_same() {
    let (_app, admin) = start_with_admin().await;
    for schema in [json!({"type": "array"}), json!("{\"type\":\"array\"}")] {
        let body = json!({"billing_plancode": "p", "site_type": "website-api", "name": "a", "interval": 5,
            "enabled": "y", "api_steps": steps(&schema)});
        let id = admin.made(body).await;
        let found = admin.get(&format!("/devices?id={id}")).await;
        let stored = &found["results"][0];
        assert_eq!(assertion(stored)["schema"], "{\"type\":\"array\"}", "{found}");
        assert_eq!(assertion(stored)["comparison"], "matches schema");
    }
}

#[test]
fn a_monitor_file_takes_a_mapping_and_a_text() {
    let file = |schema: &str| {
        let text = format!(
            "- key: k\n  type: website-api\n  name: n\n  billing_plancode: p\n  api_steps:\n  - url: http://a.example/\n    \
             step_name: s\n    assertions:\n    - source: JSON Response\n      property: $\n      \
             comparison: matches schema\n      schema: {schema}\n"
        );
        let files = [("a.yaml".to_owned(), text)];
        parse_monitor_files(
            &files,
            KeyPolicy::Required,
            &ValidationContext::default(),
            &reject_secret_sources,
        )
    };
    for schema in ["{type: object, required: [a]}", "'{\"type\":\"object\",\"required\":[\"a\"]}'"] {
        let parsed = file(schema);
        assert_eq!(parsed.errors, [], "{schema}");
        let document = Value::Object(parsed.monitors[0].document.to_json(SecretMode::Masked));
        assert_eq!(assertion(&document)["schema"], "{\"type\":\"object\",\"required\":[\"a\"]}");
    }
    let errors: Vec<String> = file("{$dynamicRef: '#a'}").errors.iter().map(ToString::to_string).collect();
    assert!(errors[0].contains("`$dynamicRef` is not supported"), "{errors:?}");
}
