//! The records of an account other than monitors: users, blackouts, properties and the like.

use std::fmt;

use serde_json::{Map, Value};

use super::id::{CustomerId, Revision};
use super::time::Timestamp;

/// The kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConfigRecordKind {
    /// An account; `customer` of its record is its own id.
    Customer,
    /// A user who logs in; its private data is the hash of the password.
    User,
    /// A monitoring location; its private data is the hashes of its enrolment secrets.
    Location,
    /// A custom property with its values.
    Property,
    /// A client certificate or authority; its private data is the sealed key.
    Certificate,
    /// A blackout (interface.md 2.4); its parent is a monitor or recipient.
    Blackout,
    /// An event (interface.md 2.6).
    Event,
    /// A test on demand; its parent is the monitor.
    Test,
    /// A recipient of notifications; its private data is the sealed password.
    Recipient,
    /// A group that routes alerts to recipients.
    NotifierGroup,
    /// A template of messages.
    Template,
    /// A service level agreement; its parent is the monitor, which has one at most.
    Sla,
    /// A performance alert; its parent is the monitor.
    PerformanceAlert,
    /// An agent on another host; its parent is the location.
    Agent,
    /// A data key of a location, its parent; its private data is the sealed key.
    LocationKey,
    /// A link that opens the page of a result without a login; its parent is the monitor, its unique key the hash of the
    /// token in the link.
    Share,
    /// A saved view of the list of monitors; its unique key is account and name.
    View,
    /// A host that reports metrics; its unique key is account and name, its private data the hash of its token.
    Host,
}

impl ConfigRecordKind {
    /// Every kind.
    pub const ALL: [Self; 18] = [
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
        Self::Agent,
        Self::LocationKey,
        Self::Share,
        Self::View,
        Self::Host,
    ];

    /// Returns the stable name, used by the store, the audit trail and messages.
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
            Self::Agent => "agent",
            Self::LocationKey => "location_key",
            Self::Share => "share",
            Self::View => "view",
            Self::Host => "host",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ConfigRecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One record. Its fields are those of the field table of its kind, in version 3 form.
#[derive(Clone, PartialEq)]
pub struct ConfigRecord {
    /// Id, unique over all kinds.
    pub id: i64,
    /// Kind of the record.
    pub kind: ConfigRecordKind,
    /// The account that it belongs to.
    pub customer: CustomerId,
    /// Id of the monitor, recipient or other object that it is attached to.
    pub parent_id: Option<i64>,
    /// A value that is unique among the records of its kind, over all accounts: such as the login of a user, or
    /// `7:colour` for the property `colour` of account 7.
    pub unique_key: Option<String>,
    /// Counts its versions, from 1.
    pub revision: Revision,
    /// When it was created.
    pub created_at: Timestamp,
    /// Login of the user who created it.
    pub created_by: String,
    /// When this version was created.
    pub modified_at: Timestamp,
    /// Its fields, without secrets.
    pub fields: Map<String, Value>,
    /// Data that is never shown: sealed secrets, the hash of a password.
    pub private_data: Option<Vec<u8>>,
}

/// Leaves the private data out.
impl fmt::Debug for ConfigRecord {
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
