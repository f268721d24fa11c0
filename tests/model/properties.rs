//! Values of the account's properties in monitors.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vigie::domain::MonitorType;
use vigie::schema::reader::InputFormat;
use vigie::schema::validation_context::{PropertyDefinition, ValidationContext};

use crate::model::support::{made, minimal, with};

#[test]
fn custom_properties_name_a_property_of_the_account_and_one_of_its_values() {
    let colour =
        PropertyDefinition { name: "colour".to_owned(), values: BTreeMap::from([(1, "red".to_owned())]) };
    let properties = BTreeMap::from([(100_007, colour)]);
    let context = ValidationContext { properties: Some(&properties), ..ValidationContext::default() };
    let faults = |list: Value| -> Vec<String> {
        let body = with(minimal(MonitorType::Ping), json!({"custom_properties": list}));
        let made = made(MonitorType::Ping, InputFormat::V3, body, &context);
        made.err().into_iter().flatten().map(|error| error.to_string()).collect()
    };
    assert_eq!(faults(json!([{"id": 100_007, "value_id": 1}])), Vec::<String>::new());
    assert_eq!(
        faults(json!([{"id": 100_007, "value_id": 2}])),
        ["`custom_properties[0].value_id`: the property `colour` has no value `2`"]
    );
    assert_eq!(
        faults(json!([{"id": 5, "value_id": 1}])),
        ["`custom_properties[0].id`: there is no property `5`"]
    );
    assert_eq!(
        faults(json!([{"id": 100_007, "value_id": 1}, {"id": 100_007, "value_id": 1}])),
        ["`custom_properties[1].id`: property `100007` is in the list already"]
    );
}
