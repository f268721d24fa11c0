//! The history that the demo starts with: thirty days of results, outages, events and an agreement, all made up.

mod profiles;
mod results;

mod write;

pub(super) use write::write_demo_history;
