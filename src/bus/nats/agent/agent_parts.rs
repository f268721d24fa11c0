//! Who an agent is, and what the parts of its bus share.

use std::sync::Arc;

use crate::bus::contract::{AppliedPosition, AssignmentStorage, DeliveryReports, LocationPort};
use crate::bus::messages::Sealer;
use crate::bus::nats::connection::NatsConnection;
use crate::clock::Clock;
use crate::domain::{AgentId, LocationId};
use crate::sync::Mutex;

/// Who an agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentIdentity {
    /// Its location.
    pub location_id: LocationId,
    /// Its id.
    pub agent_id: AgentId,
}

/// What the parts of the bus of an agent share.
pub(super) struct AgentParts {
    pub(super) connection: NatsConnection,
    pub(super) identity: AgentIdentity,
    pub(super) port: Arc<dyn LocationPort>,
    pub(super) reports: Arc<dyn DeliveryReports>,
    pub(super) sealer: Arc<dyn Sealer>,
    pub(super) assignment_storage: Arc<dyn AssignmentStorage>,
    pub(super) position: Mutex<AppliedPosition>,
    pub(super) host_clock: Arc<dyn Clock>,
    pub(super) on_clock_offset: Box<dyn Fn(i64) + Send + Sync>,
}
