//! From the texts of a form to lists of objects, and objects: each of their fields has an input.

use serde_json::Value;

use super::form_fields::shown_fields;
use super::input_names::{clear_name, count_name, item_path, member_path, object_name, origin_name};
use super::plain_values::{key, node, scalar_from_text};
use super::text_from_values::{FormTexts, find_origin, is_scalar, normalized};
use crate::schema::field::{Field, FieldType};
use crate::schema::is_masked_url;
use crate::schema::table::FieldTable;
use crate::schema::table::sub_objects::HEADER;
use crate::syntax::node::{Key, Node, NodeValue, Position};
use crate::syntax::{MASK, ValidationError, ValidationErrorKind};

/// Most items of all lists of a form together.
pub(super) const MAX_ITEMS: usize = 5_000;

/// Said of a form with more of them.
pub(super) const TOO_MANY_ITEMS: &str =
    "The lists of a form have at most 5,000 entries; use the API or `vigie apply`";

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

/// Whether the lists in `texts` claim more items than a form may have.
pub(super) fn has_too_many_items(texts: &FormTexts) -> bool {
    let suffix = count_name("");
    let counts = texts.iter().filter(|(name, _)| name.ends_with(&suffix));
    let count_of = |text: &str| -> usize { text.parse().unwrap_or_default() };
    counts.map(|(_, text)| count_of(text)).fold(0, usize::saturating_add) > MAX_ITEMS
}

/// Adds an error for each mask in `value`, which stands at `path`: nothing that is stored belongs there.
pub(super) fn report_masks(value: &NodeValue, path: &str, errors: &mut Vec<ValidationError>) {
    match value {
        NodeValue::Text(text) if text == MASK || is_masked_url(text) => {
            let message = format!("`{path}` is masked, but no value is stored for it here");
            let error = ValidationError::new(ValidationErrorKind::Secret, path, Position::default(), message);
            errors.push(error.with_hint("type the value itself"));
        }
        NodeValue::List(items) => {
            for (index, item) in items.iter().enumerate() {
                report_masks(&item.value, &item_path(path, index), errors);
            }
        }
        NodeValue::Map(members) => {
            for (key, member) in members {
                report_masks(&member.value, &member_path(path, &key.name), errors);
            }
        }
        _ => {}
    }
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
            (!items.is_empty()).then_some(NodeValue::List(items))
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

/// Returns what is stored of the members of an object. The value of a secret header does not go to another header.
fn stored_members<'a>(
    table: &FieldTable,
    path: &str,
    texts: &FormTexts,
    stored: StoredValue<'a>,
) -> StoredValue<'a> {
    let name = stored.masked.and_then(|masked| masked.get("name")).and_then(Value::as_str);
    let is_renamed = || texts.get(&member_path(path, "name")).map(String::as_str) != name;
    if std::ptr::eq(table, &raw const HEADER) && is_renamed() { StoredValue::default() } else { stored }
}

fn members(table: &FieldTable, path: &str, texts: &FormTexts, stored: StoredValue<'_>) -> Vec<(Key, Node)> {
    let stored = stored_members(table, path, texts, stored);
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
        // Line breaks of what is stored may be others than those of the form.
        _ if stored.masked.and_then(Value::as_str).is_some_and(|stored| normalized(stored) == text) => {
            return kept();
        }
        _ => scalar_from_text(field_type, &text),
    };
    Some(value).filter(|value| Some(value) != default.as_ref())
}
