//! The secrets among the values of fields: masked, left out, taken apart and put together.

use serde_json::{Map, Value};

use super::field::{Field, Kind};
use super::table::parts;
use super::url_login;
use crate::syntax::MASK;

/// What happens to secrets in what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// They show as `********`: for everything that leaves the process.
    Masked,
    /// They are left out: for the store, where they stay with their source.
    Omitted,
    /// They stand there: for sealing, and for the probe.
    Revealed,
}

/// `value` with its secrets treated as `secrets` says; `None` when nothing of it is left.
pub(in crate::schema) fn covered(field: &Field, value: Value, secrets: Secrets) -> Option<Value> {
    if secrets == Secrets::Revealed {
        return Some(value);
    }
    if field.is_script() && secrets == Secrets::Masked {
        let shown = value.as_str().map(crate::script::mask);
        return Some(shown.map_or(Value::Null, |shown| Value::from(shown.as_ref())));
    }
    if let Some(shown) = without_login(field, &value) {
        return Some(Value::from(shown));
    }
    if field.hides(&value) {
        return masked(value, secrets);
    }
    Some(covered_inside(&field.kind, value, secrets))
}

/// What stands for a secret.
fn masked(value: Value, secrets: Secrets) -> Option<Value> {
    let set = value.as_str().is_none_or(|text| !text.is_empty());
    match secrets {
        Secrets::Masked if set => Some(Value::from(MASK)),
        Secrets::Revealed | Secrets::Masked => Some(value),
        Secrets::Omitted => None,
    }
}

fn covered_inside(kind: &Kind, value: Value, secrets: Secrets) -> Value {
    match (kind, value) {
        (Kind::List { of, .. }, Value::Array(items)) if matches!(of, Kind::Object(_)) => {
            items.into_iter().map(|item| covered_inside(of, item, secrets)).collect()
        }
        (Kind::Object(table), Value::Object(entries)) => {
            let lets_in = parts::lets_in(table, &entries);
            entries
                .into_iter()
                .filter_map(|(name, value)| match table.field(&name) {
                    Some(_) if lets_in && name == "value" => {
                        masked(value, secrets).map(|value| (name, value))
                    }
                    Some(field) => covered(field, value, secrets).map(|value| (name, value)),
                    None => Some((name, value)),
                })
                .collect()
        }
        (_, value) => value,
    }
}

/// What [`Secrets::Omitted`] leaves out of `value`.
pub(super) fn hidden(field: &Field, value: &Value) -> Option<Value> {
    let whole = field.secret || without_login(field, value).is_some();
    if whole { Some(value.clone()) } else { hidden_inside(&field.kind, value) }
}

/// A URL with a mask in the place of its login; `None` for what has none. The mask goes into the store as
/// well, and the whole URL among the secrets.
fn without_login(field: &Field, value: &Value) -> Option<String> {
    value.as_str().filter(|_| field.is_url()).and_then(url_login::masked)
}

fn hidden_inside(kind: &Kind, value: &Value) -> Option<Value> {
    match (kind, value) {
        (Kind::List { of, .. }, Value::Array(items)) if matches!(of, Kind::Object(_)) => {
            let items: Vec<_> = items.iter().map(|item| hidden_inside(of, item)).collect();
            let any = items.iter().any(Option::is_some);
            any.then(|| items.into_iter().map(Option::unwrap_or_default).collect())
        }
        (Kind::Object(table), Value::Object(entries)) => {
            let lets_in = parts::lets_in(table, entries);
            let secret = |name: &str, value: &Value| match table.field(name)? {
                _ if lets_in && name == "value" => Some(value.clone()),
                field => hidden(field, value),
            };
            let hidden: Map<String, Value> = entries
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), secret(name, value)?)))
                .collect();
            (!hidden.is_empty()).then_some(Value::Object(hidden))
        }
        _ => None,
    }
}

/// Puts `secrets` into their places in `value`.
pub(super) fn join(value: &mut Value, secrets: Value) {
    match (value, secrets) {
        (Value::Object(entries), Value::Object(secrets)) => {
            for (name, secret) in secrets {
                match entries.get_mut(&name) {
                    Some(entry) => join(entry, secret),
                    None => drop(entries.insert(name, secret)),
                }
            }
        }
        (Value::Array(items), Value::Array(secrets)) => {
            for (item, secret) in items.iter_mut().zip(secrets).filter(|(_, secret)| !secret.is_null()) {
                join(item, secret);
            }
        }
        (value, secret) => *value = secret,
    }
}
