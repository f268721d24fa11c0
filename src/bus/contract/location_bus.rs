//! What the control plane calls.

use std::sync::Arc;

use super::assignment::{AssignmentUpdate, RefusedAssignment};
use super::future::BusFuture;
use super::order::{CheckOrder, FirstCheckOrder, OrderError, TracerouteOrder};
use super::presence::Presence;
use crate::domain::{CapturedFile, CheckResult, Location, LocationId};

/// A location with an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedLocation {
    /// The location.
    pub location: Location,
    /// Whether it verifies failures of monitors that do not run there.
    pub can_verify: bool,
}

/// Why changes did not reach a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// No agent of the location is connected.
    #[error("no agent of this location is online")]
    LocationOffline,
    /// The agent is shutting down.
    #[error("the agent of the location is shutting down")]
    Stopped,
    /// The location missed changes, and the control plane has no snapshot for it yet.
    #[error("there is no snapshot of the assignments yet")]
    NoSnapshot,
}

/// The locations, as the control plane calls them.
pub trait LocationBus: Send + Sync + 'static {
    /// Returns the locations with an agent, the default of accounts first.
    fn locations(&self) -> Arc<[ConnectedLocation]>;

    /// Publishes changes as the next revision of a location. In the process they are in force once it returns, and it
    /// returns the monitors that the location refused; over a network the bus holds them once it returns, and refusals
    /// follow.
    fn publish(
        &self,
        location: LocationId,
        updates: Vec<AssignmentUpdate>,
    ) -> BusFuture<'_, Result<Vec<RefusedAssignment>, PublishError>>;

    /// Orders a check.
    fn check(
        &self,
        location: LocationId,
        order: CheckOrder,
    ) -> BusFuture<'_, Result<CheckResult, OrderError>>;

    /// Orders a first check; returns whether it waits or runs.
    fn first_check(
        &self,
        location: LocationId,
        order: FirstCheckOrder,
    ) -> BusFuture<'_, Result<bool, OrderError>>;

    /// Orders a traceroute.
    fn traceroute(
        &self,
        location: LocationId,
        order: TracerouteOrder,
    ) -> BusFuture<'_, Result<CapturedFile, OrderError>>;

    /// Returns the last heartbeat of a location; `None` when no agent of it is alive.
    fn presence(&self, location: LocationId) -> Option<Presence>;
}

/// Supplies snapshots of what is assigned, for locations that missed changes.
pub trait SnapshotSource: Send + Sync + 'static {
    /// Returns everything that is assigned to `location` now.
    fn snapshot(&self, location: LocationId) -> BusFuture<'_, Vec<AssignmentUpdate>>;
}
