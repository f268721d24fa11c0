//! The object of version 3 that is expected after a create or change.

use serde_json::{Map, Value, json};
use vigie::schema::field::{Access, Field, FieldType};

use crate::api_fields::cases::location_ids;
use crate::api_fields::sub_objects::settable_fields;
use crate::api_fields::world::{World, location};

const MASK: &str = "********";

impl World {
    /// Returns the settable fields of a monitor that was created from `sent`, or changed to it. `browser` is the last
    /// value set by a call that may set the browser type.
    pub fn expected_object(&self, sent: &Map<String, Value>, browser: &str) -> Map<String, Value> {
        let entry = |field: &&'static Field| (field.name.to_owned(), self.field(field, sent, browser));
        self.settable().iter().map(entry).collect()
    }

    fn field(&self, field: &'static Field, sent: &Map<String, Value>, browser: &str) -> Value {
        let sent_value = sent.get(field.name).unwrap_or(&Value::Null);
        match field.name {
            "browser_type" => json!(browser),
            "locations" => {
                let expanded = |id: i64| json!({"id": id, "name": location(id), "region": id});
                location_ids(sent).into_iter().map(expanded).collect()
            }
            // The provider of the settings.
            "hostname" if self.is_mobile() && (sent_value.is_null() || sent_value == "") => {
                json!("devices.test")
            }
            "home_location" if sent_value.is_null() && self.is_mobile() => json!(1),
            "home_location" if sent_value.is_null() => json!(location_ids(sent)[0]),
            "custom_properties" => {
                let expanded = |entry: &Value| {
                    let property = self.properties.iter().find(|(id, ..)| entry["id"] == *id).unwrap();
                    let value = property.2.iter().find(|(id, _)| entry["value_id"] == *id).unwrap();
                    json!({"id": property.0, "value_id": value.0, "name": property.1, "value": value.1})
                };
                sent_value.as_array().into_iter().flatten().map(expanded).collect()
            }
            _ => stored_value(field, sent_value)
                .map_or(Value::Null, |stored_value| masked(field, stored_value)),
        }
    }

    /// Returns the fields that the document must store for `sent`, with secrets in clear.
    pub fn expected_document(&self, sent: &Map<String, Value>) -> Map<String, Value> {
        let entry = |field: &'static Field| {
            let is_derived = matches!(field.name, "locations" | "home_location" | "browser_type");
            let sent_value = sent.get(field.name).filter(|_| !is_derived)?;
            Some((field.name.to_owned(), stored_value(field, sent_value).unwrap_or(Value::Null)))
        };
        self.settable().into_iter().filter_map(entry).collect()
    }
}

/// Returns the stored value with its defaults. An empty text without a default counts as not set.
fn stored_value(field: &Field, sent_value: &Value) -> Option<Value> {
    let empty = sent_value == ""
        && matches!(field.field_type, FieldType::Text { .. })
        && field.default_value().is_none();
    match sent_value {
        Value::Null => field.default_value(),
        _ if empty => None,
        sent_value => Some(with_defaults(&field.field_type, sent_value)),
    }
}

/// Adds to sub-objects the fields that have a default.
fn with_defaults(kind: &FieldType, sent_value: &Value) -> Value {
    match (kind, sent_value) {
        (FieldType::Object(table), Value::Object(sent_value)) => {
            let field_of = |field: &Field| {
                let value = stored_value(field, sent_value.get(field.name).unwrap_or(&Value::Null))?;
                Some((field.name.to_owned(), value))
            };
            Value::Object(settable_fields(table).filter_map(field_of).collect())
        }
        (FieldType::List { item_type, .. }, Value::Array(items)) => {
            items.iter().map(|item| with_defaults(item_type, item)).collect()
        }
        (_, sent_value) => sent_value.clone(),
    }
}

fn masked(field: &Field, value: Value) -> Value {
    if field.secret && value != "" { json!(MASK) } else { masked_inside(&field.field_type, value) }
}

fn masked_inside(kind: &FieldType, value: Value) -> Value {
    match (kind, value) {
        (FieldType::Object(table), Value::Object(entries)) => {
            let masked_field = |(name, value): (String, Value)| {
                let value = masked(table.field(&name).unwrap(), value);
                (name, value)
            };
            Value::Object(entries.into_iter().map(masked_field).collect())
        }
        (FieldType::List { item_type, .. }, Value::Array(items)) => {
            items.into_iter().map(|item| masked_inside(item_type, item)).collect()
        }
        (_, value) => value,
    }
}

/// Returns a value of the type of the read-only `field`, or with `odd` one of another type. Both are ignored.
pub fn arbitrary_value(field: &Field, odd: bool) -> Value {
    assert_eq!(field.access, Access::ReadOnly);
    match field.field_type {
        _ if odd => json!({"not": ["a value"]}),
        FieldType::Bool => json!(true),
        FieldType::Int { .. } | FieldType::IntEnum(_) | FieldType::Float { .. } => json!(77),
        FieldType::List { .. } => json!([]),
        _ => json!("View"),
    }
}
