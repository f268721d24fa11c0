//! How monitors are stored.

use crate::domain::{CustomerId, MonitorId, Revision, Timestamp};
use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin};

use super::audit::AuditEntryByIndex;
use super::future::StoreFuture;

/// A stored monitor: its document without secrets, and its sealed secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMonitor {
    /// The monitor; its document has no secrets.
    pub monitor: Monitor,
    /// Its sealed secrets; `None` when it has none, or its file holds them.
    pub sealed_secrets: Option<Vec<u8>>,
}

/// A monitor without an id.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMonitor {
    /// The account.
    pub customer: CustomerId,
    /// [`Origin::Api`] or [`Origin::Applied`].
    pub origin: Origin,
    /// When it was accepted.
    pub modified_at: Timestamp,
    /// Its metadata, with its author.
    pub metadata: MonitorMetadata,
    /// Its fields; the store omits secrets.
    pub document: std::sync::Arc<MonitorDocument>,
    /// Its sealed secrets.
    pub sealed_secrets: Option<Vec<u8>>,
}

/// Stores the monitors of files and lists all monitors.
pub trait MonitorStore: Send + Sync + 'static {
    /// Returns all monitors that were not removed. Documents have no secrets, which stay with their source.
    fn monitors(&self) -> StoreFuture<'_, Vec<Monitor>>;

    /// Returns the ids of the keys of `customer`'s monitor files, assigned to new keys in order; a key that is used
    /// again gets its old id.
    fn ids_for_file_keys(&self, customer: CustomerId, keys: Vec<String>) -> StoreFuture<'_, Vec<MonitorId>>;

    /// Returns the newest revision of each of `ids`, also of removed monitors; 0 when there is none.
    fn last_revisions(&self, ids: Vec<MonitorId>) -> StoreFuture<'_, Vec<Revision>>;

    /// Stores new revisions and removes monitors, together with the audit entries: all or nothing.
    fn apply_monitors(
        &self,
        upserts: Vec<Monitor>,
        removed_ids: Vec<MonitorId>,
        audit_entries: AuditEntryByIndex,
    ) -> StoreFuture<'_, ()>;
}
