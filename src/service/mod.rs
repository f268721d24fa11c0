//! Use cases behind the API, the pages and the terminal.

mod account_choices;
mod accounts;
pub mod agents;
mod alerting;
mod bearer_token;
mod board_cache;
mod caller;
mod client_connection;
mod custom_property_filter;
mod error_budget_cache;
mod error_budgets;
mod events;
mod host_graphs;
pub mod hosts;
mod known_locations;
mod list_columns;
mod list_query;
mod monitor_marks;
mod monitor_metrics;
mod monitor_reader;
mod monitor_search;
pub mod monitors;
mod on_demand_test;
mod outage_times;
mod overall_health;
mod packed_lists;
mod property_counts;
mod provision;
mod provision_audit;
pub(crate) mod records;
mod result_shares;
pub mod result_view;
mod rollup_cache;
mod rollups;
mod saved_views;
mod secret_sealing;
pub(crate) mod sla;
mod state_sentence;
mod status_board;
mod status_columns;
mod status_groups;
mod status_query;
mod status_row;
mod usage_report;

pub use account_choices::{AccountChoices, AccountLabels, PropertyChoice};
pub use accounts::{
    AccountService, IssuedToken, TokenInfo, UserChangeLock, authorize_user_change, generate_password,
    hash_password, login_error, normalize_login, password_error,
};
pub use alerting::{AlertPipelineHandle, AlertService, AlertServiceDependencies, NoopAlertPipeline};
pub use bearer_token::bearer_token;
pub use caller::{Caller, EntryPoint, SavedObject, ServiceError};
pub use client_connection::ClientConnection;
pub use custom_property_filter::{CustomPropertyFilter, CustomPropertyFilters, property_filter};
pub use error_budget_cache::{BudgetOfGoal, ErrorBudgets};
pub use events::{EventMarker, event_series};
pub use host_graphs::SeriesGraph;
pub use known_locations::{LocationAudience, RemoteLocationName};
pub use list_columns::{Column, Columns};
pub use list_query::{ALL_LOCATIONS, ListQuery};
pub use monitor_marks::{MarkKind, MonitorMark};
pub use monitor_metrics::{MonitorMetricsPage, MonitorMetricsRequest, PagePart};
pub use monitor_reader::MonitorReader;
pub use monitors::{
    AppliedChange, ApplyOptions, ExpectedRevision, LastRunLookup, MonitorDefinition, MonitorDependencies,
    MonitorService,
};
pub use on_demand_test::{OnDemandTestDependencies, OnDemandTests, TestProgress, on_demand_test_url};
pub use outage_times::OutageTimes;
pub use overall_health::{HealthLookup, OverallHealth};
pub use provision::{DesiredMonitor, ProvisionPlan, plan_provision, provision, provision_with_stored};
pub use records::{
    CertificateWatcher, ConfigRecordService, ConfigRecordServiceDependencies, DecryptedCertificate,
    LocationsOverview, event_label, pkcs12_to_pem,
};
pub use result_shares::{
    NewResultShare, ResultShare, ResultShareDependencies, ResultShares, shared_result_path,
};
pub use rollups::{ROLLUP_FIELDS, RollupRequest, RollupRow, rollup_rows};
pub use saved_views::SavedView;
pub use secret_sealing::{
    SealedSecretCounts, SealingError, count_sealed_secrets, open_keyring, reseal_all_secrets,
};
pub use sla::{ErrorBudgetReport, Granularity, SlaQuery, SlaReport};
pub use status_board::{PaginatedStatusRows, StatusBoard};
pub use status_groups::StatusGroup;
pub use status_query::{StatusOrder, StatusQuery};
pub use status_row::{MonitorStatus, StatusRow};
pub use usage_report::{UsageReport, UsageRequest, UsageRow, usage_report};
