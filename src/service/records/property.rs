//! Custom properties and their values. The ids of values are stable: a value keeps its id for as long as it exists, and
//! ids are never reused.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, field_conflict_error, fields_with_defaults, merged_fields};
use super::usage::monitor_usage_text;
use crate::domain::ConfigRecord;
use crate::schema::table::records::PROPERTY;
use crate::service::caller::ServiceError;
use crate::syntax::ValidationError;
use crate::syntax::node::Node;

/// Stored field with the id that the next new value gets; not in responses.
const NEXT_VALUE_ID_FIELD: &str = "next_value";

pub(super) fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let mut fields = fields_with_defaults(&PROPERTY, body)?;
    assign_value_ids(&mut fields, &Map::new(), body)?;
    let mut draft = RecordDraft::new(fields);
    draft.unique_key = Some(unique_key(cx, &draft.fields));
    Ok(draft)
}

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let mut fields = merged_fields(&PROPERTY, &old.fields, body)?;
    if body.get("values").is_some() {
        assign_value_ids(&mut fields, &old.fields, body)?;
        let (before, after) = (value_texts_by_id(&old.fields), value_texts_by_id(&fields));
        for (id, text) in before.iter().filter(|(id, _)| !after.contains_key(id)) {
            let usage_text = monitor_usage_text(cx.dependencies, Some(old.customer), |document| {
                uses_property(document, old.id, Some(*id))
            });
            if let Some(usage_text) = usage_text {
                return Err(ServiceError::Conflict(format!(
                    "{usage_text} the value `{text}` ({id}); it cannot be removed"
                )));
            }
        }
    }
    let mut draft = RecordDraft::from_record(old, fields);
    draft.unique_key = Some(unique_key(cx, &draft.fields));
    Ok(draft)
}

pub(super) fn check_removal(cx: &RecordContext<'_>, old: &ConfigRecord) -> Result<(), ServiceError> {
    match monitor_usage_text(cx.dependencies, Some(old.customer), |document| {
        uses_property(document, old.id, None)
    }) {
        Some(usage_text) => {
            Err(ServiceError::Conflict(format!("{usage_text} this property; remove it from them first")))
        }
        None => Ok(()),
    }
}

fn unique_key(cx: &RecordContext<'_>, fields: &Map<String, Value>) -> String {
    format!("{}:{}", cx.caller.customer, cx.definition.record_name(fields))
}

/// Returns the values by id.
fn value_texts_by_id(fields: &Map<String, Value>) -> BTreeMap<i64, String> {
    let list = fields.get("values").and_then(Value::as_array);
    let id_and_text =
        |value: &Value| Some((value.get("id")?.as_i64()?, value.get("value")?.as_str()?.to_owned()));
    list.into_iter().flatten().filter_map(id_and_text).collect()
}

/// Whether a monitor has the property, with this value if given.
fn uses_property(document: &crate::schema::MonitorDocument, property_id: i64, value_id: Option<i64>) -> bool {
    document.custom_properties().any(|assigned| {
        assigned.id == property_id && value_id.is_none_or(|value_id| assigned.value_id == value_id)
    })
}

/// Assigns an id to every value: the given one, else that of an old value with the same text, else a new one.
fn assign_value_ids(
    fields: &mut Map<String, Value>,
    old: &Map<String, Value>,
    body: &Node,
) -> Result<(), ServiceError> {
    let old_values = value_texts_by_id(old);
    let mut next_id = old.get(NEXT_VALUE_ID_FIELD).and_then(Value::as_i64).unwrap_or(1);
    let mut errors: Vec<ValidationError> = Vec::new();
    let (mut seen_ids, mut seen_texts) = (BTreeSet::new(), BTreeSet::new());
    let new_entries = fields.get_mut("values").and_then(Value::as_array_mut);
    let new_entries = new_entries.map(std::mem::take).unwrap_or_default();
    let requested_ids: BTreeSet<i64> =
        new_entries.iter().filter_map(|value| value.get("id")?.as_i64()).collect();
    let mut values = Vec::with_capacity(new_entries.len());
    for (index, value) in new_entries.iter().enumerate() {
        let text = value.get("value").and_then(Value::as_str).unwrap_or_default();
        let path = |name: &str| format!("values[{index}].{name}");
        let id = match value.get("id").and_then(Value::as_i64) {
            Some(id) if !old_values.contains_key(&id) => {
                let path = path("id");
                let message =
                    format!("`{path}`: the property has no value `{id}`; leave `id` out for a new one");
                errors.push(field_conflict_error(body, &path, message).with_value(id.to_string()));
                continue;
            }
            Some(id) => id,
            None => {
                let unchanged_value =
                    old_values.iter().find(|(id, old_text)| *old_text == text && !requested_ids.contains(id));
                unchanged_value.map_or_else(
                    || {
                        next_id += 1;
                        next_id - 1
                    },
                    |(id, _)| *id,
                )
            }
        };
        for (name, is_unique) in [("id", seen_ids.insert(id)), ("value", seen_texts.insert(text))] {
            if !is_unique {
                let path = path(name);
                errors.push(field_conflict_error(body, &path, format!("`{path}` is already in the list")));
            }
        }
        values.push(json!({"id": id, "value": text}));
    }
    if !errors.is_empty() {
        return Err(ServiceError::Invalid(errors));
    }
    fields.insert("values".to_owned(), Value::Array(values));
    fields.insert(NEXT_VALUE_ID_FIELD.to_owned(), json!(next_id));
    Ok(())
}
