//! From the texts of a form to lists of objects, and objects: each of their fields has an input.

use serde_json::Value;

use super::form_fields::shown_fields;
use super::input_names::{clear_name, count_name, item_path, member_path, object_name, origin_name};
use super::plain_values::{key, node, scalar_from_text};
use super::text_from_values::{FormTexts, find_origin, is_scalar, normalized};
use crate::schema::field::{Field, FieldType};
use crate::schema::table::FieldTable;
use crate::syntax::node::{Key, Node, NodeValue};

/// Most items that are read of one list: more than any list may have.
pub(super) const MAX_ITEMS: usize = 2_000;

/// What is stored at the place of an input: nothing for what is new.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StoredValue<'a> {
    /// The value with masks in place of secrets, as the form shows it.
    pub(super) masked: Option<&'a Value>,
    /// The value with its secrets.
    pub(super) revealed: Option<&'a Value>,
}

impl<'a> StoredValue<'a> {
    /// Returns what is stored of the field `name` of an object.
    pub(super) fn member(self, name: &str) -> Self {
        let member = |value: Option<&'a Value>| value.and_then(|value| value.get(name));
        Self { masked: member(self.masked), revealed: member(self.revealed) }
    }

    /// Returns what is stored of the item that was `origin`, as the form names it.
    pub(super) fn item(self, origin: Option<&String>) -> Self {
        let items = |value: Option<&'a Value>| value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let index = origin.and_then(|origin| find_origin(origin, items(self.masked)));
        let item = |value| index.and_then(|index| items(value).get(index));
        Self { masked: item(self.masked), revealed: item(self.revealed) }
    }
}

/// Whether the form has an input for each field of `path`.
pub(super) fn is_shown_by_field(path: &str, texts: &FormTexts) -> bool {
    texts.contains_key(&count_name(path)) || texts.contains_key(&object_name(path))
}

/// Returns how many items the list `path` has in the form.
pub(super) fn item_count(path: &str, texts: &FormTexts) -> usize {
    let count = texts.get(&count_name(path)).and_then(|text| text.parse().ok());
    count.unwrap_or(0).min(MAX_ITEMS)
}

/// Returns the value of the field `path`, in version 3 form; `None` when it is its default. What was not touched keeps its
/// secrets.
pub(super) fn value_from_texts(
    field: &Field,
    path: &str,
    texts: &FormTexts,
    stored: StoredValue<'_>,
) -> Option<NodeValue> {
    match &field.field_type {
        FieldType::List { item_type: FieldType::Object(table), .. } => {
            let to_item = |index| {
                let path = item_path(path, index);
                let stored = stored.item(texts.get(&origin_name(&path)));
                node(NodeValue::Map(members(table, &path, texts, stored)))
            };
            let items: Vec<_> = (0..item_count(path, texts)).map(to_item).collect();
            Some(NodeValue::List(items)).filter(|value| *value != NodeValue::List(Vec::new()))
        }
        FieldType::Object(table) => {
            let members = members(table, path, texts, stored);
            (!members.is_empty()).then_some(NodeValue::Map(members))
        }
        FieldType::List { item_type, .. } => {
            let text = texts.get(path).map(|text| normalized(text)).unwrap_or_default();
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let items: Vec<_> = lines.map(|line| node(scalar_from_text(item_type, line))).collect();
            (!items.is_empty()).then_some(NodeValue::List(items))
        }
        scalar => scalar_value(field, scalar, path, texts, stored),
    }
}

fn members(table: &FieldTable, path: &str, texts: &FormTexts, stored: StoredValue<'_>) -> Vec<(Key, Node)> {
    let to_member = |field: &'static Field| {
        let value =
            value_from_texts(field, &member_path(path, field.name), texts, stored.member(field.name))?;
        Some((key(field.name), node(value)))
    };
    shown_fields(table).filter_map(to_member).collect()
}

fn scalar_value(
    field: &Field,
    field_type: &FieldType,
    path: &str,
    texts: &FormTexts,
    stored: StoredValue<'_>,
) -> Option<NodeValue> {
    debug_assert!(is_scalar(field_type), "`{path}` is a list or an object");
    let text = texts.get(path).map(|text| normalized(text)).unwrap_or_default();
    let kept =
        || stored.revealed.filter(|value| !value.is_null()).map(|value| Node::from(value.clone()).value);
    if field.secret {
        return match () {
            () if texts.contains_key(&clear_name(path)) => None,
            () if text.is_empty() => kept(),
            () => Some(NodeValue::Text(text)),
        };
    }
    let default = field.default_value().map(|value| Node::from(value).value);
    let value = match field_type {
        FieldType::Bool => NodeValue::Bool(text == "true"),
        // Somebody who empties an input whose default is a text wants an empty text.
        FieldType::Text { .. } if text.is_empty() => match &default {
            Some(NodeValue::Text(default)) if !default.is_empty() => NodeValue::Text(text),
            _ => return None,
        },
        _ if text.is_empty() => return None,
        // A value that is a secret in part, such as that of a header, or a URL with a password, shows a mask.
        _ if stored.masked.and_then(Value::as_str) == Some(text.as_str()) => return kept(),
        _ => scalar_from_text(field_type, &text),
    };
    Some(value).filter(|value| Some(value) != default.as_ref())
}
