//! Parts of JSON schemas for the OpenAPI document.

use serde_json::{Value, json};

use crate::domain::Outcome;

/// Returns the schema of a list (behaviour.md 1 "Lists") of objects that `item_schema` describes, named `name`.
pub(super) fn list_schema(name: &str, item_schema: Value) -> Value {
    let paging_number =
        |about: &str| json!({"type": ["integer", "null"], "minimum": 0, "description": about});
    let count_schema =
        json!({"type": "integer", "minimum": 0, "description": "How many match before paging"});
    named_object_schema(
        name,
        &["metadata", "results"],
        json!({
            "metadata": object_schema(&["__permissions", "resultset"], json!({
                "__permissions": object_schema(&["acl"], json!({"acl": {"type": "integer"}})),
                "resultset": object_schema(&["count", "limit", "offset"], json!({
                    "count": count_schema, "limit": paging_number("As requested"), "offset": paging_number("As requested"),
                })),
            })),
            "results": {"type": "array", "items": item_schema},
        }),
    )
}

/// Returns the schema of an object with these properties and no others.
pub(super) fn object_schema(required: &[&str], properties: Value) -> Value {
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Returns the schema of such an object as a component named `name`.
pub(super) fn named_object_schema(name: &str, required: &[&str], properties: Value) -> Value {
    let mut schema = object_schema(required, properties);
    schema["title"] = Value::from(name);
    schema
}

pub(super) fn boolean_schema(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

/// Returns the schema of a whole number.
pub(super) fn integer_schema(description: &str) -> Value {
    json!({"type": "integer", "description": description})
}

/// Returns the schema of a duration in microseconds.
pub(super) fn duration_us_schema(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": format!("{description}, in microseconds")})
}

/// Returns the schema of a string.
pub(super) fn string_schema(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// Returns the schema of a timestamp.
pub(super) fn timestamp_schema(description: &str) -> Value {
    json!({"type": "string", "format": "date-time", "description": format!("{description}; RFC 3339, UTC")})
}

/// Returns the schema of the id of a run or result.
pub(super) fn hex_id_schema(description: &str) -> Value {
    json!({"type": "string", "pattern": "^[0-9a-f]{16}$", "description": description})
}

/// Returns the schema of the name of a [`crate::domain::Outcome`].
pub(super) fn outcome_schema() -> Value {
    json!({"type": "string", "enum": Outcome::ALL.map(Outcome::name)})
}
