//! Use cases behind the API, the pages and the terminal.

mod accounts;
mod alerting;
mod caller;
pub mod details;
pub mod monitors;
mod on_demand_test;
mod overall_health;
mod provision;
mod provision_audit;
pub(crate) mod resources;
mod secret_sealing;
pub(crate) mod sla;
mod status_queries;

pub use accounts::{
    AccountService, IssuedToken, UserChangeGuard, authorize_user_change, generate_password, hash_password,
    login_key, validate_login, validate_password,
};
pub use alerting::{AlertControl, AlertService, AlertServiceDependencies, NoAlertControl};
pub use caller::{Caller, EntryPoint, SavedObject, ServiceError};
pub use monitors::{
    AppliedChange, ApplyEntry, ApplyOptions, IfMatch, LastRunLookup, MonitorContext, MonitorDependencies,
};
pub use on_demand_test::{OnDemandTestDependencies, OnDemandTests, TestProgress, result_url};
pub use overall_health::{HealthLookup, OverallHealth};
pub use provision::{DesiredMonitor, ProvisionPlan, plan_provision, provision, provision_with_stored};
pub use resources::{
    CertificateWatcher, OpenedCertificate, ResourceDependencies, ResourceService, open_pkcs12,
};
pub use secret_sealing::{SealedSecrets, SealingError, count_sealed, open_keyring, reseal_all};
pub use sla::{BudgetReport, Granularity, SlaQuery, SlaReport};
pub use status_queries::{MonitorStatus, StatusBoard, StatusPage, StatusQueries, StatusQuery, StatusRow};
