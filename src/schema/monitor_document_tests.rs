//! Tests of the secrets of documents.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Generates documents of any shape; its seed determines the document.
struct DocumentGenerator(u64);

impl DocumentGenerator {
    fn random_below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn value(&mut self, field_type: &FieldType) -> Value {
        match field_type {
            FieldType::Bool | FieldType::Any => Value::from(self.random_below(2) == 0),
            FieldType::Int { .. } | FieldType::Float { .. } => Value::from(self.random_below(3)),
            FieldType::IntEnum(choices) => {
                Value::from(choices[self.random_below(choices.len() as u64) as usize])
            }
            FieldType::TextEnum(choices) => {
                Value::from(choices[self.random_below(choices.len() as u64) as usize])
            }
            FieldType::Text { .. } => Value::from(match self.random_below(3) {
                0 => "",
                1 => "word",
                _ => "hunter2",
            }),
            FieldType::List { item_type: entry, .. } => {
                (0..self.random_below(4)).map(|_| self.value(entry)).collect()
            }
            FieldType::Object(table) => Value::Object(self.object(table)),
        }
    }

    fn object(&mut self, table: &'static FieldTable) -> Map<String, Value> {
        let fields = table.fields().iter().filter(|_| self.random_below(3) > 0).collect::<Vec<_>>();
        fields.into_iter().map(|field| (field.name.to_owned(), self.value(&field.field_type))).collect()
    }
}

/// Whether `value` contains a secret of `field_type`.
fn contains_secret(field_type: &FieldType, value: &Value) -> bool {
    match (field_type, value) {
        (FieldType::List { item_type: entry, .. }, Value::Array(items)) => {
            items.iter().any(|item| contains_secret(entry, item))
        }
        (FieldType::Object(table), Value::Object(entries)) => table.fields().iter().any(|field| {
            let value = entries.get(field.name);
            value.is_some_and(|value| field.secret || contains_secret(&field.field_type, value))
        }),
        _ => false,
    }
}

proptest! {
    #[test]
    fn extracting_and_inserting_secrets_changes_nothing(kind in 0..MonitorType::ALL.len(), seed: u64) {
        let kind = MonitorType::ALL[kind];
        let document = MonitorDocument::new(kind, DocumentGenerator(seed).object(table::for_type(kind))).unwrap();
        let object_type = FieldType::Object(table::for_type(kind));
        let non_secret_fields = document.to_non_default_fields(SecretMode::Omitted);
        prop_assert!(!contains_secret(&object_type, &Value::Object(non_secret_fields.clone())));
        let Some(secrets) = document.secrets() else {
            prop_assert!(!contains_secret(&object_type, &Value::Object(document.to_non_default_fields(SecretMode::Revealed))));
            return Ok(());
        };
        // As read back from the store: as text, with values that equal a default left out.
        let non_secret_fields = MonitorDocument::new(kind, non_secret_fields).unwrap().to_non_default_fields(SecretMode::Omitted);
        let secrets = serde_json::from_str(&secrets.to_string()).unwrap();
        prop_assert_eq!(MonitorDocument::with_secrets(kind, non_secret_fields, secrets).unwrap(), document);
    }
}

/// Changes of an object may be partial, as in `PATCH {"capture": {}}`.
#[test]
fn missing_fields_of_an_object_have_the_defaults_of_its_table() {
    for (given, level) in [(json!({}), "Error Only"), (json!({"level": "All Events"}), "All Events")] {
        let fields = Map::from_iter([("capture".to_owned(), given)]);
        let document = MonitorDocument::new(MonitorType::BrowserScript, fields).unwrap();
        assert_eq!(document.differs_from_default("capture"), level != "Error Only");
        let shown = json!({"level": level, "mimetype": "image/jpeg", "headers": true, "images": true, "sources": true});
        assert_eq!(document.to_json(SecretMode::Revealed)["capture"], shown);
    }
}

#[test]
fn every_type_with_secrets_returns_them() {
    let mut with_secrets = Vec::new();
    for &kind in MonitorType::ALL {
        let object_type = FieldType::Object(table::for_type(kind));
        let found = (0..50).find_map(|seed| {
            MonitorDocument::new(kind, DocumentGenerator(seed).object(table::for_type(kind)))
                .unwrap()
                .secrets()
                .filter(|s| contains_secret(&object_type, s))
        });
        if found.is_some() {
            with_secrets.push(kind.name());
        }
    }
    for name in ["website", "website-ssl", "website-api", "website-ssl-api", "email-imap", "email-pop"] {
        assert!(with_secrets.contains(&name), "{name}");
    }
    for name in ["email-smtp", "email-round-trip", "ftp", "ftp-ssl", "browserscript", "mobilecloud"] {
        assert!(with_secrets.contains(&name), "{name}");
    }
    assert!(!with_secrets.contains(&"ping"));
}

#[test]
fn secrets_of_steps_keep_their_positions() {
    let Value::Object(values) = json!({"name": "Shop", "api_steps": [
        {"step_name": "open", "url": "http://shop.test/"},
        {"step_name": "log in", "head": {"headers": [], "http_basic_auth_password": "hunter2"}},
        {"step_name": "ask", "head": {"bearer_token": "abc"}},
    ]}) else {
        unreachable!()
    };
    let document = MonitorDocument::new(MonitorType::WebsiteApi, values).unwrap();
    let secrets = document.secrets().unwrap();
    let expected = json!({"api_steps": [
        null, {"head": {"http_basic_auth_password": "hunter2"}}, {"head": {"bearer_token": "abc"}},
    ]});
    assert_eq!(secrets, expected);
    let non_secret_fields = document.to_non_default_fields(SecretMode::Omitted);
    assert!(!Value::Object(non_secret_fields.clone()).to_string().contains("hunter2"));
    assert_eq!(
        MonitorDocument::with_secrets(MonitorType::WebsiteApi, non_secret_fields, secrets).unwrap(),
        document
    );
}
