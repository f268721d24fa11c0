//! The store: traits by use, implemented with SQLite; PostgreSQL will follow.

pub mod contract;
mod rows;
mod sqlite;

pub use contract::{
    AddedCapture, AlertChanges, AlertStore, AuditEntry, AuditEntryByIndex, AuditFilter, AuditObject,
    CheckSuppression, CheckVerification, ConfigChange, ConfigRecordFilter, ConfigStore, DeliveryOutcome,
    EpisodeFilter, Housekeeping, Ingest, IngestBatch, MonitorLocationState, MonitorStore, NewAuditEntry,
    NewConfigRecord, NewMonitor, NewestResultQuery, NotificationFilter, Outbox, Paginated, PaginatedResults,
    Pagination, PerformanceAlertStore, ResealFn, ResultFilter, ResultKey, ResultStore, Retention, RollupSpan,
    SampleStore, StoreError, StoreFuture, StoredEpisode, StoredMonitor, StoredPerformanceAlert, StoredToken,
    TokenKind, TokenStore, TokenUse, UsageQuery, UsageStore, seal_context,
};
pub use sqlite::{DATABASE_FILE, ReadOnlyStore, SqliteSettings, SqliteStore, Synchronous};
