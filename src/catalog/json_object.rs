//! Maps out of objects that are written as literals.

use serde_json::{Map, Value};

/// The fields of `value`, which is an object; none of anything else.
pub(crate) fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
