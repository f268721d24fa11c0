//! What version 3 has to show of what was sent.

use serde_json::{Map, Value, json};
use vigie::schema::field::{Access, Field, FieldType};

use crate::api_fields::parts::open;
use crate::api_fields::ties::pool;
use crate::api_fields::world::{World, location};

const MASK: &str = "********";

impl World {
    /// The settable fields of a monitor that was made from `sent`, or changed to it. `browser` is what a way that
    /// may set it has set.
    pub fn wanted(&self, sent: &Map<String, Value>, browser: &str) -> Map<String, Value> {
        let of = |field: &&'static Field| (field.name.to_owned(), self.field(field, sent, browser));
        self.settable().iter().map(of).collect()
    }

    fn field(&self, field: &'static Field, sent: &Map<String, Value>, browser: &str) -> Value {
        let given = sent.get(field.name).unwrap_or(&Value::Null);
        match field.name {
            "browser_type" => json!(browser),
            "locations" => {
                let shown = |id: i64| json!({"id": id, "name": location(id), "region": id});
                pool(sent).into_iter().map(shown).collect()
            }
            "home_location" if given.is_null() && self.is_mobile() => json!(1),
            "home_location" if given.is_null() => json!(pool(sent)[0]),
            "custom_properties" => {
                let shown = |entry: &Value| {
                    let known = self.properties.iter().find(|(id, ..)| entry["id"] == *id).unwrap();
                    let value = known.2.iter().find(|(id, _)| entry["value_id"] == *id).unwrap();
                    json!({"id": known.0, "value_id": value.0, "name": known.1, "value": value.1})
                };
                given.as_array().into_iter().flatten().map(shown).collect()
            }
            _ => kept(field, given).map_or(Value::Null, |kept| masked(field, kept)),
        }
    }

    /// What the document has to hold of `sent`, in clear.
    pub fn in_clear(&self, sent: &Map<String, Value>) -> Map<String, Value> {
        let of = |field: &'static Field| {
            let echo = matches!(field.name, "locations" | "home_location" | "browser_type");
            let given = sent.get(field.name).filter(|_| !echo)?;
            Some((field.name.to_owned(), kept(field, given).unwrap_or(Value::Null)))
        };
        self.settable().into_iter().filter_map(of).collect()
    }
}

/// The value with its defaults; `None` for none. An empty text without a default is none.
fn kept(field: &Field, given: &Value) -> Option<Value> {
    let empty =
        given == "" && matches!(field.field_type, FieldType::Text { .. }) && field.default_value().is_none();
    match given {
        Value::Null => field.default_value(),
        _ if empty => None,
        given => Some(whole(&field.field_type, given)),
    }
}

/// Sub-objects have all of their fields that have a value.
fn whole(kind: &FieldType, given: &Value) -> Value {
    match (kind, given) {
        (FieldType::Object(table), Value::Object(given)) => {
            let inner = |field: &Field| {
                let value = kept(field, given.get(field.name).unwrap_or(&Value::Null))?;
                Some((field.name.to_owned(), value))
            };
            Value::Object(open(table).filter_map(inner).collect())
        }
        (FieldType::List { items: of, .. }, Value::Array(items)) => {
            items.iter().map(|item| whole(of, item)).collect()
        }
        (_, given) => given.clone(),
    }
}

fn masked(field: &Field, value: Value) -> Value {
    if field.secret && value != "" { json!(MASK) } else { masked_inside(&field.field_type, value) }
}

fn masked_inside(kind: &FieldType, value: Value) -> Value {
    match (kind, value) {
        (FieldType::Object(table), Value::Object(entries)) => {
            let inner = |(name, value): (String, Value)| {
                let value = masked(table.field(&name).unwrap(), value);
                (name, value)
            };
            Value::Object(entries.into_iter().map(inner).collect())
        }
        (FieldType::List { items: of, .. }, Value::Array(items)) => {
            items.into_iter().map(|item| masked_inside(of, item)).collect()
        }
        (_, value) => value,
    }
}

/// A value of another kind than `field` has, or of its kind and not its own: what is read-only takes both.
pub fn nonsense(field: &Field, odd: bool) -> Value {
    assert_eq!(field.access, Access::ReadOnly);
    match field.field_type {
        _ if odd => json!({"not": ["a value"]}),
        FieldType::Bool => json!(true),
        FieldType::Int { .. } | FieldType::IntEnum(_) | FieldType::Float { .. } => json!(77),
        FieldType::List { .. } => json!([]),
        _ => json!("View"),
    }
}
