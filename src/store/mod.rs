//! The store: traits by use, implemented with SQLite and PostgreSQL.

pub mod contract;
mod postgres;
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
pub use postgres::{PostgresSettings, PostgresStore, TlsMode};
pub use sqlite::{DATABASE_FILE, ReadOnlyStore, SqliteSettings, SqliteStore, Synchronous};
