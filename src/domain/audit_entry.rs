//! Entries of the audit trail, as they were kept.

use serde_json::{Map, Value};

use super::time::Timestamp;

/// One entry of the audit trail, as it was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// Its number; later entries have higher ones.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Login of who did it.
    pub login: String,
    /// From where.
    pub address: String,
    /// The door.
    pub via: String,
    /// What was done.
    pub action: String,
    /// What it was done to.
    pub object: String,
    /// Which one.
    pub object_id: Option<i64>,
    /// Its name then.
    pub object_name: String,
    /// The fields that changed, as they were.
    pub before: Map<String, Value>,
    /// The same as they became.
    pub after: Map<String, Value>,
}
