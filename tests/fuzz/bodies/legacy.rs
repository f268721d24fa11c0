//! Any JSON as a body of the legacy API and of version 3: no panic, and what is accepted can be shown in the
//! form that it came in, which is accepted too and means the same.

use serde_json::Value;
use vigie::schema::validate::{create, patch};
use vigie::schema::validation_context::ValidationContext;
use vigie::schema::reader::InputFormat;
use vigie::syntax::node::Node;
use vigie::domain::MonitorType;
use vigie::schema::{SecretMode, legacy};

pub fn run(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let body = Node::from(value);
    let context = ValidationContext { default_locations: &[1, 2, 3], ..ValidationContext::default() };
    let kind = MonitorType::ALL[usize::from(choice) % MonitorType::ALL.len()];
    if let Ok(accepted) = create(kind, InputFormat::V3, &body, &context) {
        let document = accepted.document;
        let shown = Node::from(Value::Object(document.to_json(SecretMode::Revealed)));
        let again = patch(&document, InputFormat::V3, &shown, &context);
        let again = again.unwrap_or_else(|errors| panic!("{document:?} is refused: {errors:?}"));
        assert_eq!(again.document, document);
    }
    let Ok(kind) = legacy::type_to_create(&body) else { return };
    match create(kind, InputFormat::Legacy, &body, &context) {
        Ok(accepted) => {
            let document = accepted.document;
            let shown = Node::from(Value::Object(legacy::record_from_document(&document, SecretMode::Revealed)));
            let again = patch(&document, InputFormat::Legacy, &shown, &context);
            let again = again.unwrap_or_else(|errors| panic!("{document:?} is refused: {errors:?}"));
            assert_eq!(again.document, document);
        }
        Err(errors) => assert!(errors.iter().all(|error| !error.to_legacy().1.is_empty())),
    }
}
