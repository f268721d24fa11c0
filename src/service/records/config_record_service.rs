//! Reads, creates, changes and removes records.

use serde_json::{Map, Value};

use super::agent_states::AgentStates;
use super::dependencies::ConfigRecordServiceDependencies;
use super::record_context::RecordContext;
use super::record_definition::{RecordDefinition, record_definition};
use super::record_draft::RecordDraft;
use crate::domain::{ConfigRecord, ConfigRecordKind, HostId, Revision};
use crate::service::agents::LiveAgentLookup;
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::service::records::certificate::CertificateWatcher;
use crate::store::{
    AuditObject, ConfigChange, ConfigRecordFilter, NewAuditEntry, NewConfigRecord, Paginated, Pagination,
    StoreError,
};
use crate::sync::RwLock;
use crate::syntax::node::Node;

/// Reads and changes the records of all kinds, except monitors, for users.
pub struct ConfigRecordService {
    pub(super) dependencies: ConfigRecordServiceDependencies,
    /// Held during every change, since some rules involve other records, such as "one admin must remain".
    pub(super) edit_lock: tokio::sync::Mutex<()>,
    /// Called with all certificates whenever one changes.
    pub(super) certificate_watcher: RwLock<Option<CertificateWatcher>>,
    /// Supplies the agents of other hosts, once it is set.
    live_agent_lookup: RwLock<Option<LiveAgentLookup>>,
}

impl ConfigRecordService {
    /// Creates the service.
    #[must_use]
    pub fn new(dependencies: ConfigRecordServiceDependencies) -> Self {
        Self {
            dependencies,
            edit_lock: tokio::sync::Mutex::new(()),
            certificate_watcher: RwLock::default(),
            live_agent_lookup: RwLock::default(),
        }
    }

    /// Sets the lookup of the agents of other hosts.
    pub fn set_live_agent_lookup(&self, lookup: LiveAgentLookup) {
        *self.live_agent_lookup.write() = Some(lookup);
    }

    /// Whether `caller` may create and remove records of this kind.
    #[must_use]
    pub fn may_edit(&self, caller: &Caller, kind: ConfigRecordKind) -> bool {
        caller.allows(record_definition(kind).edit_permission)
    }

