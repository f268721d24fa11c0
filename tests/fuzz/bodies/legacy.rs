//! Any JSON as a body of the legacy API and of version 3: no panic, and an accepted document is accepted again in the
//! form in which it is returned, and gives the same document.

use serde_json::Value;
use vigie::domain::MonitorType;
use vigie::schema::reader::InputFormat;
use vigie::schema::validate::{validate_new, merge_and_validate};
use vigie::schema::validation_context::ValidationContext;
use vigie::schema::{SecretMode, legacy};
use vigie::syntax::node::Node;

pub fn run(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let body = Node::from(value);
    let context = ValidationContext { default_location_ids: &[1, 2, 3], ..ValidationContext::default() };
    let kind = MonitorType::ALL[usize::from(choice) % MonitorType::ALL.len()];
    if let Ok(accepted) = validate_new(kind, InputFormat::V3, &body, &context) {
        let document = accepted.document;
        let returned = Node::from(Value::Object(document.to_json(SecretMode::Revealed)));
        let again = merge_and_validate(&document, InputFormat::V3, &returned, &context);
        let again = again.unwrap_or_else(|errors| panic!("{document:?} is refused: {errors:?}"));
        assert_eq!(again.document, document);
    }
    let Ok(kind) = legacy::type_to_create(&body) else { return };
    match validate_new(kind, InputFormat::Legacy, &body, &context) {
        Ok(accepted) => {
            let document = accepted.document;
            let returned =
                Node::from(Value::Object(legacy::record_from_document(&document, SecretMode::Revealed)));
            let again = merge_and_validate(&document, InputFormat::Legacy, &returned, &context);
            let again = again.unwrap_or_else(|errors| panic!("{document:?} is refused: {errors:?}"));
            assert_eq!(again.document, document);
        }
        Err(errors) => assert!(errors.iter().all(|error| !error.legacy_status().1.is_empty())),
    }
}
