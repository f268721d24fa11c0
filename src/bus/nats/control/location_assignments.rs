//! The assignments of one location: compares what it has to check with what is published, and publishes the difference.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::assignment_bucket::AssignmentBucket;
use super::entry_key::EntryKey;
use super::published_entries::{PublishedEntries, ResultRefusal, digest, key_of};
use super::snapshot_store::SnapshotStore;
use crate::bus::contract::{AssignedCertificate, AssignmentRevision, AssignmentSnapshot, AssignmentUpdate};
use crate::bus::messages::{
    AssignmentUpdateMessage, Sealer, UpdateKind, encode_snapshot, read_sealed_snapshot,
};
use crate::bus::nats::connection::{NatsConnection, NatsError};
use crate::bus::nats::snapshot_object::SnapshotError;
use crate::domain::{LocationId, MonitorId, Revision};
use crate::schedule::LocationMembers;

/// So many changes at once go into a snapshot rather than into a message each.
const BULK_CHANGES: usize = 2_000;
/// So many do if they are a quarter of the entries too: a snapshot is a few messages for thousands of monitors.
const MIN_BULK_CHANGES: usize = 200;
/// A new snapshot is made after so many changes, or after a quarter of the entries changed.
const MIN_CHANGES_PER_SNAPSHOT: usize = 1_000;
/// Time between two snapshots that are made since an agent found the one before damaged.
const REPLACE_INTERVAL: Duration = Duration::from_mins(1);

/// The assignments of one location as they are published.
pub(super) struct LocationAssignments {
    location: LocationId,
    entries: PublishedEntries,
    /// Whether `entries` are what the bus has. Otherwise everything is compared before the next change.
    is_reconciled: bool,
    /// The agents that share the monitors, as published last.
    members: Option<LocationMembers>,
    /// The revision of the last entry of this location.
    last_revision: u64,
    /// The revision of the snapshot in the object store; `None` without one.
    snapshot_revision: Option<u64>,
    /// The revision of the snapshot before it: agents may still follow from there.
    purge_revision: u64,
    changes_since_snapshot: usize,
    /// When a damaged snapshot was replaced last.
    snapshot_replaced_at: Option<Instant>,
}

/// What the publishing of a location works with.
pub(super) struct PublishContext<'a> {
    pub(super) connection: &'a NatsConnection,
    pub(super) bucket: &'a AssignmentBucket,
    pub(super) sealer: &'a dyn Sealer,
    /// The certificates of all accounts.
    pub(super) certificates: &'a Arc<[AssignedCertificate]>,
    /// The revision that every agent of the location which is online has applied.
    pub(super) applied_everywhere: u64,
}

impl LocationAssignments {
    pub(super) fn new(location: LocationId) -> Self {
        Self {
            location,
            entries: PublishedEntries::default(),
            is_reconciled: false,
            members: None,
            last_revision: 0,
            snapshot_revision: None,
            purge_revision: 0,
            changes_since_snapshot: 0,
            snapshot_replaced_at: None,
        }
    }

    /// Whether what is published is known and complete.
    pub(super) fn is_reconciled(&self) -> bool {
        self.is_reconciled
    }

    /// Returns the revision of the last entry of this location.
    pub(super) fn last_revision(&self) -> u64 {
        self.last_revision
    }

    /// Has everything compared again: a change may not have been published, the stream was lost, or the keys that seal
    /// have changed.
    pub(super) fn invalidate(&mut self) {
        self.is_reconciled = false;
    }

    /// Checks that a result of `monitor_id` at `revision` can come from this location.
    pub(super) fn check_result(
        &self,
        monitor_id: MonitorId,
        revision: Revision,
    ) -> Result<(), ResultRefusal> {
        self.entries.check_result(monitor_id, revision)
    }

    /// Returns the snapshot from which an agent that has applied `applied_revision` of the same stream must start; `None`
    /// when it can go on from there.
    pub(super) fn snapshot_for(&self, applied_revision: Option<u64>) -> Option<u64> {
        let snapshot_revision = self.snapshot_revision?;
        applied_revision.is_none_or(|applied| applied < snapshot_revision).then_some(snapshot_revision)
    }

    /// Compares what is published with `wanted`, which is everything that the location has to check, and publishes the
    /// difference.
    pub(super) async fn reconcile(
        &mut self,
        cx: &PublishContext<'_>,
        wanted: Vec<AssignmentUpdate>,
    ) -> Result<(), NatsError> {
        let is_snapshot_lost = self.read_published(cx).await?;
        let kept: HashSet<EntryKey> = wanted
            .iter()
            .filter_map(|update| match update {
                AssignmentUpdate::Assign(assigned) => Some(EntryKey::Monitor(assigned.monitor.id)),
                _ => None,
            })
            .collect();
        let removed = self.entries.monitors_except(&kept).into_iter();
        let removed =
            removed.map(|monitor_id| AssignmentUpdate::Unassign { monitor_id, cancel_running: true });
        let updates = removed.chain(wanted.iter().cloned()).collect();
        let changes = self.changed_entries(cx, updates)?;
        // Without the old one it is not known which monitors were removed meanwhile: what the new one does not name is.
        if is_snapshot_lost || goes_into_snapshot(changes.len(), self.entries.len()) {
            self.last_revision = cx.bucket.announce_snapshot(self.location).await?;
            let updates = self.needed(cx, wanted);
            // When the snapshot is not written, everything is compared again.
            for (_, message, digest) in &changes {
                self.entries.record(message, *digest);
            }
            let messages = changes.into_iter().map(|(key, message, _)| (key, message)).collect();
            self.write_snapshot(cx, updates, messages).await?;
        } else {
            self.write(cx, changes).await?;
        }
        self.is_reconciled = true;
        Ok(())
    }

