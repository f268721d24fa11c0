//! What is published for a location: so much of each entry that a change is found, and a result is checked.

use std::collections::{HashMap, HashSet};

use aws_lc_rs::digest::{Context, SHA256};
use prost::Message;

use super::entry_key::EntryKey;
use crate::bus::contract::{AssignedCertificate, AssignmentUpdate};
use crate::bus::messages::{AssignmentUpdateMessage, Sealer, UpdateKind};
use crate::domain::{CustomerId, MonitorId, Revision};

/// An entry as it was published last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PublishedEntry {
    /// Hash of what was published, with the key in place of what it sealed: that differs each time.
    digest: u64,
    /// Revision of a monitor; 0 for what else.
    revision: Revision,
    /// Whether the monitor is not assigned any more. Kept, since its last results may still come.
    is_removed: bool,
}

/// The entries of a location.
#[derive(Debug, Default)]
pub(super) struct PublishedEntries {
    entries: HashMap<EntryKey, PublishedEntry>,
    /// Accounts with an assigned monitor: the location needs to know about no others.
    customers: HashSet<CustomerId>,
}

/// Why a result is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ResultRefusal {
    #[error("the monitor {0} is not assigned to the location")]
    NotAssigned(MonitorId),
    #[error("the monitor {0} has no revision {1} yet")]
    UnknownRevision(MonitorId, Revision),
}

impl PublishedEntries {
    /// Returns the key of an update; `None` for one that this location need not get.
    pub(super) fn key_if_needed(&self, update: &AssignmentUpdate) -> Option<EntryKey> {
        let key = key_of(update);
        let is_needed = match update {
            AssignmentUpdate::Unassign { .. } => {
                self.entries.get(&key).is_some_and(|entry| !entry.is_removed)
            }
            AssignmentUpdate::SetAccount(account) => self.customers.contains(&account.customer_id),
            AssignmentUpdate::Assign(_)
            | AssignmentUpdate::SetCertificates(_)
            | AssignmentUpdate::SetMembers(_) => true,
        };
        is_needed.then_some(key)
    }

    /// Adds an account to those that the location needs to know; returns whether it is new.
    pub(super) fn add_customer(&mut self, customer: CustomerId) -> bool {
        self.customers.insert(customer)
    }

    /// Whether the location has to know about an account.
    pub(super) fn needs_customer(&self, customer: CustomerId) -> bool {
        self.customers.contains(&customer)
    }

    /// Whether exactly what has this digest is published for `key`.
    pub(super) fn is_published(&self, key: EntryKey, digest: u64) -> bool {
        digest != 0 && self.entries.get(&key).is_some_and(|entry| entry.digest == digest)
    }

    /// Records what is published, with its digest.
    pub(super) fn record(&mut self, message: &AssignmentUpdateMessage, digest: u64) {
        let Some(key) = key_of_message(message) else { return };
        let (revision, is_removed) = match &message.update {
            Some(UpdateKind::Assign(assigned)) => {
                self.customers.insert(CustomerId(assigned.customer_id));
                (Revision(assigned.revision), false)
            }
            Some(UpdateKind::Unassign(_)) => {
                let before = self.entries.get(&key).map_or(Revision(i64::MAX), |entry| entry.revision);
                (before, true)
            }
            _ => (Revision(0), false),
        };
        self.entries.insert(key, PublishedEntry { digest, revision, is_removed });
    }

    /// Records what the bus has, oldest first.
    pub(super) fn record_stored(&mut self, messages: &[AssignmentUpdateMessage], sealer: &dyn Sealer) {
        for message in messages {
            self.record(message, digest(message, None, sealer));
        }
    }

    /// Returns the assigned monitors that are not among `kept`.
    pub(super) fn monitors_except(&self, kept: &HashSet<EntryKey>) -> Vec<MonitorId> {
        let assigned = self.entries.iter().filter(|(key, entry)| !entry.is_removed && !kept.contains(key));
        let mut monitors: Vec<_> = assigned
            .filter_map(|(key, _)| match key {
                EntryKey::Monitor(monitor_id) => Some(*monitor_id),
                _ => None,
            })
            .collect();
        monitors.sort_unstable();
        monitors
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Checks that a result of `monitor_id` at `revision` can come from this location.
    pub(super) fn check_result(
        &self,
        monitor_id: MonitorId,
        revision: Revision,
    ) -> Result<(), ResultRefusal> {
        let entry = self.entries.get(&EntryKey::Monitor(monitor_id));
        let entry = entry.ok_or(ResultRefusal::NotAssigned(monitor_id))?;
        if revision > entry.revision {
            return Err(ResultRefusal::UnknownRevision(monitor_id, revision));
        }
        Ok(())
    }
}

pub(super) fn key_of(update: &AssignmentUpdate) -> EntryKey {
    match update {
        AssignmentUpdate::Assign(assigned) => EntryKey::Monitor(assigned.monitor.id),
        AssignmentUpdate::Unassign { monitor_id, .. } => EntryKey::Monitor(*monitor_id),
        AssignmentUpdate::SetAccount(account) => EntryKey::Account(account.customer_id),
        AssignmentUpdate::SetCertificates(_) => EntryKey::Certificates,
        AssignmentUpdate::SetMembers(_) => EntryKey::Members,
    }
}

/// Returns the key of an encoded update; `None` for one of a newer version.
pub(super) fn key_of_message(message: &AssignmentUpdateMessage) -> Option<EntryKey> {
    Some(match message.update.as_ref()? {
        UpdateKind::Assign(assigned) => EntryKey::Monitor(MonitorId(assigned.monitor_id)),
        UpdateKind::Unassign(unassign) => EntryKey::Monitor(MonitorId(unassign.monitor_id)),
        UpdateKind::Account(account) => EntryKey::Account(CustomerId(account.customer_id)),
        UpdateKind::Certificates(_) => EntryKey::Certificates,
        UpdateKind::Members(_) => EntryKey::Members,
    })
}

/// Returns a hash of an update, stable over versions and machines, with the number of the key in place of what it sealed;
/// 0 when it must be published anyway. A change of a monitor's secrets changes its revision. `certificates` are those of
/// the update: another key of one may change nothing else.
pub(super) fn digest(
    message: &AssignmentUpdateMessage,
    certificates: Option<&[AssignedCertificate]>,
    sealer: &dyn Sealer,
) -> u64 {
    let mut context = Context::new(&SHA256);
    let mut open = message.clone();
    match &mut open.update {
        Some(UpdateKind::Assign(assigned)) => {
            if let Some(sealed) = assigned.sealed_secrets.take() {
                context.update(&sealer.sealing_key(&sealed).to_le_bytes());
            }
        }
        Some(UpdateKind::Certificates(all)) => {
            let Some(certificates) = certificates else { return 0 };
            for certificate in certificates {
                context.update(&certificate.pem);
            }
            for certificate in &mut all.certificates {
                certificate.sealed_pem.clear();
            }
        }
        _ => {}
    }
    context.update(&open.encode_to_vec());
    let hash = context.finish();
    let head = hash.as_ref().first_chunk().copied().unwrap_or_default();
    u64::from_le_bytes(head).max(1)
}
