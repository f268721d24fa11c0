//! New records of accounts.

use serde_json::{Map, Value};

use crate::domain::{ConfigRecordKind, CustomerId, Timestamp};

/// A record without an id; like [`ConfigRecord`](crate::domain::ConfigRecord), with revision 1.
#[derive(Clone, Debug, PartialEq)]
pub struct NewConfigRecord {
    /// Kind of record.
    pub kind: ConfigRecordKind,
    /// The account; `None` for a customer, which belongs to itself.
    pub customer: Option<CustomerId>,
    /// Id of the object that it is attached to.
    pub parent_id: Option<i64>,
    /// A key that is unique among records of its kind.
    pub unique_key: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Login of its creator.
    pub created_by: String,
    /// Its fields.
    pub fields: Map<String, Value>,
    /// Private data, which is never shown.
    pub private_data: Option<Vec<u8>>,
}

impl NewConfigRecord {
    /// Creates an event that Vigie itself reports in the account of `customer`, with these fields.
    #[must_use]
    pub fn own_event(customer: CustomerId, created_at: Timestamp, fields: Map<String, Value>) -> Self {
        Self {
            kind: ConfigRecordKind::Event,
            customer: Some(customer),
            parent_id: None,
            unique_key: None,
            created_at,
            created_by: "vigie".to_owned(),
            fields,
            private_data: None,
        }
    }
}
