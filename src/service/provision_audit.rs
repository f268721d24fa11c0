//! Audit entries of changes by monitor files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::domain::{MonitorId, Timestamp};
use crate::schema::Monitor;
use crate::service::monitors::{changed_document_fields, created_fields, removed_fields};
use crate::store::{AuditEntryByIndex, AuditObject, NewAuditEntry};

/// The data that the audit entries of a provisioning are built from.
pub(super) struct ProvisionAudit<'a> {
    /// The file of each monitor.
    pub(super) file_names: HashMap<MonitorId, Arc<str>>,
    /// The monitors as they were stored, without secrets.
    pub(super) stored: &'a [Monitor],
    /// The file monitors of the previous provisioning in this process, with secrets; empty for the first.
    pub(super) running_monitors: &'a [Monitor],
}

/// The change of one monitor.
enum ProvisionedChange {
    Created(Monitor),
    /// The old and the new revision.
    Changed(Box<(Monitor, Monitor)>),
    Removed(Monitor),
}

impl ProvisionAudit<'_> {
    /// Returns one entry for each monitor: the upserted ones first, then the removed ones.
    pub(super) fn into_audit_entries(
        self,
        upserts: &[Monitor],
        removed: &[MonitorId],
        now: Timestamp,
    ) -> AuditEntryByIndex {
        let mut old_monitors: HashMap<_, _> =
            self.stored.iter().map(|monitor| (monitor.id, monitor)).collect();
        let mut ids_with_secrets = HashSet::new();
        for running_monitor in self.running_monitors {
            // Unlike the stored monitor, it has its secrets, so that changed secrets are detected.
            if let Some(old_monitor) = old_monitors.get_mut(&running_monitor.id) {
                *old_monitor = running_monitor;
                ids_with_secrets.insert(running_monitor.id);
            }
        }
        let to_change = |new: &Monitor| match old_monitors.get(&new.id) {
            None => ProvisionedChange::Created(new.clone()),
            Some(old) if ids_with_secrets.contains(&new.id) => {
                ProvisionedChange::Changed(Box::new(((*old).clone(), new.clone())))
            }
            // The old secrets are unknown before the first provisioning of a process: they count as unchanged.
            Some(old) => ProvisionedChange::Changed(Box::new(((*old).clone(), without_secrets(new)))),
        };
        let upserts = upserts.iter().map(to_change);
        let removals = removed
            .iter()
            .filter_map(|id| old_monitors.get(id))
            .map(|old| ProvisionedChange::Removed((*old).clone()));
        let changes: Vec<_> = upserts.chain(removals).collect();
        let file_names = self.file_names;
        Box::new(move |index| changes.get(index).map(|change| change.to_audit_entry(&file_names, now)))
    }
}

fn without_secrets(monitor: &Monitor) -> Monitor {
    let document = monitor.document.without_secrets();
    Monitor { document: Arc::new(document), ..monitor.clone() }
}

impl ProvisionedChange {
    fn to_audit_entry(&self, file_names: &HashMap<MonitorId, Arc<str>>, now: Timestamp) -> NewAuditEntry {
        let (action, monitor, before, after) = match self {
            Self::Created(new) => ("create", new, Map::new(), created_fields(&new.document)),
            Self::Changed(old_and_new) => {
                let (old, new) = old_and_new.as_ref();
                let (before, after) = changed_fields(old, new);
                ("change", new, before, after)
            }
            Self::Removed(old) => ("delete", old, removed_fields(&old.document), Map::new()),
        };
        NewAuditEntry {
            customer: monitor.customer,
            occurred_at: now,
            login: file_names
                .get(&monitor.id)
                .map_or_else(|| "file".to_owned(), |file| format!("file {file}")),
            address: String::new(),
            entry_point: "file",
            action,
            object_kind: "monitor",
            object_id: AuditObject::Id(monitor.id.0),
            object_name: monitor.name().to_owned(),
            before,
            after,
        }
    }
}

/// Returns the differing fields, with `type`: a monitor in a file can keep its key and change its type.
fn changed_fields(old: &Monitor, new: &Monitor) -> (Map<String, Value>, Map<String, Value>) {
    let (mut before, mut after) = changed_document_fields(&old.document, &new.document);
    if old.monitor_type() != new.monitor_type() {
        before.insert("type".to_owned(), json!(old.monitor_type().name()));
        after.insert("type".to_owned(), json!(new.monitor_type().name()));
    }
    (before, after)
}
