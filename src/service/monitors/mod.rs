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
pub use apply::{Applied, AppliedChange, ApplyOptions, apply};
pub use bulk::bulk_edit;
pub use context::{MonitorContext, MonitorParts};
pub use convert::convert_api;
pub use copy::copy;
pub use create::create;
pub(super) use differences::{after_create, before_delete, between, brief};
pub use edit::{delete, patch};
pub use last_runs::LastRuns;
pub use load::{load, take};
pub use passwords::bulk_edit_passwords;
pub use pause::{end_pauses, note_pauses, pause, resume};
pub use scripts::bulk_edit_scripts;
pub use show::{show, show_one};
