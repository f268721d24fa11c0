//! The texts of a form: what stands in its inputs.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

use super::form_fields::shown_fields;
use super::input_names::{count_name, item_path, member_path, object_name, origin_name};
use crate::schema::field::{Field, FieldType};
use crate::schema::table::FieldTable;

/// The texts of the inputs, by the name of the input.
pub(super) type FormTexts = HashMap<String, String>;

/// Most inputs of one field of a monitor; larger values are written as a whole.
const MAX_INPUTS: usize = 1_500;

/// Returns the texts of the fields `values`, in version 3 form.
pub(super) fn texts_from_values(fields: &[&'static Field], values: &Map<String, Value>) -> FormTexts {
    let mut texts = FormTexts::new();
    for field in fields {
        let value = values.get(field.name).filter(|value| !value.is_null());
        let mut own = FormTexts::new();
        add_texts(field, field.name, value, &mut own);
        match value {
            Some(value) if own.len() > MAX_INPUTS => {
                texts.insert(field.name.to_owned(), text_from_value(field, value));
            }
            _ => texts.extend(own),
        }
    }
    texts
}

/// Adds the texts of the item `path` of a list, with what is stored of it; `None` for a new one.
pub(super) fn add_item_texts(table: &FieldTable, path: &str, value: Option<&Value>, texts: &mut FormTexts) {
    for field in shown_fields(table) {
        let stored = value.and_then(|value| value.get(field.name)).filter(|value| !value.is_null());
        let default = field.default_value();
        add_texts(field, &member_path(path, field.name), stored.or(default.as_ref()), texts);
    }
}

fn add_texts(field: &Field, path: &str, value: Option<&Value>, texts: &mut FormTexts) {
    match (&field.field_type, value) {
        // Secrets are write-only: an empty input keeps what is stored.
        _ if field.secret => {}
        (FieldType::List { item_type: FieldType::Object(table), .. }, value) => {
            let items = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            texts.insert(count_name(path), items.len().to_string());
            for (place, (origin, item)) in in_order(items).into_iter().enumerate() {
                let item_path = item_path(path, place);
                add_item_texts(table, &item_path, Some(item), texts);
                texts.insert(origin_name(&item_path), origin_text(origin, item));
            }
        }
        (FieldType::Object(table), value) => {
            texts.insert(object_name(path), String::new());
            add_item_texts(table, path, value, texts);
        }
        (_, None) => {}
        (_, Some(value)) => drop(texts.insert(path.to_owned(), text_from_value(field, value))),
    }
}

/// Returns the items of a list with their places in it, in the order of their step numbers, if they have some.
fn in_order(items: &[Value]) -> Vec<(usize, &Value)> {
    let mut items: Vec<_> = items.iter().enumerate().collect();
    items.sort_by_key(|(index, item)| {
        let place = i64::try_from(*index).unwrap_or(i64::MAX).saturating_add(1);
        item.get("step_number").and_then(Value::as_i64).unwrap_or(place)
    });
    items
}

/// Returns what tells the stored item `index` from others: its place, and its content without secrets.
fn origin_text(index: usize, item: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    item.to_string().hash(&mut hasher);
    format!("{index}-{:016x}", hasher.finish())
}

/// Finds the place of the item that was `origin` in `items`, the stored list without secrets. An item that somebody else
/// changed meanwhile is no longer found: its secrets must not go to another one.
pub(super) fn find_origin(origin: &str, items: &[Value]) -> Option<usize> {
    let index: usize = origin.split_once('-')?.0.parse().ok()?;
    let is_same = |index: &usize| items.get(*index).is_some_and(|item| origin_text(*index, item) == origin);
    Some(index).filter(is_same)
}

fn text_from_value(field: &Field, value: &Value) -> String {
    match (&field.field_type, value) {
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
