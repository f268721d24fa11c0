//! The use cases on monitors: create, edit, copy, remove, rest, many at once; each judged, sealed, kept with
//! its audit entry, planned, and only then answered.

mod apply;
mod bulk;
mod convert;
mod copy;
mod create;
mod differences;
mod edit;
mod fleet;
mod load;
mod many;
mod passwords;
mod rest;
mod save;
mod scripts;
mod seal;
mod show;

pub use apply::{Applied, AppliedChange, ApplyOptions};
pub(super) use differences::{after_create, before_delete, between, brief};
pub use fleet::{Fleet, FleetParts, IfMatch};
pub use show::LastRuns;
