//! The fields of a record change for the audit trail.

use serde_json::{Map, Value, json};

use super::recipient;
use crate::schema::table::FieldTable;
use crate::schema::table::alerting::RECIPIENT;
use crate::service::monitors::abbreviate;
use crate::syntax::MASK;

/// Returns the fields that differ, before and after: only those of the table, secrets masked, long texts as their
/// length and hash.
pub(super) fn changed_fields(
    table: &FieldTable,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> (Map<String, Value>, Map<String, Value>) {
    let (mut before, mut after) = (Map::new(), Map::new());
    for field in table.fields() {
        let (old_value, new_value) = (old.get(field.name), new.get(field.name));
        if old_value == new_value {
            continue;
        }
        // Every role that may view reads the audit trail, but only editors may see webhook addresses in full.
        let is_recipient_address = table.name == RECIPIENT.name && field.name == "recipient";
        let masked_address = |value: &Value| {
            value.as_str().filter(|_| is_recipient_address).and_then(recipient::masked_webhook_url)
        };
        let for_audit = |value: &Value| match masked_address(value) {
            Some(masked_address) => json!(masked_address),
            None if field.secret => json!(MASK),
            None => abbreviate(value.clone()),
        };
        let name = || field.name.to_owned();
        if !old.is_empty() {
            before.insert(name(), old_value.map_or(Value::Null, for_audit));
        }
        if !new.is_empty() {
            after.insert(name(), new_value.map_or(Value::Null, for_audit));
        }
    }
    (before, after)
}
