//! Attributes failures to the isolation of this location.

use std::net::IpAddr;

use tokio_util::sync::CancellationToken;

use super::assignment::Assignment;
use super::execution_context::ExecutionContext;
use crate::domain::{Observation, Timestamp};

impl ExecutionContext {
    /// Whether the failures in `observations` since `start` are due to the isolation of this location.
    pub(super) async fn failed_due_to_isolation(
        &self,
        assignment: &Assignment,
        observations: &[Observation],
        start: Timestamp,
        cancel: &CancellationToken,
    ) -> bool {
        let Some(connectivity) =
            self.connectivity_detector.as_ref().filter(|_| !targets_loopback(assignment, observations))
        else {
            return false;
        };
        tokio::select! {
            isolated = connectivity.was_isolated_since(start) => isolated,
            () = cancel.cancelled() => false,
        }
    }
}

/// Whether the target is this host, which needs no network.
fn targets_loopback(assignment: &Assignment, observations: &[Observation]) -> bool {
    if let Some(address) = observations.iter().rev().find_map(|observation| observation.address) {
        return address.ip().to_canonical().is_loopback();
    }
    let target_host = assignment.probe.target_host().unwrap_or_default();
    let is_localhost = target_host == "localhost" || target_host.ends_with(".localhost");
    is_localhost || target_host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}
