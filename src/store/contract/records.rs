//! Records of accounts, and which are wanted.

use serde_json::{Map, Value};

use crate::domain::{CustomerId, RecordKind, Timestamp};

/// A record that has no id yet; as [`Record`](crate::domain::Record), whose revision begins with 1.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Whose it is; `None` for a customer, which belongs to itself.
    pub customer: Option<CustomerId>,
    /// What it is attached to.
    pub parent_id: Option<i64>,
    /// What no other record of its kind may have.
    pub unique_key: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Login of who made it.
    pub created_by: String,
    /// Its fields.
    pub fields: Map<String, Value>,
    /// What is never shown.
    pub sealed: Option<Vec<u8>>,
}
