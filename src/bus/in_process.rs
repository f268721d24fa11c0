//! The bus within one process: it calls the agents directly and passes values.

use std::sync::{Arc, Weak};

use tokio::sync::OwnedMutexGuard;

use super::contract::{
    AssignmentBatch, AssignmentError, AssignmentRevision, AssignmentSnapshot, AssignmentUpdate, BusFuture,
    CheckOrder, ConnectedLocation, FirstCheckOrder, LocationBus, LocationPort, OrderError, Presence,
    PublishError, RefusedAssignment, SnapshotSource, TracerouteOrder,
};
use crate::domain::{CapturedFile, CheckResult, LocationId};
use crate::sync::RwLock;

/// The agents of this process, one for each location.
#[derive(Default)]
pub struct InProcessBus {
    /// In the order in which they connected.
    connections: RwLock<Vec<Arc<Connection>>>,
    snapshot_source: RwLock<Option<Weak<dyn SnapshotSource>>>,
}

/// The connection of an agent. Its revisions start when it connects, with nothing assigned.
struct Connection {
    connected: ConnectedLocation,
    port: Arc<dyn LocationPort>,
    /// The last revision that was published. Locked while a batch is applied, so that batches keep their order.
    last_revision: Arc<tokio::sync::Mutex<AssignmentRevision>>,
}

impl InProcessBus {
    /// Disconnects the agents of the locations `removed`, and connects new ones, to which nothing is assigned yet.
    pub fn replace(&self, removed: &[LocationId], added: Vec<(ConnectedLocation, Arc<dyn LocationPort>)>) {
        let mut connections = self.connections.write();
        connections.retain(|connection| !removed.contains(&connection.connected.location.id));
        connections.extend(added.into_iter().map(|(connected, port)| {
            let last_revision = Arc::default();
            Arc::new(Connection { connected, port, last_revision })
        }));
    }

    /// Sets what supplies the snapshots.
    pub fn set_snapshot_source(&self, source: Weak<dyn SnapshotSource>) {
        *self.snapshot_source.write() = Some(source);
    }

    fn connection(&self, location: LocationId) -> Option<Arc<Connection>> {
        let connections = self.connections.read();
        connections.iter().find(|connection| connection.connected.location.id == location).cloned()
    }

    fn port(&self, location: LocationId) -> Result<Arc<dyn LocationPort>, OrderError> {
        let connection = self.connection(location).ok_or(OrderError::LocationOffline)?;
        Ok(Arc::clone(&connection.port))
    }

    async fn publish_updates(
        &self,
        location: LocationId,
        updates: Vec<AssignmentUpdate>,
    ) -> Result<Vec<RefusedAssignment>, PublishError> {
        let connection = self.connection(location).ok_or(PublishError::LocationOffline)?;
        let last_revision = Arc::clone(&connection.last_revision).lock_owned().await;
        let snapshot_source = self.snapshot_source.read().clone();
        // A task of its own: what a caller that gives up has begun to publish is applied whole.
        let task = tokio::spawn(connection.apply(last_revision, updates, snapshot_source));
        match task.await {
            Ok(applied) => applied,
            Err(error) => match error.try_into_panic() {
                Ok(payload) => std::panic::resume_unwind(payload),
                // The runtime shuts down.
                Err(_) => Err(PublishError::Stopped),
            },
        }
    }
}

impl Connection {
    /// Has the agent apply `updates` as the revision after `last_revision`, from a snapshot when it missed changes.
    async fn apply(
        self: Arc<Self>,
        mut last_revision: OwnedMutexGuard<AssignmentRevision>,
        updates: Vec<AssignmentUpdate>,
        snapshot_source: Option<Weak<dyn SnapshotSource>>,
    ) -> Result<Vec<RefusedAssignment>, PublishError> {
        let location_id = self.connected.location.id;
        let previous_revision = *last_revision;
        // Counted before it is applied: if that panics, the next one finds the gap.
        *last_revision = previous_revision.next();
        let batch = AssignmentBatch { previous_revision, revision: *last_revision, updates };
        let mut refused = Vec::new();
        let applied = self.port.presence().ok_or(PublishError::Stopped)?.assignment_revision;
        if applied != previous_revision {
            tracing::warn!(
                location_id = location_id.0,
                applied = applied.0,
                published = previous_revision.0,
                "the location missed changes and starts again from a snapshot"
            );
            let source = snapshot_source.as_ref().and_then(Weak::upgrade).ok_or(PublishError::NoSnapshot)?;
            let updates = source.snapshot(location_id).await;
            let snapshot = AssignmentSnapshot { revision: previous_revision, updates };
            refused = self.port.apply_snapshot(snapshot).await.map_err(to_publish_error)?;
        }
        refused.extend(self.port.apply_batch(batch).await.map_err(to_publish_error)?);
        Ok(refused)
    }
}

fn to_publish_error(error: AssignmentError) -> PublishError {
    match error {
        AssignmentError::MissedRevisions { .. } => PublishError::NoSnapshot,
        AssignmentError::Stopped => PublishError::Stopped,
    }
}

impl LocationBus for InProcessBus {
    fn locations(&self) -> Arc<[ConnectedLocation]> {
        self.connections.read().iter().map(|connection| connection.connected.clone()).collect()
    }

    fn publish(
        &self,
        location: LocationId,
        updates: Vec<AssignmentUpdate>,
    ) -> BusFuture<'_, Result<Vec<RefusedAssignment>, PublishError>> {
        Box::pin(self.publish_updates(location, updates))
    }

    fn check(
        &self,
        location: LocationId,
        order: CheckOrder,
    ) -> BusFuture<'_, Result<CheckResult, OrderError>> {
        Box::pin(async move { self.port(location)?.check(order).await })
    }

    fn first_check(
        &self,
        location: LocationId,
        order: FirstCheckOrder,
    ) -> BusFuture<'_, Result<bool, OrderError>> {
        Box::pin(async move { self.port(location)?.first_check(order).await })
    }

    fn traceroute(
        &self,
        location: LocationId,
        order: TracerouteOrder,
    ) -> BusFuture<'_, Result<CapturedFile, OrderError>> {
        Box::pin(async move { self.port(location)?.traceroute(order).await })
    }

    fn presence(&self, location: LocationId) -> Option<Presence> {
        self.connection(location)?.port.presence()
    }
}
