//! Whether failures are those of a location that was cut off.

use std::net::IpAddr;

use tokio_util::sync::CancellationToken;

use super::assignment::Assignment;
use super::execution_context::ExecutionContext;
use crate::domain::{Observation, Timestamp};

impl ExecutionContext {
    /// Whether the failures that were seen since `start` are those of this location.
    pub(super) async fn was_isolated(
        &self,
        assignment: &Assignment,
        seen: &[Observation],
        start: Timestamp,
        cancel: &CancellationToken,
    ) -> bool {
        let Some(connectivity) = self.connectivity.as_ref().filter(|_| !is_loopback(assignment, seen)) else {
            return false;
        };
        tokio::select! {
            lost = connectivity.was_isolated_since(start) => lost,
            () = cancel.cancelled() => false,
        }
    }
}

/// Whether the target is this host, which needs no network.
fn is_loopback(assignment: &Assignment, seen: &[Observation]) -> bool {
    if let Some(address) = seen.iter().rev().find_map(|observation| observation.address) {
        return address.ip().to_canonical().is_loopback();
    }
    let target = assignment.probe.target().unwrap_or_default();
    let named = target == "localhost" || target.ends_with(".localhost");
    named || target.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}
