//! Values of the account's custom properties in monitors.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::reader::InputFormat;
use vigie::schema::validation_context::{PropertyDefinition, ValidationContext};

use crate::model::support::{minimal, validate_create, with};

#[test]
fn custom_properties_reference_properties_and_their_values() {
    let colour =
        PropertyDefinition { name: "colour".to_owned(), values: BTreeMap::from([(1, "red".to_owned())]) };
    let properties = BTreeMap::from([(100_007, colour)]);
    let context = ValidationContext { properties: Some(&properties), ..ValidationContext::default() };
    let errors = |list: Value| -> Vec<String> {
        let body = with(minimal(MonitorType::Ping), json!({"custom_properties": list}));
        let created = validate_create(MonitorType::Ping, InputFormat::V3, body, &context);
        created.err().into_iter().flatten().map(|error| error.to_string()).collect()
    };
    assert_eq!(errors(json!([{"id": 100_007, "value_id": 1}])), Vec::<String>::new());
    assert_eq!(
        errors(json!([{"id": 100_007, "value_id": 2}])),
        ["`custom_properties[0].value_id`: the property `colour` has no value `2`"]
    );
    assert_eq!(
        errors(json!([{"id": 5, "value_id": 1}])),
        ["`custom_properties[0].id`: there is no property `5`"]
    );
    assert_eq!(
        errors(json!([{"id": 100_007, "value_id": 1}, {"id": 100_007, "value_id": 1}])),
        ["`custom_properties[1].id`: property `100007` is in the list already"]
    );
}