    /// Publishes `updates`, as far as they change something.
    pub(super) async fn publish(
        &mut self,
        cx: &PublishContext<'_>,
        updates: Vec<AssignmentUpdate>,
    ) -> Result<(), NatsError> {
        let changes = self.changed_entries(cx, updates)?;
        self.write(cx, changes).await
    }

    /// Returns the agents that share the monitors, as published last; `None` before they were ever published.
    pub(super) fn members(&self) -> Option<&LocationMembers> {
        self.members.as_ref()
    }

    /// Publishes the agents that share the monitors.
    pub(super) async fn set_members(
        &mut self,
        cx: &PublishContext<'_>,
        members: LocationMembers,
    ) -> Result<(), NatsError> {
        self.members = Some(members.clone());
        self.publish(cx, vec![AssignmentUpdate::SetMembers(members)]).await
    }

    /// Whether so much has changed since the last snapshot that a new one should be made.
    pub(super) fn needs_snapshot(&self) -> bool {
        self.is_reconciled
            && self.changes_since_snapshot >= MIN_CHANGES_PER_SNAPSHOT.max(self.entries.len() / 4)
    }

    /// Whether the snapshot at `revision`, which an agent found damaged, is to be replaced now.
    pub(super) fn takes_replacement(&mut self, revision: u64) -> bool {
        let now = Instant::now();
        let is_due = self.snapshot_replaced_at.is_none_or(|at| now.duration_since(at) >= REPLACE_INTERVAL);
        let takes = is_due && self.snapshot_revision == Some(revision);
        if takes {
            self.snapshot_replaced_at = Some(now);
        }
        takes
    }

    /// Stores a snapshot of `wanted`, which is everything that the location has to check and is published.
    pub(super) async fn make_snapshot(
        &mut self,
        cx: &PublishContext<'_>,
        wanted: Vec<AssignmentUpdate>,
    ) -> Result<(), NatsError> {
        let updates = self.needed(cx, wanted);
        self.write_snapshot(cx, updates, HashMap::new()).await
    }

    /// Reads what the bus has: the snapshot, and the entries after it. Returns whether the snapshot is damaged.
    async fn read_published(&mut self, cx: &PublishContext<'_>) -> Result<bool, NatsError> {
        let store = SnapshotStore::open(cx.connection, self.location).await?;
        let mut entries = PublishedEntries::default();
        let (mut snapshot_revision, mut stored, mut is_lost) = (None, Vec::new(), false);
        let read = match store.read().await {
            Ok(bytes) => Some(read_sealed_snapshot(&bytes).map_err(|error| error.to_string())),
            Err(SnapshotError::Missing) => None,
            Err(SnapshotError::Damaged(reason)) => Some(Err(reason)),
            Err(SnapshotError::Bus(error)) => return Err(error),
        };
        if let Some(read) = read {
            match read {
                // Of a stream that was lost, it says nothing about this one.
                Ok((revision, _)) if revision.0 > cx.bucket.last_revision().await? => {}
                Ok((revision, updates)) => {
                    snapshot_revision = Some(revision.0);
                    entries.record_stored(&updates, cx.sealer);
                    stored = updates;
                }
                Err(error) => {
                    is_lost = true;
                    tracing::warn!(
                        error,
                        location_id = self.location.0,
                        "the snapshot of a location cannot be read; a new one is made"
                    );
                }
            }
        }
        let (later, last) = cx.bucket.read_after(self.location, snapshot_revision.unwrap_or(0)).await?;
        self.last_revision = last.or(snapshot_revision).unwrap_or(0);
        self.changes_since_snapshot = later.len();
        self.members = later.iter().chain(&stored).rev().find_map(members_of);
        entries.record_stored(&later, cx.sealer);
        self.purge_revision = 0;
        (self.entries, self.snapshot_revision) = (entries, snapshot_revision);
        Ok(is_lost)
    }

