//! Use cases behind API, pages and terminal.

mod accounts;
mod alerting;
mod caller;
pub mod details;
pub mod monitors;
mod provision;
mod provisioned;
pub(crate) mod resources;
mod sealing;
mod situation;
pub(crate) mod sla;
mod trial;
mod view;

pub use accounts::{
    AccountService, IssuedToken, UserChangeGuard, authorize_user_change, generate_password, hash_password,
    login_key, validate_login, validate_password,
};
pub use alerting::{AlertControl, AlertService, AlertServiceDependencies, NoAlertControl};
pub use caller::{Caller, EntryPoint, SavedObject, ServiceError};
pub use monitors::{
    AppliedChange, ApplyEntry, ApplyOptions, IfMatch, LastRunLookup, MonitorContext, MonitorDependencies,
};
pub use provision::{DesiredMonitor, ProvisionPlan, plan_provision, provision, provision_with_stored};
pub use resources::{
    CertificateWatcher, OpenedCertificate, ResourceDependencies, ResourceService, open_pkcs12,
};
pub use sealing::{SealedSecrets, SealingError, count_sealed, open_keyring, reseal_all};
pub use situation::{HealthLookup, OverallHealth};
pub use sla::{BudgetReport, Granularity, SlaQuery, SlaReport};
pub use trial::{OnDemandTestDependencies, OnDemandTests, TestProgress, result_url};
pub use view::{MonitorStatus, StatusBoard, StatusPage, StatusQueries, StatusQuery, StatusRow};
