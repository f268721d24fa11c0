//! The monitor changes of one call: writes to the store, audit entries, and the rollback of both.

use std::sync::Arc;

use super::audit_fields::{changed_fields, created_fields, removed_fields};
use super::monitor_change::MonitorChange;
use super::monitor_secrets::encrypt_secrets;
use super::monitor_service::MonitorDependencies;
use super::plan_quota::QuotaReservation;
use crate::domain::{MonitorId, Revision, Timestamp};
use crate::pipeline::PlanError;
use crate::schema::{Monitor, MonitorDocument, MonitorMetadata, Origin};
use crate::service::caller::{Caller, EntryPoint, ServiceError};
use crate::store::{AuditObject, ConfigChange, NewAuditEntry, NewMonitor, StoredMonitor};

/// The monitor after one change.
enum ChangeEffect {
    /// A new monitor, whose id is set once it is known.
    Created(Monitor),
    /// A new revision, and the old one.
    Updated(Monitor, Monitor),
    /// No change.
    Unchanged(Monitor),
    /// A removed monitor.
    Removed(Monitor),
}

/// All changes of a call, ready for the store.
#[derive(Default)]
pub(super) struct ChangeSet {
    /// One for each change that was pushed, in order.
    effects: Vec<ChangeEffect>,
    store_changes: Vec<ConfigChange>,
    audit_entries: Vec<NewAuditEntry>,
    /// Number of creates so far; audit entries refer to a new monitor by its index among them.
    created_count: usize,
    /// Writes that restore the old documents if the planner stops before it plans the changes.
    rollback_changes: Vec<ConfigChange>,
    rollback_audit_entries: Vec<NewAuditEntry>,
}

impl ChangeSet {
    /// Adds `change` with its audit entry, and the writes that would roll it back.
    pub(super) fn push(
        &mut self,
        dependencies: &MonitorDependencies,
        caller: &Caller,
        change: MonitorChange,
        now: Timestamp,
    ) {
        match change {
            MonitorChange::Create { audit_action, origin, document } => {
                let audit_entry = caller.audit_entry(
                    now,
                    audit_action,
                    "monitor",
                    AuditObject::CreatedInThisCall(self.created_count),
                    monitor_name(&document),
                );
                self.audit_entries.push(NewAuditEntry { after: created_fields(&document), ..audit_entry });
                self.created_count += 1;
                self.push_create(dependencies, caller, origin, document, now);
            }
            MonitorChange::Update { audit_action, old, document, metadata, new_origin } => {
                let is_unchanged =
                    *old.document == *document && old.metadata.paused_until == metadata.paused_until;
                if is_unchanged && new_origin.is_none() {
                    self.effects.push(ChangeEffect::Unchanged(*old));
                    return;
                }
                let mut updated = next_revision(caller, &old, document, metadata, now);
                updated.origin = new_origin.unwrap_or(updated.origin);
                let audit_entry = caller.audit_entry(
                    now,
                    audit_action,
                    "monitor",
                    AuditObject::Id(old.id.0),
                    monitor_name(&updated.document),
                );
                let (before, after) = changed_fields(&old, &updated);
                let (rollback_before, rollback_after) = (after.clone(), before.clone());
                let rollback_entry = rollback_audit_entry(audit_entry.clone());
                self.rollback_audit_entries.push(NewAuditEntry {
                    before: rollback_before,
                    after: rollback_after,
                    ..rollback_entry
                });
                self.audit_entries.push(NewAuditEntry { before, after, ..audit_entry });
                self.store_changes.push(update_change(dependencies, &updated, old.revision));
                let restored = Monitor { revision: Revision(updated.revision.0 + 1), ..(*old).clone() };
                self.rollback_changes.push(update_change(dependencies, &restored, updated.revision));
                self.effects.push(ChangeEffect::Updated(updated, *old));
            }
            MonitorChange::Remove { old } => {
                let audit_entry = caller.audit_entry(
                    now,
                    "delete",
                    "monitor",
                    AuditObject::Id(old.id.0),
                    monitor_name(&old.document),
                );
                self.audit_entries
                    .push(NewAuditEntry { before: removed_fields(&old.document), ..audit_entry });
                self.store_changes.push(ConfigChange::RemoveMonitor { id: old.id, expected: old.revision });
                self.effects.push(ChangeEffect::Removed(*old));
            }
        }
    }

