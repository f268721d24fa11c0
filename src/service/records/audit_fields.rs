//! The fields of a record change for the audit trail.

use serde_json::{Map, Value, json};

use crate::catalog::masked_recipient_fields;
use crate::schema::table::FieldTable;
use crate::schema::table::alerting::RECIPIENT;
use crate::service::monitors::abbreviate;
use crate::store::NewAuditEntry;
use crate::syntax::MASK;

/// Returns the fields that differ, before and after: only those of the table, secrets masked, long texts as their
/// length and hash.
pub(super) fn changed_fields(
    table: &FieldTable,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) -> (Map<String, Value>, Map<String, Value>) {
    // Every role that may view reads the audit trail.
    let masked_fields = |fields: &Map<String, Value>| {
        if table.name == RECIPIENT.name { masked_recipient_fields(fields) } else { fields.clone() }
    };
    let (old, new) = (&masked_fields(old), &masked_fields(new));
    let (mut before, mut after) = (Map::new(), Map::new());
    for field in table.fields() {
        let (old_value, new_value) = (old.get(field.name), new.get(field.name));
        if old_value == new_value {
            continue;
        }
        let for_audit = |value: &Value| if field.secret { json!(MASK) } else { abbreviate(value.clone()) };
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

/// Adds the secret fields that changed: those that the record shows masked, as it shows them; of the others only that
/// they are new.
pub(super) fn add_changed_secrets(
    entry: &mut NewAuditEntry,
    names: &[&'static str],
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) {
    let (old, new) = (masked_recipient_fields(old), masked_recipient_fields(new));
    for name in names {
        if let Some(shown) = old.get(*name) {
            entry.before.insert((*name).to_owned(), shown.clone());
        }
        entry.after.insert((*name).to_owned(), new.get(*name).cloned().unwrap_or_else(|| json!(MASK)));
    }
}
