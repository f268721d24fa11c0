//! Compares monitor files with the stored monitors: which are new, changed or removed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::provision_audit::ProvisionAudit;
use crate::domain::{CustomerId, MonitorId, MonitorType, Revision, Timestamp};
use crate::schema::file_dependencies::add_parents;
use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin, SecretMode};
use crate::store::{MonitorStore, StoreError};

/// A monitor as defined in its file.
#[derive(Clone, Debug)]
pub struct DesiredMonitor {
    /// Its key, unique over all files (behaviour.md 9, monitor files).
    pub key: Arc<str>,
    /// Name of the file, without directories.
    pub file_name: Arc<str>,
    /// Its account.
    pub customer: CustomerId,
    /// Its fields, secrets included.
    pub document: Arc<MonitorDocument>,
    /// Keys of the monitors that it depends on.
    pub parent_keys: Vec<Arc<str>>,
}

/// The monitors of a set of files, compared with the stored ones.
#[derive(Debug, Default)]
pub struct ProvisionPlan {
    /// All monitors of the files, in the files' order, secrets included: the ones to run.
    pub monitors: Vec<Monitor>,
    /// New monitors, and monitors that differ from the running or stored revision.
    pub upserted: Vec<MonitorId>,
    /// Monitors that are no longer in any file.
    pub removed: Vec<MonitorId>,
}

/// Compares `desired` with the stored monitors. Each comes with its id and the newest revision of that id.
///
/// The store has no secrets of files. `running_monitors`, the result of the previous call in this process, reveals
/// whether only a secret changed; such a change is a new revision too.
#[must_use]
pub fn plan_provision(
    desired: Vec<(MonitorId, Revision, DesiredMonitor)>,
    stored: &[Monitor],
    running_monitors: &[Monitor],
    now: Timestamp,
) -> ProvisionPlan {
    let stored: HashMap<_, _> = stored.iter().map(|monitor| (monitor.id, monitor)).collect();
    let running_monitors: HashMap<_, _> =
        running_monitors.iter().map(|monitor| (monitor.id, monitor)).collect();
    let ids: HashSet<MonitorId> = desired.iter().map(|(id, ..)| *id).collect();
    let mut plan = ProvisionPlan::default();
    for (id, last_revision, desired) in desired {
        let unchanged = stored.get(&id).filter(|old| {
            is_unchanged(old, &desired)
                && running_monitors
                    .get(&id)
                    .is_none_or(|running_monitor| running_monitor.document == desired.document)
        });
        let (revision, modified_at) =
            unchanged.map_or((Revision(last_revision.0 + 1), now), |old| (old.revision, old.modified_at));
        if unchanged.is_none() {
            plan.upserted.push(id);
        }
        let metadata = next_metadata(stored.get(&id).copied(), &desired.document, now, unchanged.is_some());
        plan.monitors.push(Monitor {
            id,
            customer: desired.customer,
            origin: Origin::File { key: desired.key },
            revision,
            modified_at,
            document: desired.document,
            metadata,
        });
    }
    let stored_file_monitors =
        stored.values().filter(|monitor| matches!(monitor.origin, Origin::File { .. }));
    plan.removed = stored_file_monitors.map(|monitor| monitor.id).filter(|id| !ids.contains(id)).collect();
    plan.removed.sort_unstable();
    plan
}

/// Returns the metadata of a file's next revision, which keeps the pause and the history of its script.
fn next_metadata(
    old: Option<&Monitor>,
    document: &MonitorDocument,
    now: Timestamp,
    is_unchanged: bool,
) -> Arc<MonitorMetadata> {
    if let Some(old) = old.filter(|_| is_unchanged) {
        return Arc::clone(&old.metadata);
    }
    let mut metadata = match old {
        Some(old) => MonitorMetadata { modified_by: String::new(), ..(*old.metadata).clone() },
        None => MonitorMetadata { created_at: Some(now), ..MonitorMetadata::default() },
    };
    let script = document.script();
    if script.is_some() && old.and_then(|old| old.document.script()) != script {
        metadata.script_created.get_or_insert(now);
        metadata.script_modified = Some(now);
        metadata.script_modified_by = String::new();
    }
    Arc::new(metadata)
}

