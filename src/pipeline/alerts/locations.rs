//! Which locations are offline, and which location verifies a failure.

use std::sync::Arc;
use std::time::Duration;

use crate::alerting::AlertPolicy;
use crate::catalog::AccountSnapshot;
use crate::domain::{CheckId, LocationId, Timestamp};
use crate::pipeline::planner::{AgentStatus, Planner};

/// Time between two refreshes of the agents.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The status of the agent of every location, read again each second.
pub(super) struct LocationStatuses {
    planner: Arc<dyn Planner>,
    agents: Vec<AgentStatus>,
    offline_locations: Vec<LocationId>,
    refreshed_at: Option<Timestamp>,
}

impl LocationStatuses {
    pub(super) fn new(planner: Arc<dyn Planner>) -> Self {
        Self { planner, agents: Vec::new(), offline_locations: Vec::new(), refreshed_at: None }
    }

    /// Refreshes when the last refresh is a second old, or the clock was set back.
    pub(super) fn refresh(&mut self, now: Timestamp) {
        if self.refreshed_at.is_some_and(|at| now >= at && now.since(at) < REFRESH_INTERVAL) {
            return;
        }
        self.refreshed_at = Some(now);
        self.agents = self.planner.agent_statuses();
        self.offline_locations =
            self.agents.iter().filter(|agent| !agent.is_alive).map(|agent| agent.location.id).collect();
    }

    /// Returns the locations without a live agent.
    pub(super) fn offline_locations(&self) -> &[LocationId] {
        &self.offline_locations
    }

    /// Returns the name of a location; empty when it is unknown.
    pub(super) fn location_name(&self, id: LocationId) -> &str {
        let agent = self.agents.iter().find(|agent| agent.location.id == id);
        agent.map_or("", |agent| agent.location.name.as_str())
    }

    /// Selects the location to verify a failed check: alive, in the monitor's pool or a verifying one,
    /// not where the run failed, preferably in another region (behaviour.md 5). Among equals, the check's id decides,
    /// so that they share the load.
    pub(super) fn select_verifying_location(
        &self,
        policy: &AlertPolicy,
        account: &AccountSnapshot,
        failed_locations: &[LocationId],
        (failed_location, failed_check): (LocationId, CheckId),
    ) -> Option<LocationId> {
        let region_of = |id| {
            self.agents.iter().find(|agent| agent.location.id == id).map(|agent| agent.location.region_code)
        };
        let failed_region = region_of(failed_location);
        let is_eligible = |agent: &&AgentStatus| {
            let id = agent.location.id;
            let is_in_pool = policy.run_plan.location_pool.contains(&id);
            let may_verify = agent.can_verify && account.locations.contains_key(&id.0);
            agent.is_alive
                && id != failed_location
                && !failed_locations.contains(&id)
                && (is_in_pool || may_verify)
        };
        let mut candidates: Vec<&AgentStatus> = self.agents.iter().filter(is_eligible).collect();
        let is_in_failed_region = |agent: &&AgentStatus| failed_region == Some(agent.location.region_code);
        if !candidates.iter().all(is_in_failed_region) {
            candidates.retain(|agent| !is_in_failed_region(agent));
        }
        let index = usize::try_from(failed_check.0 % candidates.len().max(1) as u64).unwrap_or_default();
        candidates.get(index).map(|agent| agent.location.id)
    }
}
