//! Starts first checks: one of a monitor at each of its locations, after it was created or what it checks was changed.

mod location_orders;
mod requests;
mod task;

pub(super) use requests::FirstChecks;
pub use task::FirstCheckTask;
