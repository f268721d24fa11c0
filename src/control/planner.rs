//! The door to what runs monitors.

use std::pin::Pin;

use crate::model::{CheckResult, LocationId, Monitor, MonitorId};

/// The future of one call.
pub type Planned<'a, T> = Pin<Box<dyn Future<Output = Result<T, PlanError>> + Send + 'a>>;

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
    Away,
}

/// Runs monitors. Calls are in force when they return.
pub trait Planner: Send + Sync + 'static {
    /// Plans these versions (those that are not to run now are taken out), and lets others go.
    fn plan(&self, puts: Vec<Monitor>, removed: Vec<MonitorId>) -> Planned<'_, ()>;

    /// Checks now at `location`, out of its schedule; the result comes back here alone and is not kept.
    fn check_once(&self, monitor: Monitor, location: LocationId) -> Planned<'_, CheckResult>;
}
