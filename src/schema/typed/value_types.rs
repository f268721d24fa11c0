//! Checks whether a value has the type of its field, and is one of the choices if the type has any.

use serde_json::{Map, Value};

use super::invalid_settings::InvalidFieldValue;
use crate::schema::field::{Field, FieldTable, FieldType};

/// Returns the first part of `value` that is not of the type of `field`; `None` without any. Bounds of numbers and
/// formats of texts are only checked for new values.
pub(in crate::schema) fn find_mistyped_value(field: &Field, value: &Value) -> Option<InvalidFieldValue> {
    find_mistyped_part(&field.field_type, value).map(|error| error.with_field(field, value))
}

fn find_mistyped_part(field_type: &FieldType, value: &Value) -> Option<InvalidFieldValue> {
    let is_of_type = match (field_type, value) {
        (FieldType::Any, _)
        | (FieldType::Bool, Value::Bool(_))
        | (FieldType::Float { .. }, Value::Number(_))
        | (FieldType::Text { .. }, Value::String(_)) => true,
        (FieldType::Int { .. }, Value::Number(number)) => number.is_i64(),
        (FieldType::IntEnum(choices), Value::Number(number)) => {
            number.as_i64().is_some_and(|number| choices.contains(&number))
        }
        (FieldType::TextEnum(choices), Value::String(text)) => choices.contains(&text.as_str()),
        (FieldType::List { item_type, .. }, Value::Array(items)) => {
            return find_mistyped_item(item_type, items);
        }
        (FieldType::Object(table), Value::Object(entries)) => {
            return find_mistyped_field(table, entries);
        }
        _ => false,
    };
    (!is_of_type).then(|| InvalidFieldValue::from_reason(format!("it must be {}", field_type.requirement())))
}

fn find_mistyped_item(item_type: &FieldType, items: &[Value]) -> Option<InvalidFieldValue> {
    items.iter().enumerate().find_map(|(index, item)| {
        let error = find_mistyped_part(item_type, item)?;
        Some(error.with_value(item).with_path_prefix(&format!("[{index}]")))
    })
}

fn find_mistyped_field(
    table: &'static FieldTable,
    entries: &Map<String, Value>,
) -> Option<InvalidFieldValue> {
    entries
        .iter()
        .filter(|(_, value)| !value.is_null())
        .find_map(|(name, value)| find_mistyped_value(table.field(name)?, value))
}
