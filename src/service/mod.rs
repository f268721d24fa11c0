//! Use cases behind the API, the pages and the terminal.

mod accounts;
mod alerting;
mod caller;
mod client_connection;
pub mod details;
mod events;
pub mod monitors;
mod on_demand_test;
mod overall_health;
mod property_counts;
mod property_filter;
mod provision;
mod provision_audit;
pub(crate) mod records;
mod rollups;
mod secret_sealing;
pub(crate) mod sla;
mod status_board;
mod status_queries;
mod usage_report;

pub use accounts::{
    AccountService, IssuedToken, TokenInfo, UserChangeLock, authorize_user_change, generate_password,
    hash_password, login_error, normalize_login, password_error,
};
pub use alerting::{AlertPipelineHandle, AlertService, AlertServiceDependencies, NoAlertPipeline};
pub use caller::{Caller, EntryPoint, SavedObject, ServiceError};
pub use client_connection::ClientConnection;
pub use events::{EventMarker, event_series};
pub use monitors::{
    AppliedChange, ApplyEntry, ApplyOptions, ExpectedRevision, LastRunLookup, MonitorContext,
    MonitorDependencies,
};
pub use on_demand_test::{OnDemandTestDependencies, OnDemandTests, TestProgress, test_path};
pub use overall_health::{HealthLookup, OverallHealth};
pub use property_filter::{PropertyFilter, PropertyFilters, property_filter};
pub use provision::{DesiredMonitor, ProvisionPlan, plan_provision, provision, provision_with_stored};
pub use records::{
    CertificateWatcher, DecryptedCertificate, RecordService, RecordServiceDependencies, event_label,
    pkcs12_to_pem,
};
pub use rollups::{ROLLUP_FIELDS, RollupRequest, RollupRow, rollup_rows};
pub use secret_sealing::{
    SealedSecretCounts, SealingError, count_sealed_secrets, open_keyring, reseal_all_secrets,
};
pub use sla::{ErrorBudgetReport, Granularity, SlaQuery, SlaReport};
pub use status_board::{MonitorStatus, PaginatedStatusRows, StatusBoard, StatusQuery, StatusRow};
pub use status_queries::StatusQueries;
pub use usage_report::{UsageReport, UsageRequest, UsageRow, usage_report};
