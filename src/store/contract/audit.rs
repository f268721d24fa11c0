//! The audit trail.

use serde_json::{Map, Value};

use crate::domain::{CustomerId, Timestamp};

/// What an audit entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditObject {
    /// Its number.
    Id(i64),
    /// What the creating write of this number, from 0, of the same call made: the id at this place of what
    /// [`Ledger::write`](super::ConfigStore::write_changes) answers. Writes that create nothing do not count.
    Created(usize),
    /// None, as for a login.
    None,
}

/// One entry of the audit trail, to be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAuditEntry {
    /// Whose trail.
    pub customer: CustomerId,
    /// When.
    pub at: Timestamp,
    /// Login of who did it.
    pub login: String,
    /// From where; empty when it was done on the host itself.
    pub address: String,
    /// The door: `v3`, `legacy`, `apply`, `cli`, `file`, `server`.
    pub entry_point: &'static str,
    /// A word: `create`, `change`, `delete`, `login`, …
    pub action: &'static str,
    /// What it was done to: `monitor` or the name of a [`RecordKind`](crate::domain::RecordKind).
    pub object: &'static str,
    /// Which one.
    pub object_id: AuditObject,
    /// Its name, for people.
    pub object_name: String,
    /// The fields that changed, as they were; without secrets.
    pub before: Map<String, Value>,
    /// The same as they are now.
    pub after: Map<String, Value>,
}

/// The entries of one call by number, from 0; `None` ends. They are made one by one as they are written, so that
/// those of 100,000 monitors are never in memory together.
pub type AuditEntries = Box<dyn Fn(usize) -> Option<NewAuditEntry> + Send>;
