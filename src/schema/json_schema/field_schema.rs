//! The schema of one field: its type and bounds, and what each role adds.

use serde_json::{Map, Value, json};

use super::pattern::{format_name, pattern};
use super::schema_role::{SchemaRole, item_role, schema_ref};
use crate::schema::field::{Access, Field, FieldType};
use crate::syntax::MASK;
use crate::syntax::text_format::TextFormat;

/// Returns the schema of `field`, with its description.
pub(super) fn field_schema(field: &Field, role: SchemaRole) -> Value {
    let mut schema = match (role, field.access) {
        (SchemaRole::Response, _) => response_schema(field),
        (_, Access::ReadWrite) => request_schema(field, role),
        // An ignored field accepts any value, so that a response can be sent back as a request (behaviour.md 1).
        _ => json!({"x-ignored": true}),
    };
    let mut description = field.description.to_owned();
    match (role, field.access) {
        (_, Access::ReadWrite) => {}
        (SchemaRole::Response, _) => schema["readOnly"] = Value::Bool(true),
        _ => description.push_str(". Set by Vigie: ignored here"),
    }
    if field.secret {
        description.push_str(match role {
            SchemaRole::Response => ". Masked",
            SchemaRole::Create => ". Kept sealed",
            SchemaRole::Patch => ". Stored sealed; `********` leaves it is",
        });
    }
    if field.extension {
        schema["x-extension"] = Value::Bool(true);
    }
    schema["description"] = Value::from(description);
    if role == SchemaRole::Create
        && field.access == Access::ReadWrite
        && let Some(default) = field.default_value()
    {
        schema["default"] = default;
    }
    schema
}

/// Returns the schema of the values that the reader accepts for `field` in version 3 form.
fn request_schema(field: &Field, role: SchemaRole) -> Value {
    let mut value_schema = type_schema(&field.field_type, role, min_item_chars(field));
    let accepts_mask = field.secret || field.embedded_secrets().is_some();
    if accepts_mask && value_schema.get("pattern").is_some() {
        // A mask stands for the stored value, whatever its format.
        value_schema = json!({"anyOf": [value_schema, {"const": MASK}]});
    }
    let nullable = !field.is_required_in_v3();
    let no_default = field.default_value().is_none();
    // An empty text unsets numbers and texts without a default (behaviour.md 1, lenient inputs).
    let accepts_empty_text = nullable
        && no_default
        && match field.field_type {
            FieldType::Int { .. } => true,
            FieldType::Text { min, format, .. } => min > 0 || format != TextFormat::Any,
            _ => false,
        };
    match (nullable, accepts_empty_text) {
        (false, _) => value_schema,
        (true, true) => json!({"anyOf": [value_schema, {"enum": ["", null]}]}),
        (true, false) => nullable_schema(value_schema),
    }
}

/// Returns the schema of `field` in a response.
fn response_schema(field: &Field) -> Value {
    let is_always_present = field.required || field.default_value().is_some();
    if field.secret {
        return json!({"type": ["string", "null"], "enum": ["", MASK, null]});
    }
    let value_schema = type_schema(&field.field_type, SchemaRole::Response, 0);
    if is_always_present { value_schema } else { nullable_schema(value_schema) }
}

/// Returns the minimum length of texts in the list that `field` holds: 1, unless the list is required or
/// has a default.
fn min_item_chars(field: &Field) -> usize {
    usize::from(field.default_value().is_none() && !field.required)
}

fn nullable_schema(mut schema: Value) -> Value {
    if schema.get("$ref").is_some() {
        return json!({"anyOf": [schema, {"type": "null"}]});
    }
    if let Some(Value::Array(choices)) = schema.get_mut("enum") {
        choices.push(Value::Null);
    }
    if let Some(Value::String(type_name)) = schema.get("type").cloned() {
        schema["type"] = json!([type_name, "null"]);
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.push(json!({"type": "null"}));
    }
    schema
}

