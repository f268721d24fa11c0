//! What an account has beside monitors: users, blackouts, properties and the like, all kept as records.

use std::fmt;

use serde_json::{Map, Value};

use super::id::{CustomerId, Revision};
use super::time::Timestamp;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordKind {
    /// An account; `customer` of its record is its own id.
    Customer,
    /// Who logs in; its private part is the hash of the password.
    User,
    /// A monitoring location; its private part is the hash of the enrolment secret.
    Location,
    /// A custom property with its values.
    Property,
    /// A client certificate or authority; its private part is the sealed key.
    Certificate,
    /// A blackout (interface.md 2.4); `assoc` is its monitor or recipient.
    Blackout,
    /// An event (interface.md 2.6).
    Event,
    /// A test on demand; `assoc` is its monitor.
    Test,
    /// Who is told; its private part is the sealed password.
    Recipient,
    /// Who is told of what.
    NotifierGroup,
    /// A template of messages.
    Template,
    /// A service level agreement; `assoc` is its monitor, which has one at most.
    Sla,
    /// A performance alert; `assoc` is its monitor.
    PerformanceAlert,
}

impl RecordKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Customer,
        Self::User,
        Self::Location,
        Self::Property,
        Self::Certificate,
        Self::Blackout,
        Self::Event,
        Self::Test,
        Self::Recipient,
        Self::NotifierGroup,
        Self::Template,
        Self::Sla,
        Self::PerformanceAlert,
    ];

    /// The stable word, used by the store, the audit trail and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Customer => "customer",
            Self::User => "user",
            Self::Location => "location",
            Self::Property => "property",
            Self::Certificate => "certificate",
            Self::Blackout => "blackout",
            Self::Event => "event",
            Self::Test => "test",
            Self::Recipient => "recipient",
            Self::NotifierGroup => "notifier_group",
            Self::Template => "template",
            Self::Sla => "sla",
            Self::PerformanceAlert => "performance_alert",
        }
    }

    /// The kind with this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One record. Its fields are those of the field table of its kind, in version 3 form.
#[derive(Clone, PartialEq)]
pub struct Record {
    /// Its number, unique over all kinds.
    pub id: i64,
    /// What it is.
    pub kind: RecordKind,
    /// The account that it belongs to.
    pub customer: CustomerId,
    /// The monitor, recipient or the like that it is attached to.
    pub parent_id: Option<i64>,
    /// What no other record of its kind may have, over all accounts: such as the login of a user, or
    /// `7:colour` for the property `colour` of account 7.
    pub unique_key: Option<String>,
    /// Counts its versions, from 1.
    pub revision: Revision,
    /// When it was made.
    pub created_at: Timestamp,
    /// Login of who made it.
    pub created_by: String,
    /// When this version was made.
    pub modified_at: Timestamp,
    /// Its fields, without secrets.
    pub fields: Map<String, Value>,
    /// What is never shown: sealed secrets, the hash of a password.
    pub private_data: Option<Vec<u8>>,
}

/// Shows no private part.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("customer", &self.customer)
            .field("revision", &self.revision)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}
