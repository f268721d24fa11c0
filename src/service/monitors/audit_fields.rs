//! The fields of a change for the audit trail: those that differ, without secrets, long texts as their length and
//! hash.

use serde_json::{Map, Value};

use crate::domain::to_hex;
use crate::schema::{Monitor, MonitorDocument, SecretMode};

/// Longest text in characters that the audit trail contains in full; longer ones become their length and SHA-256.
const MAX_FULL_TEXT_CHARS: usize = 2000;

/// Returns the fields of a new monitor.
pub(in crate::service) fn created_fields(document: &MonitorDocument) -> Map<String, Value> {
    document
        .to_non_default_fields(SecretMode::Masked)
        .into_iter()
        .map(|(name, value)| (name, abbreviate(value)))
        .collect()
}

/// Returns the fields of a removed monitor.
pub(in crate::service) fn removed_fields(document: &MonitorDocument) -> Map<String, Value> {
    created_fields(document)
}

/// Returns the fields that differ between two revisions, before and after, including the end of a pause.
pub(super) fn changed_fields(old: &Monitor, new: &Monitor) -> (Map<String, Value>, Map<String, Value>) {
    let (mut before, mut after) = changed_document_fields(&old.document, &new.document);
    if old.metadata.paused_until != new.metadata.paused_until {
        let pause_end =
            |monitor: &Monitor| monitor.metadata.paused_until.map_or(Value::Null, |at| at.to_string().into());
        before.insert("paused_until".to_owned(), pause_end(old));
        after.insert("paused_until".to_owned(), pause_end(new));
    }
    (before, after)
}

/// Returns the fields that differ between two documents. A field without a value is null.
pub(in crate::service) fn changed_document_fields(
    old: &MonitorDocument,
    new: &MonitorDocument,
) -> (Map<String, Value>, Map<String, Value>) {
    let (revealed_old, revealed_new) =
        (old.to_non_default_fields(SecretMode::Revealed), new.to_non_default_fields(SecretMode::Revealed));
    let (masked_old, masked_new) = (old.to_json(SecretMode::Masked), new.to_json(SecretMode::Masked));
    let (mut before, mut after) = (Map::new(), Map::new());
    let names =
        revealed_old.keys().chain(revealed_new.keys().filter(|name| !revealed_old.contains_key(*name)));
    for name in names.filter(|name| revealed_old.get(*name) != revealed_new.get(*name)) {
        let abbreviated =
            |masked: &Map<String, Value>| masked.get(name).cloned().map_or(Value::Null, abbreviate);
        before.insert(name.clone(), abbreviated(&masked_old));
        after.insert(name.clone(), abbreviated(&masked_new));
    }
    (before, after)
}

/// Replaces a long `value` by its length and hash.
pub(in crate::service) fn abbreviate(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        _ => return value,
    };
    let characters = text.chars().count();
    if characters <= MAX_FULL_TEXT_CHARS {
        return value;
    }
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
    Value::from(format!("{characters} characters, SHA-256 {}", to_hex(hash.as_ref())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::MonitorType;

    fn website(values: Value) -> MonitorDocument {
        let Value::Object(values) = values else { unreachable!() };
        MonitorDocument::new(MonitorType::Website, values).unwrap()
    }

    #[test]
    fn only_differences_are_listed_with_secrets_masked() {
        let old = website(json!({"name": "a", "url": "http://a/", "realm_password": "one", "note": "x"}));
        let new = website(json!({"name": "a", "url": "http://b/", "realm_password": "two", "timeout": 5}));
        let (before, after) = changed_document_fields(&old, &new);
        let want = json!({"url": "http://a/", "realm_password": "********", "note": "x", "timeout": 30});
        assert_eq!(Value::Object(before), want);
        let want = json!({"url": "http://b/", "realm_password": "********", "note": null, "timeout": 5});
        assert_eq!(Value::Object(after), want);
    }

    #[test]
    fn a_long_text_becomes_its_length_and_hash() {
        let (short, long) = ("é".repeat(MAX_FULL_TEXT_CHARS), "é".repeat(MAX_FULL_TEXT_CHARS + 1));
        assert_eq!(abbreviate(Value::from(short.clone())), Value::from(short));
        let abbreviated = abbreviate(Value::from(long));
        assert!(abbreviated.as_str().unwrap().starts_with("2001 characters, SHA-256 "), "{abbreviated}");
    }
}
