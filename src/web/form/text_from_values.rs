//! The texts of a form: what stands in its inputs.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::field::{Field, FieldType};

/// The texts of the inputs, by the name of the field.
pub(super) type FormTexts = HashMap<String, String>;

/// Returns the texts of the fields `values`, in version 3 form.
pub(super) fn texts_from_values(fields: &[&'static Field], values: &Map<String, Value>) -> FormTexts {
    let text_of = |field: &&'static Field| {
        let value = values.get(field.name).filter(|value| !value.is_null())?;
        Some((field.name.to_owned(), text_from_value(field, value)))
    };
    fields.iter().filter_map(text_of).collect()
}

fn text_from_value(field: &Field, value: &Value) -> String {
    match (&field.field_type, value) {
        // Secrets are write-only: an empty input keeps what is stored.
        _ if field.secret => String::new(),
        (_, Value::String(text)) => text.clone(),
        (FieldType::List { item_type, .. }, Value::Array(items)) if is_scalar(item_type) => {
            let lines =
                items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            lines.collect::<Vec<_>>().join("\n")
        }
        (FieldType::List { .. }, Value::Array(items)) if items.is_empty() => String::new(),
        // JSON is YAML, too.
        (FieldType::List { .. } | FieldType::Object(_) | FieldType::Any, value) => {
            serde_json::to_string_pretty(&with_step_numbers(field, value)).unwrap_or_default()
        }
        (_, value) => value.to_string(),
    }
}

/// Numbers the steps that have no number: masked secrets belong to the step of their number, also after another one was
/// removed.
fn with_step_numbers(field: &Field, value: &Value) -> Value {
    let mut value = value.clone();
    let has_steps = field.name == "api_steps";
    if let Some(steps) = value.as_array_mut().filter(|_| has_steps) {
        for (step, number) in steps.iter_mut().zip(1..) {
            if let Some(step) = step.as_object_mut() {
                step.entry("step_number").or_insert(Value::from(number));
            }
        }
    }
    value
}

/// Returns `text` as a browser sends it back when nobody changes it, with plain line breaks (WHATWG HTML 4.10.21.8).
pub(super) fn normalized(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Whether values of this type fit on a line.
pub(super) fn is_scalar(field_type: &FieldType) -> bool {
    !matches!(field_type, FieldType::List { .. } | FieldType::Object(_) | FieldType::Any)
}
