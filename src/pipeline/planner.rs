//! The interface to the agents that run monitors.

use std::net::IpAddr;
use std::pin::Pin;

use crate::domain::{CapturedFile, CheckResult, Location, LocationId, MonitorId};
use crate::schema::Monitor;

/// Future of a call to the agents.
pub type PlanFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, PlanError>> + Send + 'a>>;

/// Why a call to the agents failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Too many checks are queued.
    #[error("too many checks are queued; try again later")]
    QueueFull,
    /// The server is shutting down.
    #[error("the server is shutting down")]
    Stopped,
    /// No agent runs checks at this location.
    #[error("no agent of this location is online")]
    LocationOffline,
    /// The agent of the location did not reply in time.
    #[error("the location did not reply in time")]
    TimedOut,
    /// The monitor has no single target to trace the route to.
    #[error("the monitor has no target to trace the route to")]
    NoTarget,
}

/// Plans and runs monitors through the agents. Changes are in force when a call returns.
pub trait Planner: Send + Sync + 'static {
    /// Plans these monitors (those that must not run now are unplanned) and unplans the removed ones.
    fn apply_monitor_changes(&self, upserts: Vec<Monitor>, removed: Vec<MonitorId>) -> PlanFuture<'_, ()>;

    /// Requests a first check of each of `monitors`, which are new or check something else than before, at all of its
    /// locations. At most 20 a second start for each account; results are stored. Only monitors that are active and
    /// permit checks outside of their schedule have one. Call it after the change is planned.
    fn request_first_checks(&self, monitors: &[Monitor]);

    /// Runs a check now at `location`, outside of its schedule; the result is only returned and not stored.
    fn run_check_now(&self, monitor: Monitor, location: LocationId) -> PlanFuture<'_, CheckResult>;

    /// Traces the route from `location` to the target of `monitor`, or to `address` when the failed check had one.
    /// Takes at most 15 s; the file is named `traceroute.txt`.
    fn run_traceroute(
        &self,
        monitor: Monitor,
        location: LocationId,
        address: Option<IpAddr>,
    ) -> PlanFuture<'_, CapturedFile>;

    /// Returns every location of the settings and the accounts, with its status.
    fn agent_statuses(&self) -> Vec<AgentStatus>;
}

/// Status of the agent of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentStatus {
    /// The location.
    pub location: Location,
    /// Whether an agent runs checks there now.
    pub is_alive: bool,
    /// Whether it reached none of its own-connectivity targets lately, so that its failures are not conclusive.
    pub is_isolated: bool,
    /// Whether it verifies failures of monitors that do not have it in their pool (setting `verifies`).
    pub can_verify: bool,
}
