//! Lists of entries with `key`, `value` and `disabled`, as collections hold them.

use serde_json::Value;

/// Returns the entries of a list that are switched on.
pub(super) fn enabled_entries(list: &Value) -> impl Iterator<Item = &Value> {
    let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter(|entry| entry["disabled"].as_bool() != Some(true))
}

/// Returns a value as text; null is empty.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
