//! Which results, records, outages, messages and audit entries are wanted.

use serde_json::Value;

use super::id::{CustomerId, EpisodeId, LocationId, MonitorId, RecipientId};
use super::notification::NotificationState;
use super::record::RecordKind;
use super::status::Outcome;
use super::time::Timestamp;

/// Which results are wanted; every part that is set narrows. Newest first.
#[derive(Clone, Debug, Default)]
pub struct ResultFilter {
    /// Of these monitors; empty for all.
    pub monitors: Vec<MonitorId>,
    /// Of this location.
    pub location: Option<LocationId>,
    /// Planned at or after.
    pub from: Option<Timestamp>,
    /// Planned before.
    pub until: Option<Timestamp>,
    /// Of these outcomes; empty for all.
    pub outcomes: Vec<Outcome>,
    /// Of monitors of this account, removed ones too; of all accounts when absent.
    pub customer: Option<CustomerId>,
}

/// Which outages are wanted; every part that is set narrows. Newest first.
#[derive(Clone, Debug, Default)]
pub struct EpisodeFilter {
    /// Of this account.
    pub customer: Option<CustomerId>,
    /// Of this monitor.
    pub monitor: Option<MonitorId>,
    /// Only open ones, or only ended ones.
    pub open: Option<bool>,
    /// Open at or after.
    pub from: Option<Timestamp>,
    /// Begun before.
    pub until: Option<Timestamp>,
}

/// Which messages are wanted; every part that is set narrows. Newest first.
#[derive(Clone, Debug, Default)]
pub struct NotificationFilter {
    /// Of this account.
    pub customer: Option<CustomerId>,
    /// In this state.
    pub state: Option<NotificationState>,
    /// About this monitor.
    pub monitor: Option<MonitorId>,
    /// About this outage.
    pub episode: Option<EpisodeId>,
    /// To this recipient.
    pub recipient: Option<RecipientId>,
    /// This one.
    pub id: Option<i64>,
}

/// Which entries of the audit trail are wanted; newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Of this account.
    pub customer: Option<CustomerId>,
    /// By this login.
    pub login: Option<String>,
    /// About this kind of object.
    pub object: Option<String>,
    /// About this one.
    pub object_id: Option<i64>,
    /// At or after.
    pub from: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
}

/// Which records are wanted; every part that is set narrows. By id.
#[derive(Clone, Debug)]
pub struct RecordFilter {
    /// What they are.
    pub kind: RecordKind,
    /// Of this account; for all accounts when absent.
    pub customer: Option<CustomerId>,
    /// Attached to one of these; empty for any or none.
    pub parent_id: Vec<i64>,
    /// Made at or after.
    pub from: Option<Timestamp>,
    /// Made before.
    pub until: Option<Timestamp>,
    /// Fields with these values, such as `("event", "deploy")`.
    pub fields: Vec<(&'static str, Value)>,
}

impl RecordFilter {
    /// All records of `kind`.
    #[must_use]
    pub fn new(kind: RecordKind) -> Self {
        Self { kind, customer: None, parent_id: Vec::new(), from: None, until: None, fields: Vec::new() }
    }

    /// Those of `customer` alone.
    #[must_use]
    pub fn for_customer(mut self, customer: CustomerId) -> Self {
        self.customer = Some(customer);
        self
    }
}
