//! What people change, kept with who did it.

use crate::domain::{
    AuditEntry, AuditFilter, CustomerId, MonitorId, Paginated, Pagination, Record, RecordFilter, RecordKind,
    Revision, UserId,
};

use super::audit::NewAuditEntry;
use super::future::StoreFuture;
use super::monitors::{NewMonitor, StoredMonitor};
use super::records::NewRecord;

/// One change. Those that name an expected revision fail with [`StoreError::Stale`](crate::domain::StoreError::Stale) when the newest
/// version is another one, or is gone.
#[derive(Clone, Debug)]
pub enum ConfigChange {
    /// A new monitor; it gets revision 1.
    CreateMonitor(NewMonitor),
    /// A new version of a monitor, whose `revision` is its new one; `expected` is the one that it follows.
    UpdateMonitor {
        /// The new version.
        monitor: Box<StoredMonitor>,
        /// The version that its author saw.
        expected: Revision,
    },
    /// Removes a monitor, its states and the records that are attached to it; its results stay.
    RemoveMonitor {
        /// Which.
        id: MonitorId,
        /// The version that its remover saw.
        expected: Revision,
    },
    /// A new record.
    CreateRecord(NewRecord),
    /// A new version of a record, whose `revision` is its new one.
    UpdateRecord {
        /// The new version.
        record: Box<Record>,
        /// The version that its author saw.
        expected: Revision,
    },
    /// Removes a record; of a user, its tokens as well.
    RemoveRecord {
        /// What it is.
        kind: RecordKind,
        /// Which.
        id: i64,
        /// The version that its remover saw.
        expected: Revision,
    },
    /// Ends all tokens and sessions of a user, as after a new password.
    RevokeTokens(UserId),
}

/// Keeps what people change. Every call of [`ConfigStore::write_changes`] is one transaction: all of it or nothing,
/// with its audit entries.
pub trait ConfigStore: Send + Sync + 'static {
    /// All monitors that were not removed, of all accounts, in the order of their ids.
    fn stored_monitors(&self) -> StoreFuture<'_, Vec<StoredMonitor>>;

    /// Makes `changes` in their order; answers the ids of those that create, in that order.
    fn write_changes(
        &self,
        changes: Vec<ConfigChange>,
        audit: Vec<NewAuditEntry>,
    ) -> StoreFuture<'_, Vec<i64>>;

    /// One record.
    fn record(&self, kind: RecordKind, id: i64) -> StoreFuture<'_, Option<Record>>;

    /// The record of `kind` that has this unique text.
    fn record_by_unique(&self, kind: RecordKind, unique: String) -> StoreFuture<'_, Option<Record>>;

    /// Records, by id.
    fn records(&self, filter: RecordFilter, page: Pagination) -> StoreFuture<'_, Paginated<Record>>;

    /// The audit trail, newest first.
    fn audit(&self, filter: AuditFilter, page: Pagination) -> StoreFuture<'_, Paginated<AuditEntry>>;

    /// The account of each monitor that ever had a result, removed ones too.
    fn customer_for_monitor(&self, monitor: MonitorId) -> StoreFuture<'_, Option<CustomerId>>;

    /// Seals anew what `reseal` gives another form: secrets of monitors, private parts of certificates and recipients.
    /// Each is called with the context of [`seal_context`]. Answers how many changed.
    fn reseal(&self, reseal: Reseal) -> StoreFuture<'_, u64>;
}

/// Gives sealed bytes their new form; `None` leaves them as they are.
pub type Reseal = std::sync::Arc<dyn Fn(&str, &[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// What sealed bytes are bound to, so that those of one account or kind open nowhere else.
#[must_use]
pub fn seal_context(kind: &str, customer: CustomerId) -> String {
    format!("vigie/{kind}/{customer}")
}
