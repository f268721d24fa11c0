//! Conversion of JSON values to objects.

use serde_json::{Map, Value};

/// Returns the fields of `value` if it is an object, otherwise an empty map.
pub(crate) fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
