//! Records the runs that no agent on another host reported: its location was offline, or another agent had not taken
//! over yet. Results that come later take their place.

mod remote_agents;
mod sweep;
#[cfg(test)]
mod sweep_tests;
mod swept_location;
mod task;

pub(super) use sweep::MissedRunSweep;
pub(super) use task::supervised;
