//! Which agents are enrolled, and what their heartbeats show, for one call.

use std::collections::BTreeMap;

use crate::domain::{AgentId, ConfigRecord, ConfigRecordKind, LocationId};
use crate::service::agents::{LiveAgent, LiveAgentLookup, LiveAgents};
use crate::service::caller::ServiceError;
use crate::store::{ConfigRecordFilter, ConfigStore, Pagination};

/// What is known about agents.
#[derive(Default)]
pub(super) struct AgentStates {
    live_agents: LiveAgents,
    /// The agents that may connect.
    enrolled_agents: BTreeMap<LocationId, Vec<AgentId>>,
}

impl AgentStates {
    /// Reads what objects of `kind` show; nothing for kinds other than agents and locations.
    pub(super) async fn load(
        kind: ConfigRecordKind,
        config_store: &dyn ConfigStore,
        live_agent_lookup: Option<LiveAgentLookup>,
    ) -> Result<Self, ServiceError> {
        let mut states = Self::default();
        if !matches!(kind, ConfigRecordKind::Agent | ConfigRecordKind::Location) {
            return Ok(states);
        }
        if let Some(lookup) = live_agent_lookup {
            states.live_agents = lookup();
        }
        if kind == ConfigRecordKind::Location {
            // A shared location shows the same to every account.
            let all_agents = ConfigRecordFilter::new(ConfigRecordKind::Agent);
            let records = config_store.records(all_agents, Pagination::ALL).await?;
            for record in records.items.iter().filter(|record| !is_revoked(record)) {
                let (location_id, agent_id) = agent_key(record);
                states.enrolled_agents.entry(location_id).or_default().push(agent_id);
            }
        }
        Ok(states)
    }

    /// Returns the agent of `record`; `None` without a heartbeat of it lately.
    pub(super) fn live_agent(&self, record: &ConfigRecord) -> Option<&LiveAgent> {
        self.live_agents.get(&agent_key(record))
    }

    /// Returns the numbers of agents of `location_id` that are enrolled, and that are online with connectivity.
    pub(super) fn count_agents(&self, location_id: LocationId) -> (usize, usize) {
        let enrolled = self.enrolled_agents.get(&location_id).map_or(&[][..], Vec::as_slice);
        let is_alive = |agent_id: &&AgentId| {
            let agent = self.live_agents.get(&(location_id, **agent_id));
            agent.is_some_and(|agent| agent.is_online && !agent.presence.is_isolated)
        };
        (enrolled.len(), enrolled.iter().filter(is_alive).count())
    }
}

/// Whether the agent of `record` was revoked.
pub(super) fn is_revoked(record: &ConfigRecord) -> bool {
    record.fields.get("revoked_at").is_some_and(|revoked_at| !revoked_at.is_null())
}

fn agent_key(record: &ConfigRecord) -> (LocationId, AgentId) {
    (LocationId(record.parent_id.unwrap_or_default()), AgentId(record.id))
}