/// Whether the stored monitor `old` equals the `desired` one, apart from secrets.
fn is_unchanged(old: &Monitor, desired: &DesiredMonitor) -> bool {
    let type_and_fields = |document: &MonitorDocument| -> (MonitorType, _) {
        (document.monitor_type(), document.to_non_default_fields(SecretMode::Omitted))
    };
    old.customer == desired.customer
        && (old.document == desired.document
            || type_and_fields(&old.document) == type_and_fields(&desired.document))
}

/// Updates the store to match the files; returns the monitors to run. `running_monitors` as in [`plan_provision`].
///
/// # Errors
/// Errors of the store. Nothing was changed then, but ids may have been assigned.
pub async fn provision(
    store: &dyn MonitorStore,
    desired: Vec<DesiredMonitor>,
    running_monitors: &[Monitor],
    now: Timestamp,
) -> Result<ProvisionPlan, StoreError> {
    let stored = store.monitors().await?;
    provision_with_stored(store, &stored, desired, running_monitors, now).await
}

/// Like [`provision`], with the `stored` monitors read already.
///
/// # Errors
/// Like [`provision`].
pub async fn provision_with_stored(
    store: &dyn MonitorStore,
    stored: &[Monitor],
    desired: Vec<DesiredMonitor>,
    running_monitors: &[Monitor],
    now: Timestamp,
) -> Result<ProvisionPlan, StoreError> {
    let desired = resolve_parent_keys(assign_ids(store, desired).await?);
    let file_names = desired.iter().map(|(id, desired)| (*id, Arc::clone(&desired.file_name))).collect();
    let last_revisions = store.last_revisions(desired.iter().map(|(id, _)| *id).collect()).await?;
    let desired = desired
        .into_iter()
        .zip(last_revisions)
        .map(|((id, desired), last_revision)| (id, last_revision, desired))
        .collect();
    let plan = plan_provision(desired, stored, running_monitors, now);
    let changed: HashSet<_> = plan.upserted.iter().collect();
    let upserts: Vec<_> = plan.monitors.iter().filter(|m| changed.contains(&m.id)).cloned().collect();
    if !upserts.is_empty() || !plan.removed.is_empty() {
        let audit = ProvisionAudit { file_names, stored, running_monitors };
        let audit_entries = audit.into_audit_entries(&upserts, &plan.removed, now);
        store.apply_monitors(upserts, plan.removed.clone(), audit_entries).await?;
    }
    Ok(plan)
}

/// Sets the ids of the monitors that others depend on. A key that no monitor has is left out: the files were validated.
fn resolve_parent_keys(mut desired: Vec<(MonitorId, DesiredMonitor)>) -> Vec<(MonitorId, DesiredMonitor)> {
    if desired.iter().all(|(_, monitor)| monitor.parent_keys.is_empty()) {
        return desired;
    }
    let ids_by_key: HashMap<(CustomerId, Arc<str>), MonitorId> =
        desired.iter().map(|(id, monitor)| ((monitor.customer, Arc::clone(&monitor.key)), *id)).collect();
    for (_, monitor) in desired.iter_mut().filter(|(_, monitor)| !monitor.parent_keys.is_empty()) {
        let keys = monitor.parent_keys.iter();
        let parents = keys.filter_map(|key| ids_by_key.get(&(monitor.customer, Arc::clone(key))).copied());
        match add_parents(&monitor.document, parents) {
            Ok(document) => monitor.document = Arc::new(document),
            Err(error) => {
                tracing::error!(key = %monitor.key, error = %error, "failed to set what a monitor depends on");
            }
        }
    }
    desired
}

/// Assigns ids to new monitors in the order of the files.
async fn assign_ids(
    store: &dyn MonitorStore,
    desired: Vec<DesiredMonitor>,
) -> Result<Vec<(MonitorId, DesiredMonitor)>, StoreError> {
    let mut keys_by_customer: Vec<(CustomerId, Vec<String>)> = Vec::new();
    for monitor in &desired {
        match keys_by_customer.iter_mut().find(|(customer, _)| *customer == monitor.customer) {
            Some((_, keys)) => keys.push(monitor.key.to_string()),
            None => keys_by_customer.push((monitor.customer, vec![monitor.key.to_string()])),
        }
    }
    let mut ids_by_customer = HashMap::new();
    for (customer, keys) in keys_by_customer {
        let assigned = store.ids_for_file_keys(customer, keys).await?;
        ids_by_customer.insert(customer, assigned.into_iter());
    }
    Ok(desired
        .into_iter()
        .filter_map(|desired| Some((ids_by_customer.get_mut(&desired.customer)?.next()?, desired)))
        .collect())
}
