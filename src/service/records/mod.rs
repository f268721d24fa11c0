//! Use cases on an account's records other than monitors. Each kind is a [`record_definition::RecordDefinition`], whose
//! field table defines its fields. A file of this directory contains the rules of each kind.

mod account;
mod account_access;
mod agent;
mod agent_states;
mod audit_fields;
mod audit_trail;
mod blackout;
mod blackout_occurrences;
mod bulk_edit_blackouts;
mod bulk_edit_slas;
mod certificate;
mod config_record_service;
mod dependencies;
mod event;
mod host;
mod kind_rules;
mod location;
mod location_list;
mod locations_overview;
mod monitor_performance_alerts;
mod notifier_group;
mod performance_alert;
mod property;
mod recipient;
mod record_context;
mod record_definition;
mod record_draft;
mod record_json;
mod sla;
mod sla_report;
pub(crate) mod template;
mod usage;
mod user;
mod view;
pub(in crate::service) mod view_access;
mod view_list;

pub use certificate::{CertificateWatcher, DecryptedCertificate, pkcs12_to_pem};
pub use config_record_service::ConfigRecordService;
pub use dependencies::ConfigRecordServiceDependencies;
pub use event::event_label;
pub use locations_overview::LocationsOverview;
pub(super) use record_draft::{field_conflict_error, fields_with_defaults, unique_name};
