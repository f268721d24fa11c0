//! The audit trail.

use serde_json::{Map, Value};

use crate::domain::{CustomerId, Timestamp};

/// The object of an audit entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditObject {
    /// The object with this id.
    Id(i64),
    /// The object created by the creating write with this index, from 0, of the same call: the id at this index of the
    /// result of [`ConfigStore::write_changes`](super::ConfigStore::write_changes). Other writes do not count.
    CreatedInThisCall(usize),
    /// No object, for example for a login.
    None,
}

/// A new entry of the audit trail.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAuditEntry {
    /// The account.
    pub customer: CustomerId,
    /// When it happened.
    pub occurred_at: Timestamp,
    /// Login of the caller.
    pub login: String,
    /// Network address of the caller; empty for the host itself.
    pub address: String,
    /// The entry point: `v3`, `legacy`, `apply`, `cli`, `file`, `server`.
    pub entry_point: &'static str,
    /// The action: `create`, `change`, `delete`, `login`, …
    pub action: &'static str,
    /// Kind of object: `monitor` or the name of a [`ConfigRecordKind`](crate::domain::ConfigRecordKind).
    pub object_kind: &'static str,
    /// The object.
    pub object_id: AuditObject,
    /// Name of the object, for people.
    pub object_name: String,
    /// Previous values of the changed fields; without secrets.
    pub before: Map<String, Value>,
    /// New values of the same fields.
    pub after: Map<String, Value>,
}

/// Returns the entries of one call by index, from 0, until `None`. Entries are built as they are written, so that those
/// of 100,000 monitors are never in memory at the same time.
pub type AuditEntryByIndex = Box<dyn Fn(usize) -> Option<NewAuditEntry> + Send>;
