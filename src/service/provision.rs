//! Monitor files against what is stored: what is new, what changed, what went.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::provision_audit::ProvisionAudit;
use crate::domain::{CustomerId, MonitorId, MonitorType, Revision, Timestamp};
use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin, SecretMode};
use crate::store::{MonitorStore, StoreError};

/// A monitor as its file says.
#[derive(Clone, Debug)]
pub struct DesiredMonitor {
    /// Unique over all files (behaviour.md 9, monitor files).
    pub key: Arc<str>,
    /// Name of the file, without its folders.
    pub file: Arc<str>,
    /// Whose it is.
    pub customer: CustomerId,
    /// Its fields, secrets included.
    pub document: Arc<MonitorDocument>,
}

/// What a set of files makes of the monitors.
#[derive(Debug, Default)]
pub struct ProvisionPlan {
    /// All monitors of the files, in the files' order, secrets included: what is to run.
    pub monitors: Vec<Monitor>,
    /// Those of them that are new or differ from what ran or was stored before.
    pub changed: Vec<MonitorId>,
    /// Those that are in no file any more.
    pub removed: Vec<MonitorId>,
}

/// Compares `wanted`, each with its id and the newest revision that this id ever had, with what is stored.
///
/// The store has no secrets, so that `running`, the outcome of the previous call in this process, tells
/// when nothing but a secret changed; such a change is a new version as well.
#[must_use]
pub fn plan_provision(
    wanted: Vec<(MonitorId, Revision, DesiredMonitor)>,
    stored: &[Monitor],
    running: &[Monitor],
    now: Timestamp,
) -> ProvisionPlan {
    let stored: HashMap<_, _> = stored.iter().map(|monitor| (monitor.id, monitor)).collect();
    let running: HashMap<_, _> = running.iter().map(|monitor| (monitor.id, monitor)).collect();
    let ids: HashSet<MonitorId> = wanted.iter().map(|(id, ..)| *id).collect();
    let mut provision = ProvisionPlan::default();
    for (id, last, wanted) in wanted {
        let same = stored.get(&id).filter(|old| {
            is_unchanged(old, &wanted) && running.get(&id).is_none_or(|ran| ran.document == wanted.document)
        });
        let (revision, modified_at) =
            same.map_or((Revision(last.0 + 1), now), |old| (old.revision, old.modified_at));
        if same.is_none() {
            provision.changed.push(id);
        }
        let metadata = next_authorship(stored.get(&id).copied(), &wanted.document, now, same.is_some());
        provision.monitors.push(Monitor {
            id,
            customer: wanted.customer,
            origin: Origin::File { key: wanted.key },
            revision,
            modified_at,
            document: wanted.document,
            metadata,
        });
    }
    let from_files = stored.values().filter(|monitor| matches!(monitor.origin, Origin::File { .. }));
    provision.removed = from_files.map(|monitor| monitor.id).filter(|id| !ids.contains(id)).collect();
    provision.removed.sort_unstable();
    provision
}

/// The trail of a file's monitor goes on from version to version: it may rest, and its script has a history.
fn next_authorship(
    old: Option<&Monitor>,
    document: &MonitorDocument,
    now: Timestamp,
    same: bool,
) -> Arc<MonitorMetadata> {
    if let Some(old) = old.filter(|_| same) {
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

/// Whether `old`, out of the store, is what `wanted` would be there.
fn is_unchanged(old: &Monitor, desired: &DesiredMonitor) -> bool {
    let comparable = |document: &MonitorDocument| -> (MonitorType, _) {
        (document.monitor_type(), document.to_stored(SecretMode::Omitted))
    };
    old.customer == desired.customer
        && (old.document == desired.document || comparable(&old.document) == comparable(&desired.document))
}

/// Brings the store in line with the files; answers what is to run. `running` as in [`plan_provision`].
///
/// # Errors
/// As the store's; then nothing was changed but ids that were given away.
pub async fn provision(
    store: &dyn MonitorStore,
    wanted: Vec<DesiredMonitor>,
    running: &[Monitor],
    now: Timestamp,
) -> Result<ProvisionPlan, StoreError> {
    let stored = store.monitors().await?;
    provision_with_stored(store, &stored, wanted, running, now).await
}

/// As [`provision`], where what is `stored` was read already.
///
/// # Errors
/// As [`provision`].
pub async fn provision_with_stored(
    store: &dyn MonitorStore,
    stored: &[Monitor],
    wanted: Vec<DesiredMonitor>,
    running: &[Monitor],
    now: Timestamp,
) -> Result<ProvisionPlan, StoreError> {
    let wanted = assign_ids(store, wanted).await?;
    let files = wanted.iter().map(|(id, wanted)| (*id, Arc::clone(&wanted.file))).collect();
    let last = store.last_revisions(wanted.iter().map(|(id, _)| *id).collect()).await?;
    let wanted = wanted.into_iter().zip(last).map(|((id, wanted), last)| (id, last, wanted)).collect();
    let provision = plan_provision(wanted, stored, running, now);
    let changed: HashSet<_> = provision.changed.iter().collect();
    let upserts: Vec<_> = provision.monitors.iter().filter(|m| changed.contains(&m.id)).cloned().collect();
    if !upserts.is_empty() || !provision.removed.is_empty() {
        let told = ProvisionAudit { files, stored, running };
        let entries = told.into_audit_entries(&upserts, &provision.removed, now);
        store.apply_monitors(upserts, provision.removed.clone(), entries).await?;
    }
    Ok(provision)
}

/// Keeps the order of the files, so that new monitors get ids in that order.
async fn assign_ids(
    store: &dyn MonitorStore,
    wanted: Vec<DesiredMonitor>,
) -> Result<Vec<(MonitorId, DesiredMonitor)>, StoreError> {
    let mut keys: Vec<(CustomerId, Vec<String>)> = Vec::new();
    for each in &wanted {
        match keys.iter_mut().find(|(customer, _)| *customer == each.customer) {
            Some((_, keys)) => keys.push(each.key.to_string()),
            None => keys.push((each.customer, vec![each.key.to_string()])),
        }
    }
    let mut ids = HashMap::new();
    for (customer, keys) in keys {
        let given = store.ids_for_file_keys(customer, keys).await?;
        ids.insert(customer, given.into_iter());
    }
    Ok(wanted
        .into_iter()
        .filter_map(|wanted| Some((ids.get_mut(&wanted.customer)?.next()?, wanted)))
        .collect())
}
