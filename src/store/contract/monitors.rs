//! Monitors as they are kept.

use crate::domain::{CustomerId, MonitorId, Revision, Timestamp};
use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin};

use super::audit::AuditEntries;
use super::future::StoreFuture;

/// A monitor as it is kept: its document without secrets, and those sealed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMonitor {
    /// Its document holds no secrets.
    pub monitor: Monitor,
    /// Its secrets, sealed; `None` when it has none, or they stay with its file.
    pub sealed: Option<Vec<u8>>,
}

/// A monitor that has no id yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMonitor {
    /// Whose it is.
    pub customer: CustomerId,
    /// [`Origin::Api`] or [`Origin::Applied`].
    pub origin: Origin,
    /// When it was accepted.
    pub modified_at: Timestamp,
    /// Who made it.
    pub authorship: MonitorMetadata,
    /// Its fields; secrets in it are left out by the store.
    pub document: std::sync::Arc<MonitorDocument>,
    /// Its secrets, sealed.
    pub sealed: Option<Vec<u8>>,
}

/// Keeps monitors.
pub trait MonitorStore: Send + Sync + 'static {
    /// All that were not removed. Documents hold no secrets: those stay with their source.
    fn monitors(&self) -> StoreFuture<'_, Vec<Monitor>>;

    /// The ids that belong to the keys of `customer`'s monitor files, given to new ones in order; a key
    /// that comes back gets its old id.
    fn ids_for_file_keys(&self, customer: CustomerId, keys: Vec<String>) -> StoreFuture<'_, Vec<MonitorId>>;

    /// The newest revision of each of `ids`, of removed monitors as well; 0 for one that had none.
    fn last_revisions(&self, ids: Vec<MonitorId>) -> StoreFuture<'_, Vec<Revision>>;

    /// Stores new versions and removes monitors, with the entries of the audit trail about them: all or nothing.
    fn apply_monitors(
        &self,
        upserts: Vec<Monitor>,
        removed: Vec<MonitorId>,
        entries: AuditEntries,
    ) -> StoreFuture<'_, ()>;
}
