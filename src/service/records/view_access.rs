//! Who may see a saved view: one that is not shared exists for its owner alone.

use serde_json::{Map, Value};

use crate::domain::ConfigRecord;
use crate::service::caller::Caller;

/// Stored field with the id of the user who made it, who keeps it under a new login; not in responses.
pub(super) const OWNER_FIELD: &str = "owner";

/// Whether everybody of the account sees the view with these fields.
pub(super) fn is_shared(fields: &Map<String, Value>) -> bool {
    fields.get("shared").and_then(Value::as_bool).unwrap_or_default()
}

/// Whether `caller` made the view.
pub(in crate::service) fn is_owner(record: &ConfigRecord, caller: &Caller) -> bool {
    record.fields.get(OWNER_FIELD).and_then(Value::as_i64) == Some(caller.user_id.0)
}

/// Whether `caller` may see the view: one of the account that is shared, or an own one.
pub(in crate::service) fn is_visible(record: &ConfigRecord, caller: &Caller) -> bool {
    record.customer == caller.customer && (is_shared(&record.fields) || is_owner(record, caller))
}
