//! Parts of JSON schemas for the OpenAPI document.

use serde_json::{Value, json};

use crate::domain::Outcome;

/// A list (behaviour.md 1 "Lists") of objects that `item` describes, named `name`.
pub(super) fn list_schema(name: &str, item: Value) -> Value {
    let window = |about: &str| json!({"type": ["integer", "null"], "minimum": 0, "description": about});
    let count = json!({"type": "integer", "minimum": 0, "description": "How many match before paging"});
    named_object(
        name,
        &["metadata", "results"],
        json!({
            "metadata": object_schema(&["__permissions", "resultset"], json!({
                "__permissions": object_schema(&["acl"], json!({"acl": {"type": "integer"}})),
                "resultset": object_schema(&["count", "limit", "offset"], json!({
                    "count": count, "limit": window("As it was asked for"), "offset": window("As it was asked for"),
                })),
            })),
            "results": {"type": "array", "items": item},
        }),
    )
}

/// An object with these properties and no others.
pub(super) fn object_schema(required: &[&str], properties: Value) -> Value {
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Such an object as a component named `name`.
pub(super) fn named_object(name: &str, required: &[&str], properties: Value) -> Value {
    let mut schema = object_schema(required, properties);
    schema["title"] = Value::from(name);
    schema
}

pub(super) fn boolean(about: &str) -> Value {
    json!({"type": "boolean", "description": about})
}

/// A whole number.
pub(super) fn integer(about: &str) -> Value {
    json!({"type": "integer", "description": about})
}

/// A duration.
pub(super) fn micros(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": format!("{about}, in microseconds")})
}

/// A text.
pub(super) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

/// An instant.
pub(super) fn timestamp(about: &str) -> Value {
    json!({"type": "string", "format": "date-time", "description": format!("{about}; RFC 3339, UTC")})
}

/// A number of a run or result.
pub(super) fn hex_id(about: &str) -> Value {
    json!({"type": "string", "pattern": "^[0-9a-f]{16}$", "description": about})
}

/// A word of [`crate::domain::Outcome`].
pub(super) fn outcome() -> Value {
    json!({"type": "string", "enum": Outcome::ALL.map(Outcome::name)})
}
