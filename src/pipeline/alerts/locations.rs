//! The locations: who is away, and who looks at a failure of others.

use std::sync::Arc;
use std::time::Duration;

use crate::alerting::AlertPolicy;
use crate::catalog::AccountFacts;
use crate::domain::{CheckId, LocationId, Timestamp};
use crate::pipeline::planner::{AgentStatus, Planner};

/// Time between two looks at the agents.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Every location, with whether an agent is there.
pub(super) struct Locations {
    planner: Arc<dyn Planner>,
    agents: Vec<AgentStatus>,
    away: Vec<LocationId>,
    refreshed_at: Option<Timestamp>,
}

impl Locations {
    pub(super) fn new(planner: Arc<dyn Planner>) -> Self {
        Self { planner, agents: Vec::new(), away: Vec::new(), refreshed_at: None }
    }

    /// Looks again when the last look is a second old, or the clock was set back.
    pub(super) fn refresh(&mut self, now: Timestamp) {
        if self.refreshed_at.is_some_and(|at| now >= at && now.since(at) < REFRESH_INTERVAL) {
            return;
        }
        self.refreshed_at = Some(now);
        self.agents = self.planner.agent_statuses();
        self.away =
            self.agents.iter().filter(|agent| !agent.is_alive).map(|agent| agent.location.id).collect();
    }

    /// Locations without a live agent.
    pub(super) fn offline(&self) -> &[LocationId] {
        &self.away
    }

    /// Name of a location; empty when it is not known.
    pub(super) fn name(&self, id: LocationId) -> &str {
        let agent = self.agents.iter().find(|agent| agent.location.id == id);
        agent.map_or("", |agent| agent.location.name.as_str())
    }

    /// The location that looks at the failure of `check`: alive, of the monitor's pool or one that verifies, outside
    /// of `failed`, preferably in another region than `of` (behaviour.md 5). Where several are as good, the check
    /// decides, so that they share the work.
    pub(super) fn select_verifier(
        &self,
        policy: &AlertPolicy,
        facts: &AccountFacts,
        failed: &[LocationId],
        (of, check): (LocationId, CheckId),
    ) -> Option<LocationId> {
        let region =
            |id| self.agents.iter().find(|agent| agent.location.id == id).map(|agent| agent.location.region);
        let home = region(of);
        let may = |agent: &&AgentStatus| {
            let id = agent.location.id;
            let of_pool = policy.run_plan.pool.contains(&id);
            let verifies = agent.can_verify && facts.locations.contains_key(&id.0);
            agent.is_alive && id != of && !failed.contains(&id) && (of_pool || verifies)
        };
        let mut fit: Vec<&AgentStatus> = self.agents.iter().filter(may).collect();
        let same_region = |agent: &&AgentStatus| home == Some(agent.location.region);
        if !fit.iter().all(same_region) {
            fit.retain(|agent| !same_region(agent));
        }
        let turn = usize::try_from(check.0 % fit.len().max(1) as u64).unwrap_or_default();
        fit.get(turn).map(|agent| agent.location.id)
    }
}
