//! What an agent tells about itself.

use std::borrow::Cow;

use super::assignment::AssignmentRevision;
use crate::domain::{LocationId, Timestamp};

/// The load of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentLoad {
    /// Number of planned monitors.
    pub planned_monitors: usize,
    /// Number of checks that run, or whose result waits for delivery.
    pub running_checks: usize,
    /// Number of checks that wait for admission.
    pub waiting_checks: usize,
}

/// A heartbeat of an agent. Its receiver decides by its own clock how long ago it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presence {
    /// The location that the agent belongs to.
    pub location_id: LocationId,
    /// Version of its program.
    pub version: Cow<'static, str>,
    /// When it was sent, by the clock of the agent.
    pub sent_at: Timestamp,
    /// By how many microseconds the clock of the control plane is ahead of that of the agent, as the agent measured it;
    /// `None` when it has the same clock, or did not measure it yet.
    pub clock_offset_us: Option<i64>,
    /// Its load; up to a second old.
    pub load: AgentLoad,
    /// Number of browsers that it may run at once.
    pub browser_capacity: usize,
    /// Whether it reached none of its own-connectivity targets lately, so that its failures are not conclusive.
    pub is_isolated: bool,
    /// The revision of the assignments that it has applied.
    pub assignment_revision: AssignmentRevision,
}
