//! Filters for results, records, episodes, notifications and audit entries.

use serde_json::Value;

use super::config_record::ConfigRecordKind;
use super::id::{CustomerId, EpisodeId, LocationId, MonitorId, RecipientId};
use super::notification::NotificationState;
use super::status::Outcome;
use super::time::Timestamp;

/// Selects results; every field that is set narrows the selection. Newest first.
#[derive(Clone, Debug, Default)]
pub struct ResultFilter {
    /// Only these monitors; empty for all.
    pub monitors: Vec<MonitorId>,
    /// Only this location.
    pub location: Option<LocationId>,
    /// Planned at or after.
    pub from: Option<Timestamp>,
    /// Planned before.
    pub until: Option<Timestamp>,
    /// Only these outcomes; empty for all.
    pub outcomes: Vec<Outcome>,
    /// Only monitors of this account, removed ones included; `None` for all accounts.
    pub customer: Option<CustomerId>,
}

/// Selects episodes (outages); every field that is set narrows the selection. Newest first.
#[derive(Clone, Debug, Default)]
pub struct EpisodeFilter {
    /// Only this account.
    pub customer: Option<CustomerId>,
    /// Only this monitor.
    pub monitor: Option<MonitorId>,
    /// `true` for open ones only, `false` for ended ones only; `None` for both.
    pub is_open: Option<bool>,
    /// Still open at or after this time.
    pub from: Option<Timestamp>,
    /// Started before this time.
    pub until: Option<Timestamp>,
}

/// Selects notifications; every field that is set narrows the selection. Newest first.
#[derive(Clone, Debug, Default)]
pub struct NotificationFilter {
    /// Only this account.
    pub customer: Option<CustomerId>,
    /// Only this state.
    pub state: Option<NotificationState>,
    /// Only about this monitor.
    pub monitor: Option<MonitorId>,
    /// Only about this outage.
    pub episode: Option<EpisodeId>,
    /// Only to this recipient.
    pub recipient: Option<RecipientId>,
    /// Only the notification with this id.
    pub id: Option<i64>,
}

/// Selects entries of the audit trail; every field that is set narrows the selection. Newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only this account.
    pub customer: Option<CustomerId>,
    /// Only changes by this login.
    pub login: Option<String>,
    /// Only this kind of object.
    pub object_kind: Option<String>,
    /// Only the object with this id.
    pub object_id: Option<i64>,
    /// Made at or after.
    pub from: Option<Timestamp>,
    /// Made before.
    pub until: Option<Timestamp>,
}

/// Selects records; every field that is set narrows the selection. Ordered by id.
#[derive(Clone, Debug)]
pub struct ConfigRecordFilter {
    /// Kind of the records.
    pub kind: ConfigRecordKind,
    /// Only this account; `None` for all accounts.
    pub customer: Option<CustomerId>,
    /// Attached to one of these; empty for any or none.
    pub parent_ids: Vec<i64>,
    /// Created at or after.
    pub from: Option<Timestamp>,
    /// Created before.
    pub until: Option<Timestamp>,
    /// Fields that must have these values, such as `("event", "deploy")`.
    pub field_values: Vec<(&'static str, Value)>,
}

impl ConfigRecordFilter {
    /// Selects all records of `kind`.
    #[must_use]
    pub fn new(kind: ConfigRecordKind) -> Self {
        Self {
            kind,
            customer: None,
            parent_ids: Vec::new(),
            from: None,
            until: None,
            field_values: Vec::new(),
        }
    }

    /// Restricts the selection to `customer`.
    #[must_use]
    pub fn for_customer(mut self, customer: CustomerId) -> Self {
        self.customer = Some(customer);
        self
    }
}
