//! What an agent of a location answers.

use super::assignment::{AssignmentBatch, AssignmentError, AssignmentSnapshot, RefusedAssignment};
use super::future::BusFuture;
use super::order::{CheckOrder, FirstCheckOrder, OrderError, TracerouteOrder};
use super::presence::Presence;
use crate::domain::{CapturedFile, CheckResult};

/// An agent of a location, as the bus calls it. In the process the calls are direct; over a network, the part of the
/// bus beside the agent makes them.
pub trait LocationPort: Send + Sync + 'static {
    /// Replaces everything that is assigned; returns the monitors that cannot be checked. In force once it returns.
    fn apply_snapshot(
        &self,
        snapshot: AssignmentSnapshot,
    ) -> BusFuture<'_, Result<Vec<RefusedAssignment>, AssignmentError>>;

    /// Applies a batch; returns the monitors that cannot be checked, which are not planned then. In force once it
    /// returns. A batch that does not follow the applied revision changes nothing.
    fn apply_batch(
        &self,
        batch: AssignmentBatch,
    ) -> BusFuture<'_, Result<Vec<RefusedAssignment>, AssignmentError>>;

    /// Checks a monitor now.
    fn check(&self, order: CheckOrder) -> BusFuture<'_, Result<CheckResult, OrderError>>;

    /// Requests a first check; returns whether it waits or runs.
    fn first_check(&self, order: FirstCheckOrder) -> BusFuture<'_, Result<bool, OrderError>>;

    /// Traces a route.
    fn traceroute(&self, order: TracerouteOrder) -> BusFuture<'_, Result<CapturedFile, OrderError>>;

    /// Returns what to tell the control plane now; `None` once the agent has ended. Responds from memory.
    fn presence(&self) -> Option<Presence>;

    /// Waits until the presence has changed so much that the control plane should know at once.
    fn presence_changed(&self) -> BusFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}