    fn push_create(
        &mut self,
        dependencies: &MonitorDependencies,
        caller: &Caller,
        origin: Origin,
        document: Arc<MonitorDocument>,
        now: Timestamp,
    ) {
        let mut metadata = MonitorMetadata {
            created_at: Some(now),
            created_by: caller.login.to_string(),
            modified_by: caller.login.to_string(),
            ..MonitorMetadata::default()
        };
        if document.differs_from_default("script") {
            record_script_change(&mut metadata, caller, now);
        }
        let customer = caller.customer;
        self.store_changes.push(ConfigChange::CreateMonitor(NewMonitor {
            customer,
            origin: origin.clone(),
            modified_at: now,
            metadata: metadata.clone(),
            document: Arc::clone(&document),
            sealed_secrets: encrypt_secrets(&dependencies.keyring, customer, &document),
        }));
        self.effects.push(ChangeEffect::Created(Monitor {
            id: MonitorId(0),
            customer,
            origin,
            revision: Revision(1),
            modified_at: now,
            document,
            metadata: Arc::new(metadata),
        }));
    }

    /// Stores and plans the changes, updates the monitor cache and returns the monitors in the order of the changes.
    pub(super) async fn commit(
        mut self,
        dependencies: &MonitorDependencies,
        caller: &Caller,
        mut quota_reservation: QuotaReservation,
    ) -> Result<Vec<Monitor>, ServiceError> {
        let (store_changes, audit_entries) =
            (std::mem::take(&mut self.store_changes), std::mem::take(&mut self.audit_entries));
        if !store_changes.is_empty() {
            // Checks that the planner still runs before anything is stored.
            dependencies
                .planner
                .apply_monitor_changes(Vec::new(), Vec::new())
                .await
                .map_err(planner_stopped_error)?;
            let ids = dependencies.config_store.write_changes(store_changes, audit_entries).await?;
            self.assign_ids(ids);
        }
        let (mut upserts, mut removed) = (Vec::new(), Vec::new());
        for effect in &self.effects {
            match effect {
                ChangeEffect::Created(monitor) | ChangeEffect::Updated(monitor, _) => {
                    upserts.push(monitor.clone());
                }
                ChangeEffect::Removed(monitor) => removed.push(monitor.id),
                ChangeEffect::Unchanged(_) => {}
            }
        }
        if !upserts.is_empty() || !removed.is_empty() {
            let plan_result =
                dependencies.planner.apply_monitor_changes(upserts.clone(), removed.clone()).await;
            // Removed monitors need no rollback: a planner that has stopped does not run them.
            if let Err(error) = plan_result
                && !upserts.is_empty()
            {
                self.roll_back(dependencies, caller).await;
                return Err(planner_stopped_error(error));
            }
        }
        let to_check = self.monitors_to_check();
        quota_reservation.release_with(|| dependencies.monitor_cache.apply(upserts, &removed));
        dependencies.planner.request_first_checks(&to_check);
        Ok(self.effects.into_iter().map(ChangeEffect::into_monitor).collect())
    }

    /// Returns the new monitors, and those that check something else than before.
    fn monitors_to_check(&self) -> Vec<Monitor> {
        let to_check = |effect: &ChangeEffect| match effect {
            ChangeEffect::Created(monitor) => Some(monitor.clone()),
            ChangeEffect::Updated(updated, old) => {
                (!updated.document.checks_the_same(&old.document)).then(|| updated.clone())
            }
            ChangeEffect::Unchanged(_) | ChangeEffect::Removed(_) => None,
        };
        self.effects.iter().filter_map(to_check).collect()
    }

