//! Secrets among the values of fields: masked, omitted, extracted and inserted.

use serde_json::{Map, Value};

use super::field::{Field, FieldType};
use super::table::sub_objects;
use super::url_credentials;
use crate::syntax::MASK;

/// How secrets appear in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretMode {
    /// As `********`: for everything that leaves the process.
    Masked,
    /// Omitted: for the store, which keeps them separately.
    Omitted,
    /// In clear: for sealing, and for the probe.
    Revealed,
}

/// Applies `mode` to the secrets in `value`; `None` when the value is omitted as a whole.
pub(in crate::schema) fn apply_secret_mode(field: &Field, value: Value, mode: SecretMode) -> Option<Value> {
    if mode == SecretMode::Revealed {
        return Some(value);
    }
    if let Some(embedded) = field.embedded_secrets().filter(|_| mode == SecretMode::Masked) {
        let masked = value.as_str().map(|text| embedded.mask(text));
        return Some(masked.map_or(Value::Null, |masked| Value::from(masked.as_ref())));
    }
    if let Some(masked) = mask_url_credentials(field, &value) {
        return Some(Value::from(masked));
    }
    if field.is_secret_value(&value) {
        return replace_secret(value, mode);
    }
    Some(apply_secret_mode_nested(&field.field_type, value, mode))
}

/// Returns what replaces a secret in this mode; `None` when it is omitted.
fn replace_secret(value: Value, mode: SecretMode) -> Option<Value> {
    let is_set = value.as_str().is_none_or(|text| !text.is_empty());
    match mode {
        SecretMode::Masked if is_set => Some(Value::from(MASK)),
        SecretMode::Revealed | SecretMode::Masked => Some(value),
        SecretMode::Omitted => None,
    }
}

/// Applies `mode` to the secrets inside a list or object; returns other values unchanged.
fn apply_secret_mode_nested(field_type: &FieldType, value: Value, mode: SecretMode) -> Value {
    match (field_type, value) {
        (FieldType::List { item_type, .. }, Value::Array(items))
            if matches!(item_type, FieldType::Object(_)) =>
        {
            items.into_iter().map(|item| apply_secret_mode_nested(item_type, item, mode)).collect()
        }
        (FieldType::Object(table), Value::Object(entries)) => {
            let is_secret_header = sub_objects::is_secret_header(table, &entries);
            entries
                .into_iter()
                .filter_map(|(name, value)| match table.field(&name) {
                    Some(_) if is_secret_header && name == "value" => {
                        replace_secret(value, mode).map(|value| (name, value))
                    }
                    Some(field) => apply_secret_mode(field, value, mode).map(|value| (name, value)),
                    None => Some((name, value)),
                })
                .collect()
        }
        (_, value) => value,
    }
}

/// Returns the secrets in `value`: exactly what [`SecretMode::Omitted`] leaves out.
pub(super) fn extract_secrets(field: &Field, value: &Value) -> Option<Value> {
    let is_secret_as_a_whole = field.is_secret_value(value) || mask_url_credentials(field, value).is_some();
    if is_secret_as_a_whole { Some(value.clone()) } else { extract_nested_secrets(&field.field_type, value) }
}

/// Returns a URL with its credentials masked; `None` if it has none. The store keeps the masked URL, and the whole URL
/// among the secrets.
fn mask_url_credentials(field: &Field, value: &Value) -> Option<String> {
    value.as_str().filter(|_| field.is_url()).and_then(url_credentials::mask)
}

/// Returns the secrets inside a list or object, at their positions; `None` without any.
fn extract_nested_secrets(field_type: &FieldType, value: &Value) -> Option<Value> {
    match (field_type, value) {
        (FieldType::List { item_type, .. }, Value::Array(items))
            if matches!(item_type, FieldType::Object(_)) =>
        {
            let items: Vec<_> = items.iter().map(|item| extract_nested_secrets(item_type, item)).collect();
            let has_any_secret = items.iter().any(Option::is_some);
            has_any_secret.then(|| items.into_iter().map(Option::unwrap_or_default).collect())
        }
        (FieldType::Object(table), Value::Object(entries)) => {
            let is_secret_header = sub_objects::is_secret_header(table, entries);
            let secret = |name: &str, value: &Value| match table.field(name)? {
                _ if is_secret_header && name == "value" => Some(value.clone()),
                field => extract_secrets(field, value),
            };
            let secrets: Map<String, Value> = entries
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), secret(name, value)?)))
                .collect();
            (!secrets.is_empty()).then_some(Value::Object(secrets))
        }
        _ => None,
    }
}

/// Inserts `secrets` at their positions in `value`.
pub(super) fn insert_secrets(value: &mut Value, secrets: Value) {
    match (value, secrets) {
        (Value::Object(entries), Value::Object(secrets)) => {
            for (name, secret) in secrets {
                match entries.get_mut(&name) {
                    Some(entry) => insert_secrets(entry, secret),
                    None => drop(entries.insert(name, secret)),
                }
            }
        }
        (Value::Array(items), Value::Array(secrets)) => {
            for (item, secret) in items.iter_mut().zip(secrets).filter(|(_, secret)| !secret.is_null()) {
                insert_secrets(item, secret);
            }
        }
        (value, secret) => *value = secret,
    }
}
