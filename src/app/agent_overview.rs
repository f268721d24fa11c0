//! Shows the agents on other hosts to the API and in the metrics.

use std::sync::Arc;

use super::combined_bus::CombinedBus;
use crate::bus::nats::RegisteredAgent;
use crate::service::ConfigRecordService;
use crate::service::agents::{LiveAgent, LiveAgents};
use crate::telemetry::{AgentSample, Metrics};

/// Lets `record_service` and `metrics` read the agents of `bus`.
pub(super) fn expose_agents(bus: &Arc<CombinedBus>, record_service: &ConfigRecordService, metrics: &Metrics) {
    let shown_bus = Arc::clone(bus);
    record_service.set_live_agent_lookup(Arc::new(move || live_agents(&shown_bus)));
    let measured_bus = Arc::clone(bus);
    metrics.set_agent_lookup(Arc::new(move || agent_samples(&measured_bus)));
}

fn live_agents(bus: &CombinedBus) -> LiveAgents {
    let agents = bus.remote().map(|remote| remote.agents()).unwrap_or_default();
    let to_live = |RegisteredAgent { presence, last_seen_at, is_online, .. }| LiveAgent {
        presence,
        last_seen_at,
        is_online,
    };
    agents.into_iter().map(|(key, agent)| (key, to_live(agent))).collect()
}

fn agent_samples(bus: &CombinedBus) -> Vec<AgentSample> {
    let to_sample =
        |((location_id, agent_id), LiveAgent { presence, last_seen_at, is_online })| AgentSample {
            location_id,
            agent_id,
            is_online,
            last_seen_at,
            clock_offset_us: presence.clock_offset_us,
            lateness: presence.lateness,
            planned_monitors: presence.load.planned_monitors as u64,
            running_checks: presence.load.running_checks as u64,
            waiting_checks: presence.load.waiting_checks as u64,
            spool_results: presence.spool.results,
            waiting_results: presence.spool.waiting_results,
            spool_bytes: presence.spool.bytes,
            dropped_results: presence.spool.dropped_results,
            dropped_captures: presence.spool.dropped_captures,
        };
    live_agents(bus).into_iter().map(to_sample).collect()
}
