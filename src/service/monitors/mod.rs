//! Use cases on monitors: create, edit, copy, remove, pause, bulk edits. Each one validates the input,
//! seals its secrets, stores the change with an audit entry, and updates the plan of runs before it returns.

mod access;
mod account_validation;
mod apply;
mod apply_dependencies;
mod audit_fields;
mod bulk_action;
mod bulk_change;
mod bulk_edit;
mod bulk_edit_passwords;
mod bulk_edit_scripts;
mod change_set;
mod convert_api_monitor;
mod copy;
mod create;
mod edit;
mod form_context;
mod last_run;
mod load;
mod monitor_change;
mod monitor_json;
mod monitor_secrets;
mod monitor_service;
mod pause;
mod pause_ends;
mod plan_quota;
mod save;

pub use access::{ExpectedRevision, require_not_file_managed};
pub use apply::{AppliedChange, ApplyOptions, MonitorDefinition, apply};
pub(super) use audit_fields::{abbreviate, changed_document_fields, created_fields, removed_fields};
pub use bulk_action::{BulkAction, BulkEffect, BulkPlan, do_bulk_action, plan_bulk_action};
pub use bulk_edit::bulk_edit;
pub use bulk_edit_passwords::bulk_edit_passwords;
pub use bulk_edit_scripts::bulk_edit_scripts;
pub use convert_api_monitor::convert_single_request_to_steps;
pub use copy::copy_monitor;
pub use create::create;
pub use edit::{delete, patch};
pub use form_context::{FormContext, form_context};
pub use last_run::LastRunLookup;
pub use load::{decrypt_and_cache_monitors, load_monitors};
pub use monitor_json::{monitor_or_content_view_to_json, monitors_to_json};
pub use monitor_service::{MonitorDependencies, MonitorService};
pub use pause::{pause_monitor, register_pauses, resume_due_monitors, resume_monitor};
