//! The door to what runs monitors.

use std::net::IpAddr;
use std::pin::Pin;

use crate::domain::{Capture, CheckResult, Location, LocationId, MonitorId};
use crate::schema::Monitor;

/// The future of one call.
pub type PlanFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, PlanError>> + Send + 'a>>;

/// Why nothing was planned or run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Too many checks wait already.
    #[error("too many checks wait for a place; try again later")]
    Busy,
    /// The server shuts down.
    #[error("the server is shutting down")]
    Stopped,
    /// Nothing runs checks at this location.
    #[error("no agent of this location is there")]
    LocationOffline,
}

/// Runs monitors. Calls are in force when they return.
pub trait Planner: Send + Sync + 'static {
    /// Plans these versions (those that are not to run now are taken out), and lets others go.
    fn apply(&self, upserts: Vec<Monitor>, removed: Vec<MonitorId>) -> PlanFuture<'_, ()>;

    /// Checks now at `location`, out of its schedule; the result comes back here alone and is not kept.
    fn run_once(&self, monitor: Monitor, location: LocationId) -> PlanFuture<'_, CheckResult>;

    /// Traces the way from `location` to the target of `monitor`, to `address` when the failed check had one.
    /// At most 15 s; the file is named `traceroute.txt`.
    fn trace(
        &self,
        monitor: Monitor,
        location: LocationId,
        address: Option<IpAddr>,
    ) -> PlanFuture<'_, Capture>;

    /// Every location of the settings and of the accounts, with whether it is alive now.
    fn agent_statuses(&self) -> Vec<AgentStatus>;
}

/// How a location is staffed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStatus {
    /// The location.
    pub location: Location,
    /// Whether an agent runs checks there now.
    pub is_alive: bool,
    /// Whether it reached none of its own-connectivity targets lately, so that its failures say nothing.
    pub is_isolated: bool,
    /// Whether it looks at failures of monitors that do not have it in their pool (setting `verifies`).
    pub can_verify: bool,
}
