//! Entries of the audit trail, as stored.

use serde_json::{Map, Value};

use super::time::Timestamp;

/// One entry of the audit trail, as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// Id; later entries have higher ones.
    pub id: i64,
    /// When the change was made.
    pub occurred_at: Timestamp,
    /// Login of the user who made the change.
    pub login: String,
    /// Address that the change came from.
    pub address: String,
    /// Interface that the change came through.
    pub entry_point: String,
    /// The action: `create`, `change`, `delete`, …
    pub action: String,
    /// Kind of the object that was changed.
    pub object_kind: String,
    /// Id of the object.
    pub object_id: Option<i64>,
    /// Name of the object at that time.
    pub object_name: String,
    /// Fields that changed, with their old values.
    pub before: Map<String, Value>,
    /// The same fields with their new values.
    pub after: Map<String, Value>,
}
