//! Bulk edit of agreements (behaviour.md 1 `/slas/bulk-edit`): all or nothing; a monitor without one gets one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::bulk_edit_blackouts::named_monitors;
use super::record_context::RecordContext;
use super::record_draft::{body_fields, conflict_fault};
use super::resource_kind::resource_kind;
use super::resource_service::ResourceService;
use super::{audit_fields, sla};
use crate::domain::{Record, RecordKind};
use crate::schema::table::alerting::{SLA, SLA_BULK_EDIT};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{AuditObject, ConfigChange, NewAuditEntry, NewRecord, Pagination, RecordFilter};
use crate::syntax::node::Node;

/// Monitors up to which the store is asked for theirs alone.
const FILTER_BY_MONITOR_MAX: usize = 500;

impl ResourceService {
    /// Brings the agreements of several monitors in line. An id that is no monitor of the account: 403.
    pub async fn bulk_edit_slas(&self, caller: &Caller, body: &Node) -> Result<(), ServiceError> {
        let kind = resource_kind(RecordKind::Sla);
        caller.require_right(kind.edit_right)?;
        let _lock = self.edit_lock.lock().await;
        let _monitors = self.dependencies.monitors.lock_shared().await;
        let cx = self.context(caller, kind).await?;
        let mut wanted = body_fields(&SLA_BULK_EDIT, body, true)?;
        let ids = named_monitors(&cx, &wanted)?;
        wanted.shift_remove("monitors");
        let mut errors = Vec::new();
        sla::validate(&cx, &wanted, body, &mut errors);
        let theirs = self.agreements_by_monitor(&cx, &ids).await?;
        if wanted.get("name").is_some_and(Value::is_null) {
            errors.push(conflict_fault(body, "name", "`name` must not be empty"));
        } else if !wanted.contains_key("name") && theirs.len() < ids.len() {
            let message = "`name` is required: some of the monitors have no agreement yet";
            errors.push(conflict_fault(body, "name", message));
        }
        if !errors.is_empty() {
            return Err(ServiceError::Invalid(errors));
        }
        let (changes, entries) = build_writes(&cx, &ids, theirs, &wanted);
        if !changes.is_empty() {
            self.dependencies.config.write_changes(changes, entries).await?;
        }
        Ok(())
    }

    /// The agreements of these monitors, by monitor.
    async fn agreements_by_monitor(
        &self,
        cx: &RecordContext<'_>,
        ids: &BTreeSet<i64>,
    ) -> Result<BTreeMap<i64, Record>, ServiceError> {
        let mut filter = RecordFilter::new(RecordKind::Sla).for_customer(cx.caller.customer);
        if ids.len() <= FILTER_BY_MONITOR_MAX {
            filter.parent_id = ids.iter().copied().collect();
        }
        let found =
            self.dependencies.config.records(filter, Pagination { limit: u32::MAX, offset: 0 }).await?;
        let theirs = found.items.into_iter().filter_map(|record| Some((record.parent_id?, record)));
        Ok(theirs.filter(|(monitor, _)| ids.contains(monitor)).collect())
    }
}

/// New ones in their order, so that audit entries name them by their place.
fn build_writes(
    cx: &RecordContext<'_>,
    ids: &BTreeSet<i64>,
    mut theirs: BTreeMap<i64, Record>,
    wanted: &Map<String, Value>,
) -> (Vec<ConfigChange>, Vec<NewAuditEntry>) {
    let (mut changes, mut entries, mut made) = (Vec::new(), Vec::new(), 0);
    for monitor in ids {
        let old = theirs.remove(monitor);
        let before = old.as_ref().map(|record| record.fields.clone()).unwrap_or_default();
        let mut fields = if old.is_some() { before.clone() } else { SLA.defaults() };
        for (name, value) in wanted {
            let value = if value.is_null() { default_value(name) } else { Some(value.clone()) };
            match value {
                Some(value) => drop(fields.insert(name.clone(), value)),
                None => drop(fields.shift_remove(name)),
            }
        }
        if old.is_some() && fields == before {
            continue;
        }
        let object = old.as_ref().map_or(AuditObject::Created(made), |record| AuditObject::Id(record.id));
        let action = if old.is_some() { "change" } else { "create" };
        let mut entry = cx.audit_entry(action, object, cx.kind.name_of(&fields));
        (entry.before, entry.after) = audit_fields::changed_fields(&SLA, &before, &fields);
        entries.push(entry);
        changes.push(if let Some(record) = old {
            update_write(cx, record, fields)
        } else {
            made += 1;
            create_write(cx, *monitor, fields)
        });
    }
    (changes, entries)
}

fn default_value(name: &str) -> Option<Value> {
    SLA.field(name).and_then(crate::schema::field::Field::default_value)
}

fn update_write(cx: &RecordContext<'_>, mut record: Record, fields: Map<String, Value>) -> ConfigChange {
    let expected = record.revision;
    record.revision.0 += 1;
    record.modified_at = cx.now;
    record.fields = fields;
    ConfigChange::UpdateRecord { record: Box::new(record), expected }
}

fn create_write(cx: &RecordContext<'_>, monitor: i64, fields: Map<String, Value>) -> ConfigChange {
    ConfigChange::CreateRecord(NewRecord {
        kind: RecordKind::Sla,
        customer: Some(cx.caller.customer),
        parent_id: Some(monitor),
        unique_key: Some(monitor.to_string()),
        created_at: cx.now,
        created_by: cx.caller.login.to_string(),
        fields,
        sealed: None,
    })
}