fn type_schema(field_type: &FieldType, role: SchemaRole, item_min_chars: usize) -> Value {
    match field_type {
        FieldType::Bool => json!({"type": "boolean"}),
        FieldType::Int { min, max } => {
            let mut schema = json!({"type": "integer"});
            // A number without bounds of its own is bounded to 64 bits.
            schema["minimum"] = json!(min);
            schema["maximum"] = json!(max);
            schema
        }
        FieldType::IntEnum(choices) => json!({"type": "integer", "enum": choices}),
        FieldType::Float { min, max } => {
            let mut schema = json!({"type": "number"});
            if min.is_finite() {
                schema["minimum"] = json!(min);
            }
            if max.is_finite() {
                schema["maximum"] = json!(max);
            }
            schema
        }
        FieldType::Text { min, max, format } => text_schema(*min, *max, *format, role),
        FieldType::TextEnum(choices) => choice_schema(choices, role),
        FieldType::List { item_type, min, max } => {
            let mut items = type_schema(item_type, item_role(role), 0);
            if let FieldType::Text { min: 0, .. } = item_type
                && item_min_chars > 0
                && role != SchemaRole::Response
            {
                items["minLength"] = json!(item_min_chars);
            }
            let mut schema = json!({"type": "array", "items": items, "maxItems": max});
            if *min > 0 && role != SchemaRole::Response {
                schema["minItems"] = json!(min);
            }
            schema
        }
        FieldType::Object(table) => schema_ref(table, role),
        FieldType::Any => json!({}),
    }
}

fn text_schema(min: usize, max: usize, format: TextFormat, role: SchemaRole) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("string"));
    if role == SchemaRole::Response && matches!(format, TextFormat::TimeOfDay | TextFormat::LocalDateTime) {
        // Vigie writes these itself.
    } else if min > 0 && role != SchemaRole::Response {
        schema.insert("minLength".to_owned(), json!(min));
    }
    schema.insert("maxLength".to_owned(), json!(max));
    if role == SchemaRole::Response {
        return Value::Object(schema);
    }
    if let Some(name) = format_name(format) {
        schema.insert("format".to_owned(), json!(name));
    }
    match format {
        TextFormat::Ip => {
            schema.insert("anyOf".to_owned(), json!([{"format": "ipv4"}, {"format": "ipv6"}]));
        }
        // An object is accepted too, and stored as its text.
        TextFormat::JsonSchema => return json!({"anyOf": [schema, {"type": "object"}]}),
        TextFormat::Json | TextFormat::VariablesJson => {
            schema.insert("contentMediaType".to_owned(), json!("application/json"));
        }
        TextFormat::Xml => {
            schema.insert("contentMediaType".to_owned(), json!("application/xml"));
        }
        TextFormat::Base64 => {
            schema.insert("contentEncoding".to_owned(), json!("base64"));
        }
        _ => {}
    }
    if let Some(pattern) = pattern(format) {
        schema.insert("pattern".to_owned(), json!(pattern));
    }
    Value::Object(schema)
}

/// Returns the schema of a choice. Inputs also accept the numbers that look like a choice (behaviour.md 1:
/// `use_ssl_version` as a number).
fn choice_schema(choices: &[&str], role: SchemaRole) -> Value {
    let mut accepted: Vec<Value> = choices.iter().copied().map(Value::from).collect();
    if role == SchemaRole::Response {
        return json!({"type": "string", "enum": accepted});
    }
    for choice in choices {
        // JSON does not distinguish 1.0 from 1, so `1.0` must be a text.
        if let Some(integer) = choice.parse::<i64>().ok().filter(|number| number.to_string() == **choice) {
            accepted.push(Value::from(integer));
        } else if let Some(number) =
            choice.parse::<f64>().ok().filter(|n| n.fract() != 0.0 && format!("{n:?}") == **choice)
        {
            accepted.push(Value::from(number));
        }
    }
    json!({"enum": accepted})
}
