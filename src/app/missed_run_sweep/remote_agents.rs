//! What a sweep needs to know about agents on other hosts.

use crate::bus::contract::LocationBus;
use crate::bus::nats::NatsBus;
use crate::domain::LocationId;

/// What is known about the agents of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum AgentsState {
    /// None is live.
    Offline,
    /// A live one still has to send results.
    Behind,
    /// The live ones have sent all results.
    UpToDate,
}

/// The locations with agents on other hosts.
pub(in crate::app) trait RemoteAgents: Send + Sync {
    /// Returns their ids.
    fn locations(&self) -> Vec<LocationId>;

    /// Returns what is known about the agents of `location`.
    fn agents_state(&self, location: LocationId) -> AgentsState;
}

impl RemoteAgents for NatsBus {
    fn locations(&self) -> Vec<LocationId> {
        LocationBus::locations(self).iter().map(|connected| connected.location.id).collect()
    }

    fn agents_state(&self, location: LocationId) -> AgentsState {
        if self.presence(location).is_none() {
            AgentsState::Offline
        } else if self.has_backlog(location) {
            AgentsState::Behind
        } else {
            AgentsState::UpToDate
        }
    }
}
