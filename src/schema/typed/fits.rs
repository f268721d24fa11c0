//! Whether a value is of its kind: its type, and for choices that it is one of them.

use serde_json::{Map, Value};

use super::invalid::InvalidSettings;
use crate::schema::field::{Field, Kind, Table};

/// The first thing in `value` that is not of the kind of `field`; `None` when all is. Bounds of numbers and the form of
/// texts are for whoever takes new values.
pub(in crate::schema) fn misfit(field: &Field, value: &Value) -> Option<InvalidSettings> {
    misfit_of_kind(&field.kind, value).map(|error| error.of_field(field, value))
}

fn misfit_of_kind(kind: &Kind, value: &Value) -> Option<InvalidSettings> {
    let fits = match (kind, value) {
        (Kind::Any, _)
        | (Kind::Flag, Value::Bool(_))
        | (Kind::Number { .. }, Value::Number(_))
        | (Kind::Text { .. }, Value::String(_)) => true,
        (Kind::Int { .. }, Value::Number(number)) => number.is_i64(),
        (Kind::IntOf(choices), Value::Number(number)) => {
            number.as_i64().is_some_and(|number| choices.contains(&number))
        }
        (Kind::TextOf(choices), Value::String(text)) => choices.contains(&text.as_str()),
        (Kind::List { of, .. }, Value::Array(items)) => return misfit_of_list(of, items),
        (Kind::Object(table), Value::Object(entries)) => return misfit_of_object(table, entries),
        _ => false,
    };
    (!fits).then(|| InvalidSettings::because(format!("it must be {}", kind.wanted())))
}

fn misfit_of_list(of: &Kind, items: &[Value]) -> Option<InvalidSettings> {
    items.iter().enumerate().find_map(|(index, item)| {
        let error = misfit_of_kind(of, item)?;
        Some(error.of_value(item).inside(&format!("[{index}]")))
    })
}

fn misfit_of_object(table: &'static Table, entries: &Map<String, Value>) -> Option<InvalidSettings> {
    entries
        .iter()
        .filter(|(_, value)| !value.is_null())
        .find_map(|(name, value)| misfit(table.field(name)?, value))
}
