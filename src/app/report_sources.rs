//! Connects checks of hosts with what the server knows of their reports, in this process and over the bus.

use std::sync::Arc;

use crate::bus::contract::{BusFuture, ReportedStateSource};
use crate::bus::nats::{AgentIdentity, NatsConnection, ask_reported_state};
use crate::domain::{LocationId, MonitorId, ReportedState, ReportedStateError};
use crate::probe::{ReportSource, ReportedStateFuture};
use crate::service::hosts::HostService;

/// The reports of the server of this process.
pub(super) struct LocalReports(pub(super) Arc<HostService>);

impl std::fmt::Debug for LocalReports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LocalReports")
    }
}

impl ReportSource for LocalReports {
    fn reported_state(&self, monitor_id: MonitorId) -> ReportedStateFuture<'_> {
        Box::pin(self.0.reported_state(monitor_id))
    }
}

impl ReportedStateSource for LocalReports {
    fn reported_state(
        &self,
        location: LocationId,
        monitor: MonitorId,
    ) -> BusFuture<'_, Result<ReportedState, ReportedStateError>> {
        Box::pin(self.0.reported_state_for_location(location, monitor))
    }
}

/// The reports of the server that an agent on another host is connected to.
pub(super) struct RemoteReports {
    pub(super) connection: NatsConnection,
    pub(super) identity: AgentIdentity,
}

impl std::fmt::Debug for RemoteReports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RemoteReports")
    }
}

impl ReportSource for RemoteReports {
    fn reported_state(&self, monitor_id: MonitorId) -> ReportedStateFuture<'_> {
        Box::pin(ask_reported_state(&self.connection, self.identity, monitor_id))
    }
}
