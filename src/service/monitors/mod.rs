//! The use cases on monitors: create, edit, copy, remove, rest, many at once; each validated, sealed, kept with
//! its audit entry, planned, and only then answered.

mod access;
mod apply;
mod bulk;
mod change_set;
mod context;
mod convert;
mod copy;
mod create;
mod differences;
mod edit;
mod last_runs;
mod load;
mod many;
mod passwords;
mod pause;
mod pauses;
mod plan_places;
mod save;
mod scripts;
mod seal;
mod show;
mod step;
mod validation;

pub use access::IfMatch;
pub use apply::{AppliedChange, ApplyEntry, ApplyOptions, apply};
pub use bulk::bulk_edit;
pub use context::{MonitorContext, MonitorDependencies};
pub use convert::convert_to_steps;
pub use copy::copy;
pub use create::create;
pub(super) use differences::{abbreviate, changed_document_fields, created_fields, removed_fields};
pub use edit::{delete, patch};
pub use last_runs::LastRunLookup;
pub use load::{load_monitors, open_monitors};
pub use passwords::bulk_edit_passwords;
pub use pause::{pause, register_pauses, resume, resume_due};
pub use scripts::bulk_edit_scripts;
pub use show::{monitor_or_view_to_json, monitors_to_json};
