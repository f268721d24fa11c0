//! The store: traits by use, implemented with SQLite and PostgreSQL.

pub mod contract;
pub mod copy;
mod location;
mod maintenance;
mod open;
mod postgres;
mod rows;
mod sqlite;
mod store_url;

pub use contract::{
    AddedCapture, AlertChanges, AlertStore, AuditEntry, AuditEntryByIndex, AuditFilter, AuditObject,
    CheckSuppression, CheckVerification, ConfigChange, ConfigRecordFilter, ConfigStore, ControllerAddress,
    DeliveryOutcome, EpisodeFilter, HostStore, Housekeeping, Ingest, IngestBatch, LEASE_DURATION, Leader,
    MAX_THROTTLE_COUNTERS, MissedRunStore, MonitorChangeLog, MonitorChanges, MonitorLocationState,
    MonitorStore, NewAuditEntry, NewConfigRecord, NewMonitor, NewPushToken, NewestResultQuery,
    NotificationFilter, Outbox, Paginated, PaginatedResults, Pagination, PerformanceAlertStore, PlannedRuns,
    PushStore, ReadOnlyStore, ResealFn, ResultFilter, ResultKey, ResultStore, Retention, RollupSpan,
    SampleStore, Store, StoreError, StoreFuture, StoredEpisode, StoredJson, StoredJsonNames, StoredMonitor,
    StoredPerformanceAlert, StoredToken, ThrottleCounter, ThrottleDecision, ThrottleKey, ThrottleKind,
    ThrottleStore, TokenKind, TokenStore, TokenUse, UsageQuery, UsageStore, seal_context,
};
pub use location::{PostgresLocation, PostgresTls, StoreLocation, StorePassword};
pub use maintenance::{
    BackupSummary, MaintenanceError, MigrationSummary, RestoreSummary, StoreContents, StoreReport,
    require_sqlite,
};
pub use open::{
    StoreOptions, inspect_store, migrate_store, open_copy_source, open_copy_target, open_lease,
    open_read_only_store, open_store,
};
pub use postgres::{ControllerLease, PostgresSettings, PostgresStore};
pub use sqlite::{
    DATABASE_FILE, ProcessLock, SqliteReadOnlyStore, SqliteSettings, SqliteStore, Synchronous, back_up,
    lock_data_folder, restore,
};
pub use store_url::StoreUrlError;
