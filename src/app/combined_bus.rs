//! The bus to all locations: those of this process, and those with agents on other hosts.

use std::sync::Arc;

use crate::bus::InProcessBus;
use crate::bus::contract::{
    AssignmentUpdate, BusFuture, CheckOrder, ConnectedLocation, FirstCheckOrder, LocationBus, OrderError,
    Presence, PublishError, RefusedAssignment, TracerouteOrder,
};
use crate::bus::nats::NatsBus;
use crate::domain::{CapturedFile, CheckResult, LocationId};
use crate::sync::RwLock;

/// The bus to all locations.
pub(super) struct CombinedBus {
    local: Arc<InProcessBus>,
    /// `None` without agents on other hosts.
    remote: RwLock<Option<Arc<NatsBus>>>,
}

impl CombinedBus {
    /// Creates the bus over the locations of this process.
    pub(super) fn new(local: Arc<InProcessBus>) -> Self {
        Self { local, remote: RwLock::new(None) }
    }

    /// Returns the locations of this process.
    pub(super) fn local(&self) -> &Arc<InProcessBus> {
        &self.local
    }

    /// Adds the locations with agents on other hosts.
    pub(super) fn set_remote(&self, remote: Arc<NatsBus>) {
        *self.remote.write() = Some(remote);
    }

    /// Returns the bus to agents on other hosts; `None` without one.
    pub(super) fn remote(&self) -> Option<Arc<NatsBus>> {
        self.remote.read().clone()
    }

    /// Returns the bus to `location`.
    fn bus_to(&self, location: LocationId) -> Arc<dyn LocationBus> {
        match self.remote() {
            Some(remote) if remote.has_location(location) => remote,
            _ => self.local.clone(),
        }
    }
}

impl LocationBus for CombinedBus {
    fn locations(&self) -> Arc<[ConnectedLocation]> {
        let local = self.local.locations();
        let Some(remote) = self.remote() else { return local };
        // The settings of this process win over a record with the same id.
        let is_local = |id| local.iter().any(|connected: &ConnectedLocation| connected.location.id == id);
        let remote = remote.locations();
        let remote = remote.iter().filter(|connected| !is_local(connected.location.id));
        local.iter().chain(remote).cloned().collect()
    }

    fn publish(
        &self,
        location: LocationId,
        updates: Vec<AssignmentUpdate>,
    ) -> BusFuture<'_, Result<Vec<RefusedAssignment>, PublishError>> {
        let bus = self.bus_to(location);
        Box::pin(async move { bus.publish(location, updates).await })
    }

    fn check(
        &self,
        location: LocationId,
        order: CheckOrder,
    ) -> BusFuture<'_, Result<CheckResult, OrderError>> {
        let bus = self.bus_to(location);
        Box::pin(async move { bus.check(location, order).await })
    }

    fn first_check(
        &self,
        location: LocationId,
        order: FirstCheckOrder,
    ) -> BusFuture<'_, Result<bool, OrderError>> {
        let bus = self.bus_to(location);
        Box::pin(async move { bus.first_check(location, order).await })
    }

    fn traceroute(
        &self,
        location: LocationId,
        order: TracerouteOrder,
    ) -> BusFuture<'_, Result<CapturedFile, OrderError>> {
        let bus = self.bus_to(location);
        Box::pin(async move { bus.traceroute(location, order).await })
    }

    fn presence(&self, location: LocationId) -> Option<Presence> {
        self.bus_to(location).presence(location)
    }
}
