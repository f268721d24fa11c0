//! The use cases on what accounts have beside monitors. Each kind is a [`kinds::Kind`]: its fields stand in
//! the field table, its own rules in a file of this folder.

mod account;
mod audit;
mod audit_trail;
mod blackout;
mod blackouts_at_once;
mod certificate;
mod context;
mod draft;
mod event;
mod group;
mod kinds;
mod location;
mod location_list;
mod monitor_performance_alerts;
mod occurrences;
mod own_account;
mod parts;
mod performance_alert;
mod property;
mod recipient;
mod records;
mod rules;
mod show;
mod sla;
mod sla_report;
mod slas_at_once;
pub(crate) mod template;
mod usage;
mod user;

pub use certificate::{CertificateWatcher, OpenedCertificate, open_pkcs12};
pub(super) use draft::{conflict_fault, fields_with_defaults as body_of};
pub use parts::ResourceDependencies;
pub use records::ResourceService;
