//! Storage of everything that people change, with the audit trail.

use crate::domain::{
    AuditEntry, AuditFilter, ConfigRecord, ConfigRecordFilter, ConfigRecordKind, CustomerId, EventSeries,
    EventSeriesQuery, MonitorId, Paginated, Pagination, Revision, UserId,
};

use super::audit::NewAuditEntry;
use super::future::StoreFuture;
use super::monitors::{NewMonitor, StoredMonitor};
use super::records::NewConfigRecord;

/// One change. Changes with an expected revision fail with [`StoreError::Stale`](crate::domain::StoreError::Stale) when
/// the newest revision is another one, or the object does not exist.
#[derive(Clone, Debug)]
pub enum ConfigChange {
    /// A new monitor; it gets revision 1.
    CreateMonitor(NewMonitor),
    /// A new revision of a monitor, with its new `revision`; `expected` is the previous one.
    UpdateMonitor {
        /// The new revision.
        monitor: Box<StoredMonitor>,
        /// The revision that its author saw.
        expected: Revision,
    },
    /// Removes a monitor, its states and the records attached to it; its results stay.
    RemoveMonitor {
        /// Id of the monitor.
        id: MonitorId,
        /// The revision that the caller saw.
        expected: Revision,
    },
    /// A new record.
    CreateRecord(NewConfigRecord),
    /// A new revision of a record, with its new `revision`.
    UpdateRecord {
        /// The new revision.
        record: Box<ConfigRecord>,
        /// The revision that its author saw.
        expected: Revision,
    },
    /// Removes a record, for a user also its tokens.
    RemoveRecord {
        /// Kind of the record.
        kind: ConfigRecordKind,
        /// Id of the record.
        id: i64,
        /// The revision that the caller saw.
        expected: Revision,
    },
    /// Revokes all tokens and sessions of a user, for example after a new password.
    RevokeTokens(UserId),
}

/// Stores what people change. Every call of [`ConfigStore::write_changes`] is one transaction, including its audit
/// entries.
pub trait ConfigStore: Send + Sync + 'static {
    /// Returns all monitors of all accounts that were not removed, ordered by id.
    fn stored_monitors(&self) -> StoreFuture<'_, Vec<StoredMonitor>>;

    /// Applies `changes` in order; returns the ids of the created objects, in that order.
    fn write_changes(
        &self,
        changes: Vec<ConfigChange>,
        audit_entries: Vec<NewAuditEntry>,
    ) -> StoreFuture<'_, Vec<i64>>;

    /// Returns a record.
    fn record(&self, kind: ConfigRecordKind, id: i64) -> StoreFuture<'_, Option<ConfigRecord>>;

    /// Returns the record of `kind` with this unique key.
    fn record_by_unique_key(
        &self,
        kind: ConfigRecordKind,
        unique_key: String,
    ) -> StoreFuture<'_, Option<ConfigRecord>>;

    /// Returns records, ordered by id.
    fn records(
        &self,
        filter: ConfigRecordFilter,
        page: Pagination,
    ) -> StoreFuture<'_, Paginated<ConfigRecord>>;

    /// Returns events as series; `None` when they have more than [`MAX_EVENT_POINTS`](crate::domain::MAX_EVENT_POINTS)
    /// points.
    fn event_series(&self, query: EventSeriesQuery) -> StoreFuture<'_, Option<EventSeries>>;

    /// Returns the audit trail, newest first.
    fn audit_entries(&self, filter: AuditFilter, page: Pagination) -> StoreFuture<'_, Paginated<AuditEntry>>;

    /// Returns the account of a monitor, even of a removed one.
    fn customer_for_monitor(&self, monitor: MonitorId) -> StoreFuture<'_, Option<CustomerId>>;

    /// Re-encrypts secrets of monitors and private data of certificates, recipients and data keys of locations with the
    /// callback `reseal_fn`. Calls it with the context of [`seal_context`]. Returns how many changed.
    fn reseal(&self, reseal_fn: ResealFn) -> StoreFuture<'_, u64>;
}

/// Returns the new form of sealed bytes; `None` leaves them unchanged.
pub type ResealFn = std::sync::Arc<dyn Fn(&str, &[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// Returns the context that sealed bytes are bound to, so that other accounts and kinds cannot open them.
#[must_use]
pub fn seal_context(kind: &str, customer: CustomerId) -> String {
    format!("vigie/{kind}/{customer}")
}