    /// Returns the records that match the filter and that `caller` may see, as version 3 objects.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: ConfigRecordFilter,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, ServiceError> {
        let definition = record_definition(filter.kind);
        caller.require_permission(definition.view_permission)?;
        let cx = self.showing_context(caller, definition, None).await?;
        if definition.kind == ConfigRecordKind::Location {
            return super::location_list::list_locations(&cx, page).await;
        }
        if definition.kind == ConfigRecordKind::View {
            return super::view_list::list_views(&cx, page).await;
        }
        let found =
            self.dependencies.config_store.records(filter.for_customer(caller.customer), page).await?;
        let rows = found.items.iter().map(|record| super::record_json::record_to_json(&cx, record)).collect();
        Ok(Paginated { total: found.total, items: rows })
    }

    /// Returns one record and its revision.
    pub async fn get(
        &self,
        caller: &Caller,
        kind: ConfigRecordKind,
        id: i64,
    ) -> Result<(Map<String, Value>, Revision), ServiceError> {
        let definition = record_definition(kind);
        caller.require_permission(definition.view_permission)?;
        let cx = self.showing_context(caller, definition, Some(id)).await?;
        if let Some(object) = super::location_list::configured_location(&cx, id) {
            return Ok((object, Revision(1)));
        }
        let record = self.find_visible(&cx, id).await?;
        Ok((super::record_json::record_to_json(&cx, &record), record.revision))
    }

    /// Creates a record.
    pub async fn create(
        &self,
        caller: &Caller,
        kind: ConfigRecordKind,
        body: &Node,
    ) -> Result<SavedObject, ServiceError> {
        self.create_for_parent(caller, kind, None, body).await
    }

    /// Creates a record of the parent in the path, such as a performance alert of the monitor `parent_id`.
    pub async fn create_for_parent(
        &self,
        caller: &Caller,
        kind: ConfigRecordKind,
        parent_id: Option<i64>,
        body: &Node,
    ) -> Result<SavedObject, ServiceError> {
        let definition = record_definition(kind);
        caller.require_permission(definition.edit_permission)?;
        let parsed_draft =
            super::kind_rules::creation_draft_before_locking(&self.context(caller, definition).await?, body)
                .await?;
        let _lock = self.edit_lock.lock().await;
        // The monitor that the record refers to must not be removed before the record is stored.
        let _monitors_lock = self.lock_monitors_shared(definition).await;
        let cx = RecordContext { parent_id, ..self.context(caller, definition).await? };
        let mut draft = match parsed_draft {
            Some(draft) => draft,
            None => super::kind_rules::creation_draft(&cx, body).await?,
        };
        let mut audit_entry = cx.audit_entry(
            "create",
            AuditObject::CreatedInThisCall(0),
            definition.record_name(&draft.fields),
        );
        (audit_entry.before, audit_entry.after) =
            super::audit_fields::changed_fields(definition.field_table, &Map::new(), &draft.fields);
        let new_record = NewConfigRecord {
            kind: definition.kind,
            customer: Some(caller.customer),
            parent_id: draft.parent_id,
            unique_key: draft.unique_key.clone(),
            created_at: cx.now,
            created_by: caller.login.to_string(),
            fields: draft.fields.clone(),
            private_data: draft.private_data.clone(),
        };
        let ids = self
            .commit(definition, &draft, vec![ConfigChange::CreateRecord(new_record)], audit_entry)
            .await?;
        let id = ids.first().copied().unwrap_or_default();
        if let (ConfigRecordKind::Event, Some(event_type)) =
            (definition.kind, draft.fields.get("event").and_then(Value::as_str))
        {
            self.dependencies.metrics.record_event(caller.customer, event_type);
        }
        if let Some(complete_response) = draft.complete_response.take() {
            draft.create_response_fields.extend(complete_response(id));
        }
        Ok(SavedObject {
            id,
            revision: 1,
            warnings: draft.warnings,
            create_response_fields: draft.create_response_fields,
        })
    }

    /// Changes a record. If the body changes nothing, the revision stays the same.
    pub async fn patch(
        &self,
        caller: &Caller,
        kind: ConfigRecordKind,
        id: i64,
        body: &Node,
        if_match: Option<Revision>,
    ) -> Result<SavedObject, ServiceError> {
        let definition = record_definition(kind);
        caller.require_permission(definition.patch_permission)?;
        let _lock = self.edit_lock.lock().await;
        let _monitors_locks =
            (self.lock_monitors_exclusive(definition).await, self.lock_monitors_shared(definition).await);
        let cx = self.context(caller, definition).await?;
        let old = self.find_changeable(&cx, id, if_match).await?;
        let draft = super::kind_rules::change_draft(&cx, &old, body).await?;
        let unchanged = SavedObject { id, revision: old.revision.0, ..SavedObject::default() };
        // The first change of an account stores its defaults too; they do not count as changed.
        let mut before = match definition.kind {
            ConfigRecordKind::Customer => definition.field_table.defaults(),
            _ => Map::new(),
        };
        before.extend(old.fields.clone());
        if draft.fields == before
            && draft.private_data == old.private_data
            && draft.unique_key == old.unique_key
        {
            return Ok(SavedObject { warnings: draft.warnings, ..unchanged });
        }
        let mut audit_entry =
            cx.audit_entry("change", AuditObject::Id(id), definition.record_name(&draft.fields));
        (audit_entry.before, audit_entry.after) =
            super::audit_fields::changed_fields(definition.field_table, &before, &draft.fields);
        super::audit_fields::add_changed_secrets(
            &mut audit_entry,
            &draft.changed_secrets,
            &before,
            &draft.fields,
        );
        let (old_revision, revision) = (old.revision, Revision(old.revision.0 + 1));
        let record = ConfigRecord {
            revision,
            modified_at: cx.now,
            parent_id: draft.parent_id,
            unique_key: draft.unique_key.clone(),
            fields: draft.fields.clone(),
            private_data: draft.private_data.clone(),
            ..old
        };
        let update = ConfigChange::UpdateRecord { record: Box::new(record), expected: old_revision };
        self.commit(definition, &draft, vec![update], audit_entry).await?;
        Ok(SavedObject {
            id,
            revision: revision.0,
            warnings: draft.warnings,
            create_response_fields: draft.create_response_fields,
        })
    }

    /// Removes a record.
    pub async fn delete(
        &self,
        caller: &Caller,
        kind: ConfigRecordKind,
        id: i64,
        if_match: Option<Revision>,
    ) -> Result<(), ServiceError> {
        let definition = record_definition(kind);
        caller.require_permission(definition.edit_permission)?;
        let _lock = self.edit_lock.lock().await;
        let _monitors_lock = self.lock_monitors_exclusive(definition).await;
        let cx = self.context(caller, definition).await?;
        let old = self.find_changeable(&cx, id, if_match).await?;
        let draft = super::kind_rules::removal_draft(&cx, &old).await?;
        let mut audit_entry =
            cx.audit_entry("delete", AuditObject::Id(id), definition.record_name(&old.fields));
        (audit_entry.before, audit_entry.after) =
            super::audit_fields::changed_fields(definition.field_table, &old.fields, &Map::new());
        let remove = ConfigChange::RemoveRecord { kind: definition.kind, id, expected: old.revision };
        self.commit(definition, &draft, vec![remove], audit_entry).await?;
        Ok(())
    }

    /// Locks all monitors against changes if monitors may refer to this kind: no monitor starts to use a record between
    /// the check and its removal. Take the edit lock first.
    pub(super) async fn lock_monitors_exclusive(
        &self,
        definition: &RecordDefinition,
    ) -> Option<tokio::sync::RwLockWriteGuard<'_, ()>> {
        if definition.is_referenced_by_monitors {
            Some(self.dependencies.monitor_cache.lock_exclusive().await)
        } else {
            None
        }
    }

    /// Locks all monitors against removal if this kind refers to monitors, until the record is stored.
    pub(super) async fn lock_monitors_shared(
        &self,
        definition: &RecordDefinition,
    ) -> Option<tokio::sync::RwLockReadGuard<'_, ()>> {
        if definition.references_monitors {
            Some(self.dependencies.monitor_cache.lock_shared().await)
        } else {
            None
        }
    }

    /// Returns the record `id`; not found if the caller may not see it, or for a location of the settings.
    pub(super) async fn find_visible(
        &self,
        cx: &RecordContext<'_>,
        id: i64,
    ) -> Result<ConfigRecord, ServiceError> {
        let record = self.dependencies.config_store.record(cx.definition.kind, id).await?;
        record.filter(|record| cx.can_see(record)).ok_or(ServiceError::NotFound)
    }

    /// Fails unless the record is attached to `parent_id`, the monitor in the path.
    pub async fn require_parent(
        &self,
        caller: &Caller,
        kind: ConfigRecordKind,
        id: i64,
        parent_id: i64,
    ) -> Result<(), ServiceError> {
        let cx = self.context(caller, record_definition(kind)).await?;
        let record = self.find_visible(&cx, id).await?;
        if record.parent_id == Some(parent_id) { Ok(()) } else { Err(ServiceError::NotFound) }
    }

    /// Like [`ConfigRecordService::find_visible`]; also fails if the caller may not change it or `if_match` differs.
    pub(super) async fn find_changeable(
        &self,
        cx: &RecordContext<'_>,
        id: i64,
        if_match: Option<Revision>,
    ) -> Result<ConfigRecord, ServiceError> {
        super::location_list::require_not_configured(cx, id)?;
        let record = self.find_visible(cx, id).await?;
        if record.customer != cx.caller.customer {
            let message = "This location is shared by all accounts; only account 1 can change it";
            return Err(ServiceError::Forbidden(message.to_owned()));
        }
        match if_match {
            Some(expected) if expected != record.revision => Err(ServiceError::PreconditionFailed),
            _ => Ok(record),
        }
    }

    pub(super) async fn context<'a>(
        &'a self,
        caller: &'a Caller,
        definition: &'static RecordDefinition,
    ) -> Result<RecordContext<'a>, ServiceError> {
        RecordContext::new(&self.dependencies, caller, definition).await
    }

    /// Like [`Self::context`], with the agents or reports if objects of this kind show them: those of the object `id`
    /// are enough if it is given.
    pub(super) async fn showing_context<'a>(
        &'a self,
        caller: &'a Caller,
        definition: &'static RecordDefinition,
        id: Option<i64>,
    ) -> Result<RecordContext<'a>, ServiceError> {
        let cx = self.context(caller, definition).await?;
        let live_agent_lookup = self.live_agent_lookup.read().clone();
        let config_store = &*self.dependencies.config_store;
        let agent_states = AgentStates::load(definition.kind, config_store, live_agent_lookup).await?;
        let host_summaries = match definition.kind {
            ConfigRecordKind::Host => self.dependencies.host_store.host_summaries(id.map(HostId)).await?,
            _ => Vec::new(),
        };
        let host_summaries = host_summaries.into_iter().map(|summary| (summary.host_id, summary)).collect();
        Ok(RecordContext { agent_states, host_summaries, ..cx })
    }

    /// Commits the changes in one transaction, then invalidates the account cache and notifies watchers.
    pub(super) async fn commit(
        &self,
        definition: &RecordDefinition,
        draft: &RecordDraft,
        mut changes: Vec<ConfigChange>,
        audit_entry: NewAuditEntry,
    ) -> Result<Vec<i64>, ServiceError> {
        changes.extend(draft.additional_changes.iter().cloned());
        let account = audit_entry.customer;
        let write_result = self.dependencies.config_store.write_changes(changes, vec![audit_entry]).await;
        let ids = write_result.map_err(|error| match error {
            StoreError::AlreadyExists(_) if definition.kind == ConfigRecordKind::Sla => {
                ServiceError::Conflict("The monitor has an agreement already; change that".to_owned())
            }
            StoreError::AlreadyExists(_) => {
                let name = definition.record_name(&draft.fields);
                ServiceError::Conflict(format!("A {} `{name}` already exists", definition.kind))
            }
            other => ServiceError::from(other),
        })?;
        if definition.affects_account_cache {
            let account_cache = &self.dependencies.account_cache;
            match definition.kind {
                // Other accounts may use it.
                ConfigRecordKind::Location => account_cache.invalidate_all(),
                _ => account_cache.invalidate(account),
            }
        }
        if definition.kind == ConfigRecordKind::Certificate {
            self.notify_certificate_watcher().await?;
        }
        Ok(ids)
    }

    /// Passes all certificates to `watcher` now and whenever they change.
    pub async fn watch_certificates(&self, watcher: CertificateWatcher) -> Result<(), ServiceError> {
        *self.certificate_watcher.write() = Some(watcher);
        self.notify_certificate_watcher().await
    }

    async fn notify_certificate_watcher(&self) -> Result<(), ServiceError> {
        let watcher = self.certificate_watcher.read().clone();
        if let Some(watcher) = watcher {
            watcher(super::certificate::decrypt_all(&self.dependencies).await?).await;
        }
        Ok(())
    }
}