    fn assign_ids(&mut self, ids: Vec<i64>) {
        let created_monitors = self.effects.iter_mut().filter_map(|effect| match effect {
            ChangeEffect::Created(monitor) => Some(monitor),
            _ => None,
        });
        for (monitor, id) in created_monitors.zip(ids) {
            monitor.id = MonitorId(id);
        }
    }

    /// Rolls back the stored changes, except removals, since the planner stopped meanwhile.
    async fn roll_back(self, dependencies: &MonitorDependencies, caller: &Caller) {
        let (mut changes, mut audit_entries, mut restored) =
            (self.rollback_changes, self.rollback_audit_entries, Vec::new());
        for effect in self.effects {
            match effect {
                ChangeEffect::Created(monitor) => {
                    let (id, now) = (AuditObject::Id(monitor.id.0), monitor.modified_at);
                    audit_entries.push(rollback_audit_entry(caller.audit_entry(
                        now,
                        "undo",
                        "monitor",
                        id,
                        monitor.name(),
                    )));
                    changes.push(ConfigChange::RemoveMonitor { id: monitor.id, expected: monitor.revision });
                }
                ChangeEffect::Updated(updated, old) => {
                    restored.push(Monitor { revision: Revision(updated.revision.0 + 1), ..old });
                }
                ChangeEffect::Unchanged(_) | ChangeEffect::Removed(_) => {}
            }
        }
        match dependencies.config_store.write_changes(changes, audit_entries).await {
            Ok(_) => dependencies.monitor_cache.apply(restored, &[]),
            Err(error) => {
                tracing::error!(error = %error, "a change was stored during shutdown; it takes effect at the next start");
            }
        }
    }
}

impl ChangeEffect {
    fn into_monitor(self) -> Monitor {
        match self {
            Self::Created(monitor)
            | Self::Updated(monitor, _)
            | Self::Unchanged(monitor)
            | Self::Removed(monitor) => monitor,
        }
    }
}

/// Returns the next revision of `old`, with `document` and `metadata`.
fn next_revision(
    caller: &Caller,
    old: &Monitor,
    document: Arc<MonitorDocument>,
    mut metadata: MonitorMetadata,
    now: Timestamp,
) -> Monitor {
    caller.login.as_ref().clone_into(&mut metadata.modified_by);
    if old.document.script() != document.script() {
        record_script_change(&mut metadata, caller, now);
    }
    Monitor {
        revision: Revision(old.revision.0 + 1),
        modified_at: now,
        document,
        metadata: Arc::new(metadata),
        ..old.clone()
    }
}

fn record_script_change(metadata: &mut MonitorMetadata, caller: &Caller, now: Timestamp) {
    metadata.script_created.get_or_insert(now);
    metadata.script_modified = Some(now);
    caller.login.as_ref().clone_into(&mut metadata.script_modified_by);
}

/// Builds the write of a new revision. Secrets of a monitor defined in a file stay in the file.
fn update_change(
    dependencies: &MonitorDependencies,
    monitor: &Monitor,
    expected_revision: Revision,
) -> ConfigChange {
    let sealed_secrets = match monitor.origin {
        Origin::File { .. } => None,
        _ => encrypt_secrets(&dependencies.keyring, monitor.customer, &monitor.document),
    };
    let stored = StoredMonitor { monitor: monitor.clone(), sealed_secrets };
    ConfigChange::UpdateMonitor { monitor: Box::new(stored), expected: expected_revision }
}

fn rollback_audit_entry(entry: NewAuditEntry) -> NewAuditEntry {
    NewAuditEntry { entry_point: EntryPoint::Server.as_str(), action: "undo", ..entry }
}

fn monitor_name(document: &MonitorDocument) -> &str {
    document.name()
}

fn planner_stopped_error(error: PlanError) -> ServiceError {
    ServiceError::Unavailable(error.to_string())
}
