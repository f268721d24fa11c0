//! What the parts of the bus share, and the operations that several of them need.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use tokio::sync::{Notify, Semaphore};

use super::agent_registry::AgentRegistry;
use super::assignment_bucket::AssignmentBucket;
use super::location_assignments::{LocationAssignments, PublishContext};
use super::publish_permission::PublishPermission;
use super::timeline::Timeline;
use crate::bus::contract::{
    AssignedCertificate, AssignmentUpdate, BusEvent, BusEventKind, BusEventSink, ConnectedLocation,
    OrderError, PublishError, RefusedAssignment, ReportedStateSource, ResultReceiver, SnapshotSource,
};
use crate::bus::messages::Sealer;
use crate::bus::nats::connection::{NatsConnection, NatsError};
use crate::clock::Clock;
use crate::domain::{AgentId, CheckResult, LocationId};
use crate::sync::{Mutex, RwLock};

/// A location with agents on other hosts.
#[derive(Clone)]
pub struct RemoteLocation {
    /// The location.
    pub connected: ConnectedLocation,
    /// Seals for its agents.
    pub sealer: Arc<dyn Sealer>,
}

/// What the parts of the bus share.
pub(super) struct ControlParts {
    pub(super) connection: NatsConnection,
    pub(super) receiver: Arc<dyn ResultReceiver>,
    pub(super) may_publish: PublishPermission,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) registry: Mutex<AgentRegistry>,
    pub(super) timeline: Timeline,
    /// Wakes what compares the locations with what is published.
    pub(super) wake_reconcile: Notify,
    pub(super) events: Arc<dyn BusEventSink>,
    /// `None` before it was opened first.
    pub(super) bucket: RwLock<Option<AssignmentBucket>>,
    pub(super) locations: RwLock<BTreeMap<LocationId, Arc<LocationEntry>>>,
    pub(super) certificates: RwLock<Arc<[AssignedCertificate]>>,
    /// Knows what hosts reported; set when the server is wired.
    pub(super) reported_states: RwLock<Option<Arc<dyn ReportedStateSource>>>,
    pub(super) snapshot_source: RwLock<Option<Weak<dyn SnapshotSource>>>,
    /// Bounds the memory of locations that are compared: a permit for each update.
    pub(super) compared_updates: Semaphore,
}

/// Most updates of the locations that are compared at once, unless a single one has more.
pub(super) const UPDATES_AT_ONCE: u32 = 100_000;

/// A location, and what is published for it.
pub(super) struct LocationEntry {
    pub(super) remote: RemoteLocation,
    /// Locked while something is published, so that changes keep their order.
    pub(super) assignments: Arc<tokio::sync::Mutex<LocationAssignments>>,
}

impl LocationEntry {
    pub(super) fn id(&self) -> LocationId {
        self.remote.connected.location.id
    }
}

impl ControlParts {
    /// Records that something of an agent was refused.
    pub(super) fn refuse(&self, sender: (LocationId, AgentId), reason: String) {
        tracing::warn!(
            location_id = sender.0.0,
            agent_id = sender.1.0,
            reason,
            "a message of an agent was refused"
        );
        self.record_event(sender, BusEventKind::Refused(reason));
    }

    /// Records something that happened with an agent.
    pub(super) fn record_event(&self, (location_id, agent_id): (LocationId, AgentId), kind: BusEventKind) {
        self.events.record(BusEvent { location_id, agent_id, kind });
    }

    /// Returns the bucket of assignments.
    ///
    /// # Errors
    /// Fails before it was opened.
    pub(super) fn bucket(&self) -> Result<AssignmentBucket, NatsError> {
        let missing = || NatsError::of("return the assignments")("it was not reached yet");
        self.bucket.read().clone().ok_or_else(missing)
    }

    /// Whether `bucket` takes the place of another one, whose stream was lost.
    pub(super) fn replaces_bucket(&self, bucket: &AssignmentBucket) -> bool {
        self.bucket.read().as_ref().is_some_and(|current| current.stream_id() != bucket.stream_id())
    }

    /// Sets the bucket when it was opened first, and when its stream was lost.
    pub(super) fn set_bucket(&self, bucket: AssignmentBucket) {
        let mut current = self.bucket.write();
        if current.as_ref().is_none_or(|current| current.stream_id() != bucket.stream_id()) {
            *current = Some(bucket);
        }
    }

    /// Returns all locations.
    pub(super) fn locations(&self) -> Vec<Arc<LocationEntry>> {
        self.locations.read().values().cloned().collect()
    }

    /// Returns a location; `None` when it has no agents on other hosts.
    pub(super) fn location(&self, location: LocationId) -> Option<Arc<LocationEntry>> {
        self.locations.read().get(&location).cloned()
    }

    /// Checks which of `results` can come from `location`; waits until what is published for it is known. The reason for
    /// each that cannot.
    pub(super) async fn check_results(
        &self,
        location: LocationId,
        results: &[CheckResult],
    ) -> Result<Vec<Result<(), String>>, NatsError> {
        let Some(entry) = self.location(location) else {
            let refusal = || Err("a result of a location without agents".to_owned());
            return Ok(results.iter().map(|_| refusal()).collect());
        };
        let mut assignments = entry.assignments.lock().await;
        self.reconcile_if_needed(&entry, &mut assignments).await?;
        let check = |result: &CheckResult| {
            if result.location_id != location {
                return Err(format!("a result of the location {}", result.location_id));
            }
            let checked = assignments.check_result(result.monitor_id, result.revision);
            checked.map_err(|refusal| refusal.to_string())
        };
        Ok(results.iter().map(check).collect())
    }

