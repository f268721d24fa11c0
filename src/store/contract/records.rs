//! Records of accounts, and which are wanted.

use serde_json::{Map, Value};

use crate::domain::{CustomerId, RecordKind, Timestamp};

/// A record that has no id yet; as [`Record`], whose revision begins with 1.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRecord {
    /// What it is.
    pub kind: RecordKind,
    /// Whose it is; `None` for a customer, which belongs to itself.
    pub customer: Option<CustomerId>,
    /// What it is attached to.
    pub assoc: Option<i64>,
    /// What no other record of its kind may have.
    pub unique: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Login of who made it.
    pub created_by: String,
    /// Its fields.
    pub fields: Map<String, Value>,
    /// What is never shown.
    pub private: Option<Vec<u8>>,
}

/// Which records are wanted; every part that is set narrows. By id.
#[derive(Clone, Debug)]
pub struct RecordFilter {
    /// What they are.
    pub kind: RecordKind,
    /// Of this account; for all accounts when absent.
    pub customer: Option<CustomerId>,
    /// Attached to one of these; empty for any or none.
    pub assoc: Vec<i64>,
    /// Made at or after.
    pub from: Option<Timestamp>,
    /// Made before.
    pub thru: Option<Timestamp>,
    /// Fields with these values, such as `("event", "deploy")`.
    pub fields: Vec<(&'static str, Value)>,
}

impl RecordFilter {
    /// All records of `kind`.
    #[must_use]
    pub fn of(kind: RecordKind) -> Self {
        Self { kind, customer: None, assoc: Vec::new(), from: None, thru: None, fields: Vec::new() }
    }

    /// Those of `customer` alone.
    #[must_use]
    pub fn within(mut self, customer: CustomerId) -> Self {
        self.customer = Some(customer);
        self
    }
}
