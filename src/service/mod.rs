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
    Accounts, Issued, UserPermit, hash_password, login_fault, login_key, password_fault, permit_user_change,
    readable_password,
};
pub use alerting::{Alerting, AlertingParts, NoWatchman, Watchman};
pub use caller::{Caller, Refusal, Saved, Via};
pub use monitors::{Applied, AppliedChange, ApplyOptions, IfMatch, LastRuns, MonitorContext, MonitorParts};
pub use provision::{Provision, Wanted, compare, provision, provision_over};
pub use resources::{OpenCertificate, ResourceParts, Resources, Watcher, open_pkcs12};
pub use sealing::{SealedBy, SealingError, open_keyring, reseal, sealed_by};
pub use situation::{HealthOf, Situation};
pub use sla::{BudgetReport, By, SlaQuery, SlaReport};
pub use trial::{Progress, TrialParts, Trials, result_url};
pub use view::{Board, BoardRow, RowPage, RowQuery, Standing, View};
