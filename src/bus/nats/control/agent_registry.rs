//! The agents as their heartbeats show them, timed by the clock of the control plane.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::bus::contract::{BusEvent, BusEventKind, Presence};
use crate::domain::{AgentId, LocationId, Timestamp};
use crate::schedule::{LocationMember, LocationMembers};

/// An agent without a heartbeat for so long is offline: three heartbeats are missing.
pub(super) const OFFLINE_AFTER: Duration = Duration::from_secs(15);
/// So long after its last heartbeat, a further one than the next is missing.
const SILENT_AFTER: Duration = Duration::from_secs(11);
/// An agent is forgotten after so long without a heartbeat.
const FORGET_AFTER: Duration = Duration::from_hours(24);
/// How long after its publishing a change of the members takes effect, so that every agent knows it by then.
const EFFECTIVE_AFTER: Duration = Duration::from_secs(3);
/// A clock that is off by more is an event.
const MAX_CLOCK_OFFSET_US: u64 = 500_000;

/// An agent that sent a heartbeat.
#[derive(Clone, Debug)]
pub struct RegisteredAgent {
    /// Its last heartbeat.
    pub presence: Presence,
    /// When it came, by the clock of the control plane.
    pub last_seen_at: Timestamp,
    /// Whether heartbeats come.
    pub is_online: bool,
    last_seen: Instant,
    is_clock_off: bool,
}

/// The agents of all locations.
#[derive(Debug, Default)]
pub(super) struct AgentRegistry {
    agents: BTreeMap<(LocationId, AgentId), RegisteredAgent>,
}

impl AgentRegistry {
    /// Records a heartbeat; returns what happened with it.
    pub(super) fn record(
        &mut self,
        sender: (LocationId, AgentId),
        presence: Presence,
        (now, last_seen_at): (Instant, Timestamp),
    ) -> Vec<BusEventKind> {
        let is_clock_off =
            presence.clock_offset_us.is_some_and(|offset| offset.unsigned_abs() > MAX_CLOCK_OFFSET_US);
        let agent = RegisteredAgent { presence, last_seen_at, is_online: true, last_seen: now, is_clock_off };
        let mut events = Vec::new();
        let (version, spool) = (agent.presence.version.clone(), agent.presence.spool);
        match self.agents.insert(sender, agent) {
            None => events.push(BusEventKind::Online(version)),
            Some(before) => {
                if !before.is_online {
                    events.push(BusEventKind::Online(version.clone()));
                }
                if before.presence.version != version {
                    events.push(BusEventKind::VersionChanged { old: before.presence.version, new: version });
                }
                // They count from the start of the agent.
                let results = spool.dropped_results.saturating_sub(before.presence.spool.dropped_results);
                let captures = spool.dropped_captures.saturating_sub(before.presence.spool.dropped_captures);
                if results > 0 || captures > 0 {
                    events.push(BusEventKind::SpoolDropped { results, captures });
                }
                if is_clock_off && before.is_clock_off {
                    return events;
                }
            }
        }
        if is_clock_off && let Some(offset) = self.agents[&sender].presence.clock_offset_us {
            events.push(BusEventKind::ClockOff(offset));
        }
        events
    }

    /// Marks agents without a heartbeat as offline; returns an event for each.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<BusEvent> {
        let mut events = Vec::new();
        self.agents.retain(|_, agent| now.duration_since(agent.last_seen) < FORGET_AFTER);
        for ((location_id, agent_id), agent) in &mut self.agents {
            if agent.is_online && now.duration_since(agent.last_seen) >= OFFLINE_AFTER {
                agent.is_online = false;
                let (location_id, agent_id) = (*location_id, *agent_id);
                events.push(BusEvent { location_id, agent_id, kind: BusEventKind::Offline });
            }
        }
        events
    }

    /// Forgets an agent that was revoked.
    pub(super) fn remove(&mut self, location: LocationId, agent: AgentId) {
        self.agents.remove(&(location, agent));
    }

    /// Returns every agent, by location and id.
    pub(super) fn all(&self) -> Vec<((LocationId, AgentId), RegisteredAgent)> {
        self.agents.iter().map(|(key, agent)| (*key, agent.clone())).collect()
    }

    /// Returns the agents of `location` that are online.
    pub(super) fn online(&self, location: LocationId) -> impl Iterator<Item = (AgentId, &RegisteredAgent)> {
        let of_location = self.agents.range((location, AgentId(i64::MIN))..=(location, AgentId(i64::MAX)));
        of_location.filter(|(_, agent)| agent.is_online).map(|((_, id), agent)| (*id, agent))
    }

    /// Whether two heartbeats of an agent are missing, which may be gone then.
    pub(super) fn is_silent(&self, agent: (LocationId, AgentId), now: Instant) -> bool {
        self.agents.get(&agent).is_none_or(|agent| now.duration_since(agent.last_seen) >= SILENT_AFTER)
    }

    /// Returns the agents of `location` that are online and not shutting down, by ascending id.
    pub(super) fn ready_members(&self, location: LocationId) -> Vec<LocationMember> {
        let staying = self.online(location).filter(|(_, agent)| !agent.presence.is_draining);
        staying.map(|(agent_id, agent)| LocationMember { agent_id, weight: agent.presence.weight }).collect()
    }

    /// Returns the revision that every agent of `location` which is online has applied.
    pub(super) fn applied_everywhere(&self, location: LocationId) -> u64 {
        let applied = self.online(location).map(|(_, agent)| agent.presence.assignment_revision.0);
        applied.min().unwrap_or(u64::MAX)
    }

    /// Returns the members that `location` should have, when they differ from `current`. The last members stay when all
    /// agents are gone: one that is only cut off goes on.
    pub(super) fn changed_members(
        &self,
        location: LocationId,
        current: Option<&LocationMembers>,
        now: Timestamp,
    ) -> Option<LocationMembers> {
        let members = self.ready_members(location);
        if members.is_empty() || current.is_some_and(|current| current.members == members) {
            return None;
        }
        Some(LocationMembers { effective_at: now + EFFECTIVE_AFTER, members })
    }
}
