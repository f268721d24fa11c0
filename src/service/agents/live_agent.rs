//! Agents as their heartbeats show them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bus::contract::Presence;
use crate::domain::{AgentId, LocationId, Timestamp};

/// An agent that sent a heartbeat.
#[derive(Clone, Debug)]
pub struct LiveAgent {
    /// Its last heartbeat.
    pub presence: Presence,
    /// When it came, by the clock of the control plane.
    pub last_seen_at: Timestamp,
    /// Whether heartbeats come.
    pub is_online: bool,
}

/// Agents by location and id.
pub type LiveAgents = BTreeMap<(LocationId, AgentId), LiveAgent>;

/// Returns all agents that sent a heartbeat lately.
pub type LiveAgentLookup = Arc<dyn Fn() -> LiveAgents + Send + Sync>;
