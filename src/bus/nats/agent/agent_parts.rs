//! Who an agent is, and what the parts of its bus share.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::watch;

use crate::bus::contract::{AppliedPosition, AssignmentStorage, DeliveryReports, LocationPort};
use crate::bus::messages::Sealer;
use crate::bus::nats::connection::NatsConnection;
use crate::clock::Clock;
use crate::domain::{AgentId, LocationId};

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
    pub(super) position: watch::Sender<AppliedPosition>,
    /// The revision of the snapshot that was found damaged; 0 for none.
    pub(super) damaged_snapshot: AtomicU64,
    pub(super) host_clock: Arc<dyn Clock>,
    pub(super) on_clock_offset: Box<dyn Fn(i64) + Send + Sync>,
}
