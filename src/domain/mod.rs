//! The domain model: ids, time, runs, observations, verdicts, results. Small values without I/O.

mod allowed_accounts;
mod audit_entry;
mod captured_file;
mod check_details;
mod check_result;
mod check_trigger;
mod cipher_suite;
mod cipher_suite_table;
#[cfg(test)]
mod cipher_suite_tests;
mod config_record;
mod duration_sketch;
mod egress_principal;
mod event_series;
mod failure;
mod filter;
mod header_list;
mod host_facts;
mod host_metric;
mod host_report;
pub(crate) mod id;
mod location;
mod location_mode;
mod monitor_state;
mod monitor_type;
mod notification;
mod observation;
mod pagination;
mod phase;
mod protocol_facts;
mod push;
mod recipient;
mod report_token;
mod reported_state;
mod role;
mod rollup;
mod sample;
mod security_scan;
mod status;
mod store_error;
mod text;
mod time;
mod tls_group;
mod tls_scan;
mod token_scopes;
mod trace_id;
mod usage;
mod verification;

pub use allowed_accounts::AllowedAccounts;
pub use audit_entry::AuditEntry;
pub use captured_file::{CapturedFile, TRACEROUTE_FILE_NAME};
pub use check_details::{
    ActionResult, BrowserFacts, BrowserStep, CheckDetails, ConsoleEntry, ContentViewResult, Excerpt,
    HttpExchange, PageLoad, PageObject, PageObjectChange, PageObjectKind, PageTiming, StepResult, StepTest,
    StepTestOutcome,
};
pub use check_result::{
    Attempt, CheckMetadata, CheckResult, MissedReason, MissedRuns, Verdict, default_status_text,
    duration_micros,
};
pub use check_trigger::CheckTrigger;
pub use cipher_suite::{BulkCipher, CipherMode, CipherSuite, KeyExchange, SuiteAuthentication};
pub use cipher_suite_table::{cipher_suites, find_suite};
pub use config_record::{ConfigRecord, ConfigRecordKind};
pub use duration_sketch::{DurationSketch, SKETCH_RELATIVE_ERROR};
pub use egress_principal::EgressPrincipal;
pub use event_series::{EventPoint, EventSeries, EventSeriesQuery, EventValues, MAX_EVENT_POINTS};
pub use failure::{Failure, FailureKind, Fault};
pub use filter::{AuditFilter, ConfigRecordFilter, EpisodeFilter, NotificationFilter, ResultFilter};
pub use header_list::HeaderList;
pub use host_facts::{HostFacts, HostValue, HostValueLevel};
pub use host_metric::{
    HOST_METRICS, HostMetric, MetricUnit, find_host_metric, format_number, format_series_value,
};
pub use host_report::{
    HostHistoryQuery, HostHistoryRow, HostReport, HostSpan, HostSummary, MAX_REPORT_SERIES, SeriesStatistics,
    SeriesValue,
};
pub use id::{
    AgentId, CheckId, CustomerId, EpisodeId, HostId, LocationId, MonitorId, RecipientId, Revision, RunId,
    UserId,
};
pub use location::Location;
pub use location_mode::LocationMode;
pub use monitor_state::MonitorLocationState;
pub use monitor_type::MonitorType;
pub use notification::{
    LocationReport, NewNotification, Notification, NotificationContent, NotificationKind, NotificationState,
};
pub use observation::{
    Certificate, DnsFacts, Facts, HttpFacts, Observation, PingFacts, RedirectHop, TlsFacts, Warning,
    WarningKind,
};
pub use pagination::{Paginated, PaginatedResults, Pagination};
pub use phase::{Phase, Phases};
pub use protocol_facts::{FtpFacts, MailFacts, RoundTripFacts};
pub use push::{Push, PushMonitor, PushState, PushStatus};
pub use recipient::{GroupMonitor, NotificationMethod, NotifierGroup, Recipient};
pub use report_token::{ReportToken, ReportTokenError};
pub use reported_state::{PushedState, ReportedState, ReportedStateError, SeriesReadings};
pub use role::{Permission, Role};
pub use rollup::{ContentViewFigures, MAX_ROLLUP_STEPS, Rollup, RollupQuery, RollupStep, UserExperience};
pub use sample::{LocationMeanDuration, Sample};
pub use security_scan::{FindingCounts, SecurityFinding, SecurityScanFacts, Severity};
pub use status::{Outcome, Status};
pub use store_error::StoreError;
pub use text::{
    constant_time_eq, escape_html, format_peer, format_uuid_v4, from_utf8_lossy, replace_control_chars,
    to_hex, truncate,
};
pub use time::Timestamp;
pub use tls_group::{
    SIGNATURE_SCHEMES, TLS_GROUPS, TlsGroup, TlsGroupKind, find_tls_group, signature_scheme_name,
};
pub use tls_scan::{OfferedTlsVersion, ScannedTlsVersion, TlsScan};
pub use token_scopes::{TokenScope, TokenScopes};
pub use trace_id::TraceId;
pub use usage::UsageGrouping;
pub use verification::Verification;
