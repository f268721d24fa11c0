//! Bulk edit of agreements (behaviour.md 1 `/slas/bulk-edit`): all or nothing; creates missing agreements.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::bulk_edit_blackouts::requested_monitor_ids;
use super::config_record_service::ConfigRecordService;
use super::record_context::RecordContext;
use super::record_definition::record_definition;
use super::record_draft::{body_fields, field_conflict_error};
use super::{audit_fields, sla};
use crate::domain::{ConfigRecord, ConfigRecordKind};
use crate::schema::table::alerting::{SLA, SLA_BULK_EDIT};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{
    AuditObject, ConfigChange, ConfigRecordFilter, NewAuditEntry, NewConfigRecord, Pagination,
};
use crate::syntax::node::Node;

/// The store query is filtered by monitor only up to this number of monitors.
const MAX_MONITORS_IN_FILTER: usize = 500;

impl ConfigRecordService {
    /// Creates or changes the agreements of several monitors. An id that is not a monitor of the account gives 403.
    pub async fn bulk_edit_slas(&self, caller: &Caller, body: &Node) -> Result<(), ServiceError> {
        let definition = record_definition(ConfigRecordKind::Sla);
        caller.require_permission(definition.edit_permission)?;
        let _lock = self.edit_lock.lock().await;
        let _monitors = self.dependencies.monitor_cache.lock_shared().await;
        let cx = self.context(caller, definition).await?;
        let must_be_complete = true;
        let mut request = body_fields(&SLA_BULK_EDIT, body, must_be_complete)?;
        let monitor_ids = requested_monitor_ids(&cx, &request)?;
        request.shift_remove("monitors");
        let mut errors = Vec::new();
        sla::validate(&cx, &request, body, &mut errors);
        let agreements = self.agreements_by_monitor(&cx, &monitor_ids).await?;
        if request.get("name").is_some_and(Value::is_null) {
            errors.push(field_conflict_error(body, "name", "`name` must not be empty"));
        } else if !request.contains_key("name") && agreements.len() < monitor_ids.len() {
            let message = "`name` is required: some of the monitors have no agreement yet";
            errors.push(field_conflict_error(body, "name", message));
        }
        if !errors.is_empty() {
            return Err(ServiceError::Invalid(errors));
        }
        let (changes, entries) = build_changes(&cx, &monitor_ids, agreements, &request);
        if !changes.is_empty() {
            self.dependencies.config_store.write_changes(changes, entries).await?;
        }
        Ok(())
    }

    /// Returns the agreements of these monitors, by monitor.
    async fn agreements_by_monitor(
        &self,
        cx: &RecordContext<'_>,
        monitor_ids: &BTreeSet<i64>,
    ) -> Result<BTreeMap<i64, ConfigRecord>, ServiceError> {
        let mut filter = ConfigRecordFilter::new(ConfigRecordKind::Sla).for_customer(cx.caller.customer);
        if monitor_ids.len() <= MAX_MONITORS_IN_FILTER {
            filter.parent_ids = monitor_ids.iter().copied().collect();
        }
        let found = self.dependencies.config_store.records(filter, Pagination::ALL).await?;
        let agreements = found.items.into_iter().filter_map(|record| Some((record.parent_id?, record)));
        Ok(agreements.filter(|(monitor, _)| monitor_ids.contains(monitor)).collect())
    }
}

/// Builds the writes. Audit entries refer to new agreements by their index among the creates.
fn build_changes(
    cx: &RecordContext<'_>,
    monitor_ids: &BTreeSet<i64>,
    mut agreements: BTreeMap<i64, ConfigRecord>,
    request: &Map<String, Value>,
) -> (Vec<ConfigChange>, Vec<NewAuditEntry>) {
    let (mut changes, mut audit_entries, mut created_count) = (Vec::new(), Vec::new(), 0);
    for monitor in monitor_ids {
        let old = agreements.remove(monitor);
        let before = old.as_ref().map(|record| record.fields.clone()).unwrap_or_default();
        let mut fields = if old.is_some() { before.clone() } else { SLA.defaults() };
        for (name, value) in request {
            let value = if value.is_null() { default_value(name) } else { Some(value.clone()) };
            match value {
                Some(value) => drop(fields.insert(name.clone(), value)),
                None => drop(fields.shift_remove(name)),
            }
        }
        if old.is_some() && fields == before {
            continue;
        }
        let object = old
            .as_ref()
            .map_or(AuditObject::CreatedInThisCall(created_count), |record| AuditObject::Id(record.id));
        let action = if old.is_some() { "change" } else { "create" };
        let mut entry = cx.audit_entry(action, object, cx.definition.record_name(&fields));
        (entry.before, entry.after) = audit_fields::changed_fields(&SLA, &before, &fields);
        audit_entries.push(entry);
        changes.push(if let Some(record) = old {
            update_change(cx, record, fields)
        } else {
            created_count += 1;
            create_change(cx, *monitor, fields)
        });
    }
    (changes, audit_entries)
}

fn default_value(field_name: &str) -> Option<Value> {
    SLA.field(field_name).and_then(crate::schema::field::Field::default_value)
}

fn update_change(
    cx: &RecordContext<'_>,
    mut record: ConfigRecord,
    fields: Map<String, Value>,
) -> ConfigChange {
    let expected = record.revision;
    record.revision.0 += 1;
    record.modified_at = cx.now;
    record.fields = fields;
    ConfigChange::UpdateRecord { record: Box::new(record), expected }
}

fn create_change(cx: &RecordContext<'_>, monitor_id: i64, fields: Map<String, Value>) -> ConfigChange {
    ConfigChange::CreateRecord(NewConfigRecord {
        kind: ConfigRecordKind::Sla,
        customer: Some(cx.caller.customer),
        parent_id: Some(monitor_id),
        unique_key: Some(monitor_id.to_string()),
        created_at: cx.now,
        created_by: cx.caller.login.to_string(),
        fields,
        private_data: None,
    })
}