    /// Returns those of `updates` that the location needs and that are not published, with their digests.
    fn changed_entries(
        &mut self,
        cx: &PublishContext<'_>,
        updates: Vec<AssignmentUpdate>,
    ) -> Result<Vec<(EntryKey, AssignmentUpdateMessage, u64)>, NatsError> {
        let mut has_new_customer = false;
        for update in &updates {
            if let AssignmentUpdate::Assign(assigned) = update {
                has_new_customer |= self.entries.add_customer(assigned.monitor.customer);
            }
        }
        let certificates = AssignmentUpdate::SetCertificates(Arc::clone(cx.certificates));
        let updates = updates.into_iter().chain(has_new_customer.then_some(certificates));
        let mut changes = Vec::new();
        for update in updates {
            let Some(key) = self.entries.key_if_needed(&update) else { continue };
            let update = self.for_location(update);
            let certificates = match &update {
                AssignmentUpdate::SetCertificates(certificates) => Some(Arc::clone(certificates)),
                _ => None,
            };
            let message = to_message(&update, cx.sealer)?;
            let digest = digest(&message, certificates.as_deref(), cx.sealer);
            if !self.entries.is_published(key, digest) {
                changes.push((key, message, digest));
            }
        }
        Ok(changes)
    }

    /// Returns those of `updates` that the location needs.
    fn needed(&mut self, cx: &PublishContext<'_>, updates: Vec<AssignmentUpdate>) -> Vec<AssignmentUpdate> {
        let certificates = AssignmentUpdate::SetCertificates(Arc::clone(cx.certificates));
        let without_certificates =
            updates.into_iter().filter(|update| !matches!(update, AssignmentUpdate::SetCertificates(_)));
        let members = self.members.clone().map(AssignmentUpdate::SetMembers);
        let all = without_certificates.chain([certificates]).chain(members);
        let needed: Vec<_> = all.filter(|update| self.entries.key_if_needed(update).is_some()).collect();
        needed.into_iter().map(|update| self.for_location(update)).collect()
    }

    /// Leaves out of certificates those of accounts without a monitor here, and what an agent knows better.
    fn for_location(&self, update: AssignmentUpdate) -> AssignmentUpdate {
        match update {
            AssignmentUpdate::SetCertificates(certificates) => {
                let needed = certificates.iter();
                let needed = needed.filter(|one| self.entries.needs_customer(one.customer_id)).cloned();
                AssignmentUpdate::SetCertificates(needed.collect())
            }
            AssignmentUpdate::Assign(mut assigned) => {
                // They change with every result. The control plane records the runs that no agent reports.
                (assigned.last_planned_at, assigned.last_full_page_at) = (None, None);
                AssignmentUpdate::Assign(assigned)
            }
            other => other,
        }
    }

    async fn write(
        &mut self,
        cx: &PublishContext<'_>,
        changes: Vec<(EntryKey, AssignmentUpdateMessage, u64)>,
    ) -> Result<(), NatsError> {
        let entries = changes.iter().map(|(key, message, _)| (*key, message.clone())).collect();
        match cx.bucket.write(self.location, entries).await {
            Ok(last) => self.last_revision = last.unwrap_or(self.last_revision),
            Err(error) => {
                // What was written of it is found out by comparing.
                self.is_reconciled = false;
                return Err(error);
            }
        }
        self.changes_since_snapshot += changes.len();
        for (_, message, digest) in &changes {
            self.entries.record(message, *digest);
        }
        Ok(())
    }

    /// Stores a snapshot of `updates`. `messages` has those of some of them: to make one takes longer than all else.
    async fn write_snapshot(
        &mut self,
        cx: &PublishContext<'_>,
        updates: Vec<AssignmentUpdate>,
        mut messages: HashMap<EntryKey, AssignmentUpdateMessage>,
    ) -> Result<(), NatsError> {
        let revision = self.last_revision;
        let snapshot = AssignmentSnapshot { revision: AssignmentRevision(revision), updates };
        let mut bytes = Vec::new();
        let message_of = |update: &AssignmentUpdate| {
            messages
                .remove(&key_of(update))
                .map_or_else(|| AssignmentUpdateMessage::from_update(update, cx.sealer), Ok)
        };
        encode_snapshot(&snapshot, message_of, |part| bytes.extend_from_slice(part))
            .map_err(NatsError::of("take a snapshot"))?;
        let store = SnapshotStore::open(cx.connection, self.location).await?;
        cx.bucket.require_permission()?;
        store.write(&bytes).await?;
        // Agents that follow from the snapshot before this one find their messages until they have applied them.
        let purge_revision = self.purge_revision.min(cx.applied_everywhere);
        self.purge_revision = self.snapshot_revision.unwrap_or(0);
        self.snapshot_revision = Some(revision);
        self.changes_since_snapshot = 0;
        if purge_revision > 0 {
            cx.bucket.purge(self.location, purge_revision).await?;
        }
        Ok(())
    }
}

/// Whether so many changes of a location with so many entries go into a snapshot.
fn goes_into_snapshot(changes: usize, entries: usize) -> bool {
    changes >= BULK_CHANGES || (changes >= MIN_BULK_CHANGES && changes * 4 >= entries)
}

/// Returns the members that an update sets.
fn members_of(update: &AssignmentUpdateMessage) -> Option<LocationMembers> {
    match &update.update {
        Some(UpdateKind::Members(members)) => members.clone().into_members().ok(),
        _ => None,
    }
}

fn to_message(update: &AssignmentUpdate, sealer: &dyn Sealer) -> Result<AssignmentUpdateMessage, NatsError> {
    AssignmentUpdateMessage::from_update(update, sealer).map_err(NatsError::of("take an assignment"))
}
