//! The interface of the store: traits by use, and their types.

mod alerts;
mod audit;
mod config_store;
mod controller_lease;
mod future;
mod hosts;
mod housekeeping;
mod ingest;
mod missed_runs;
mod monitor_change_log;
mod monitors;
mod performance_alerts;
mod pushes;
mod records;
mod results;
mod rollup;
mod samples;
mod store;
mod stored_json;
mod throttles;
mod tokens;
mod usage;

pub use crate::domain::{
    AuditEntry, AuditFilter, ConfigRecordFilter, EpisodeFilter, MonitorLocationState, NotificationFilter,
    Paginated, PaginatedResults, Pagination, ResultFilter, StoreError,
};
pub use alerts::{
    AddedCapture, AlertChanges, AlertStore, CheckSuppression, CheckVerification, DeliveryOutcome, Outbox,
    ResultKey, StoredEpisode,
};
pub use audit::{AuditEntryByIndex, AuditObject, NewAuditEntry};
pub use config_store::{ConfigChange, ConfigStore, ResealFn, seal_context};
pub use controller_lease::{ControllerAddress, LEASE_DURATION, Leader};
pub use future::StoreFuture;
pub use hosts::HostStore;
pub use housekeeping::{Housekeeping, Retention};
pub use ingest::{Ingest, IngestBatch};
pub use missed_runs::{MissedRunStore, PlannedRuns};
pub use monitor_change_log::{MonitorChangeLog, MonitorChanges};
pub use monitors::{MonitorStore, NewMonitor, StoredMonitor};
pub use performance_alerts::{PerformanceAlertStore, StoredPerformanceAlert};
pub use pushes::{NewPushToken, PushStore};
pub use records::NewConfigRecord;
pub use results::{NewestResultQuery, ResultStore};
pub use rollup::RollupSpan;
pub use samples::SampleStore;
pub use store::{ReadOnlyStore, Store};
pub use stored_json::{StoredJson, StoredJsonNames};
pub use throttles::{
    MAX_THROTTLE_COUNTERS, ThrottleCounter, ThrottleDecision, ThrottleKey, ThrottleKind, ThrottleStore,
};
pub use tokens::{StoredToken, TokenKind, TokenStore, TokenUse};
pub use usage::{UsageQuery, UsageStore};
