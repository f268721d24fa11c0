//! The store: traits by use, implemented with SQLite; PostgreSQL will follow.

pub mod contract;
mod sqlite;

pub use contract::{
    AlertChanges, AlertStore, AuditEntries, AuditEntry, AuditFilter, AuditObject, Commit, ConfigChange,
    ConfigStore, DeliveryOutcome, EpisodeFilter, Evidence, Housekeeping, Ingest, MonitorState, MonitorStore,
    NewAuditEntry, NewMonitor, NewRecord, NotificationFilter, Outbox, Paginated, PaginatedResults,
    Pagination, PerformanceAlertStore, RecordFilter, Reseal, ResultFilter, ResultKey, ResultStore, Retention,
    Rollup, RollupSpan, SampleStore, StoreError, StoreFuture, StoredEpisode, StoredMonitor,
    StoredPerformanceAlert, StoredToken, TokenKind, TokenStore, VerifiedCheck, seal_context,
};
pub use sqlite::{ReadOnlyStore, SKETCH_RELATIVE_ERROR, SqliteSettings, SqliteStore, Synchronous};