    /// Returns the revision of the snapshot from which an agent has to start.
    pub(super) async fn snapshot_for(
        &self,
        location: LocationId,
        applied: Option<u64>,
    ) -> Result<Option<u64>, NatsError> {
        let unknown = || NatsError::of("know the location")("it has no agents on other hosts");
        let entry = self.location(location).ok_or_else(unknown)?;
        let mut assignments = entry.assignments.lock().await;
        self.reconcile_if_needed(&entry, &mut assignments).await?;
        Ok(assignments.snapshot_for(applied))
    }

    /// Returns the revision after everything that was published for `location`.
    ///
    /// # Errors
    /// Fails for a location without agents on other hosts, and while the bus cannot be used.
    pub(super) async fn published_revision(&self, location: LocationId) -> Result<u64, OrderError> {
        let entry = self.location(location).ok_or(OrderError::LocationOffline)?;
        let mut assignments = entry.assignments.lock().await;
        let reconciled = self.reconcile_if_needed(&entry, &mut assignments).await;
        reconciled.map_err(|_| OrderError::LocationOffline)?;
        Ok(assignments.last_revision())
    }

    /// Makes a new snapshot in place of the one at `revision`, which an agent found damaged.
    pub(super) async fn replace_snapshot(
        &self,
        location: LocationId,
        revision: u64,
    ) -> Result<(), NatsError> {
        let Some(entry) = self.location(location) else { return Ok(()) };
        let mut assignments = entry.assignments.lock().await;
        self.reconcile_if_needed(&entry, &mut assignments).await?;
        if !assignments.takes_replacement(revision) {
            return Ok(());
        }
        tracing::warn!(
            location_id = location.0,
            revision,
            "an agent found the snapshot of its location damaged; a new one is made"
        );
        let wanted = self.wanted(location).await?;
        let (bucket, certificates) = (self.bucket()?, self.certificates());
        let cx = self.publish_context(&entry, &bucket, &certificates);
        assignments.make_snapshot(&cx, wanted).await
    }

    /// Compares what is published for a location with what it has to check, unless that is known to be the same.
    pub(super) async fn reconcile_if_needed(
        &self,
        entry: &LocationEntry,
        assignments: &mut LocationAssignments,
    ) -> Result<(), NatsError> {
        if assignments.is_reconciled() {
            return Ok(());
        }
        let wanted = self.wanted(entry.id()).await?;
        let count = u32::try_from(wanted.len()).unwrap_or(u32::MAX).min(UPDATES_AT_ONCE);
        // It is never closed.
        let _permit = self.compared_updates.acquire_many(count).await;
        let (bucket, certificates) = (self.bucket()?, self.certificates());
        let cx = self.publish_context(entry, &bucket, &certificates);
        assignments.reconcile(&cx, wanted).await
    }

    /// Returns everything that `location` has to check.
    pub(super) async fn wanted(&self, location: LocationId) -> Result<Vec<AssignmentUpdate>, NatsError> {
        let source = self.snapshot_source.read().clone();
        let source = source.as_ref().and_then(Weak::upgrade);
        let missing = || NatsError::of("get the assignments")("the control plane is starting");
        Ok(source.ok_or_else(missing)?.snapshot(location).await)
    }

    pub(super) fn certificates(&self) -> Arc<[AssignedCertificate]> {
        Arc::clone(&self.certificates.read())
    }

    pub(super) fn publish_context<'a>(
        &'a self,
        entry: &'a LocationEntry,
        bucket: &'a AssignmentBucket,
        certificates: &'a Arc<[AssignedCertificate]>,
    ) -> PublishContext<'a> {
        PublishContext {
            connection: &self.connection,
            bucket,
            sealer: entry.remote.sealer.as_ref(),
            certificates,
            applied_everywhere: self.registry.lock().applied_everywhere(entry.id()),
        }
    }

    /// Publishes `updates`. When that fails, everything of the location is compared later.
    pub(super) async fn publish(
        &self,
        location: LocationId,
        updates: Vec<AssignmentUpdate>,
    ) -> Result<Vec<RefusedAssignment>, PublishError> {
        for update in &updates {
            if let AssignmentUpdate::SetCertificates(certificates) = update {
                *self.certificates.write() = Arc::clone(certificates);
            }
        }
        let entry = self.location(location).ok_or(PublishError::LocationOffline)?;
        let mut assignments = entry.assignments.lock().await;
        // Before it is compared, the change would be lost in what is compared with. It reads the change itself.
        if !assignments.is_reconciled() || !self.connection.is_connected() {
            assignments.invalidate();
            self.wake_reconcile.notify_one();
            return Ok(Vec::new());
        }
        let certificates = self.certificates();
        let published = match self.bucket() {
            Ok(bucket) => {
                let cx = self.publish_context(&entry, &bucket, &certificates);
                assignments.publish(&cx, updates).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = published {
            tracing::warn!(error = %error, location_id = location.0, "assignments were not published; trying again");
            self.wake_reconcile.notify_one();
        }
        Ok(Vec::new())
    }
}
