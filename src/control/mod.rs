//! Use cases over the traits of the store: provision monitors, ingest results, keep house, show what is known.

mod accounts;
mod alarms;
mod alerting;
mod caller;
mod contacts;
mod delivery;
mod directory;
mod example;
mod fleet;
mod health;
mod housekeeping;
mod ingest;
mod moment;
mod object;
mod performance;
mod planner;
mod provision;
mod provisioned;
mod raised;
mod resources;
mod roster;
mod sealing;
mod situation;
mod sla;
mod state;
mod subject;
mod trial;
mod view;

pub use accounts::{
    Accounts, Issued, UserPermit, hash_password, login_fault, login_key, password_fault, permit_user_change,
    readable_password,
};
pub use alarms::{AlarmSettings, Lookout, LookoutParts};
pub use alerting::{Alerting, AlertingParts, NoWatchman, Watchman};
pub use caller::{Caller, Refusal, Saved, Via};
pub use contacts::recipient_password;
pub use delivery::{AddressBook, Addressee, Addresses, Bell, Delivery, DeliveryParts, DeliverySettings};
pub use directory::{AccountFacts, Common, Directory, KnownCertificate, KnownProperty, Mobile};
pub use fleet::{Applied, AppliedChange, ApplyOptions, Fleet, FleetParts, IfMatch, LastRuns};
pub use health::{Condition, Vitals};
pub use housekeeping::{Chore, Household, Housekeeper, TimeOfDay};
pub use ingest::{IngestSettings, Ingestor};
pub use performance::{Performance, PerformanceParts};
pub use planner::{Agent, PlanError, Planned, Planner};
pub use provision::{Provision, Wanted, compare, provision, provision_over};
pub use raised::Raised;
pub use resources::{OpenCertificate, ResourceParts, Resources, Watcher, open_pkcs12};
pub use roster::Roster;
pub use sealing::{SealedBy, SealingError, open_keyring, reseal, sealed_by};
pub use situation::{HealthOf, Situation};
pub use sla::{BudgetReport, By, SlaQuery, SlaReport};
pub use state::next_state;
pub use trial::{Progress, TrialParts, Trials, result_url};
pub use view::{Board, BoardRow, RowPage, RowQuery, Standing, View};
// What reading answers with, so that pages and API need no door to the store.
pub use crate::store::{
    AuditFilter, AuditRow, EpisodeFilter, Listed, MonitorState, NotificationFilter, Page, RecordFilter,
    ResultFilter, ResultPage, StoreError,
};
