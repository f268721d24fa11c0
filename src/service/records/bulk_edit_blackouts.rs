//! Blackout bulk edit (interface.md 2.4): blackouts of several monitors, all or nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::audit_fields;
use super::blackout::{default_to_one_time, is_past};
use super::config_record_service::ConfigRecordService;
use super::record_context::RecordContext;
use super::record_definition::record_definition;
use super::record_draft::{field_conflict_error, invalid_request_error};
use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::v3_time_format::to_local_time;
use crate::domain::{ConfigRecord, ConfigRecordKind, MonitorId};
use crate::schema::blackout;
use crate::schema::table::requests::BLACKOUT;
use crate::schema::typed::record::{BlackoutKind, BlackoutSettings};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{
    AuditObject, ConfigChange, ConfigRecordFilter, NewAuditEntry, NewConfigRecord, Pagination,
};
use crate::syntax::node::Node;

/// Most blackouts that one call creates or removes.
const MAX_BLACKOUTS_PER_EDIT: usize = 100_000;

/// The store query is filtered by monitor only up to this number of monitors.
const MAX_MONITORS_IN_FILTER: usize = 500;

impl ConfigRecordService {
    /// Blackout bulk edit (interface.md 2.4): all or nothing. An id that is not a monitor of the account gives 403.
    pub async fn bulk_edit_blackouts(&self, caller: &Caller, body: &Node) -> Result<(), ServiceError> {
        let definition = record_definition(ConfigRecordKind::Blackout);
        caller.require_permission(definition.edit_permission)?;
        let _lock = self.edit_lock.lock().await;
        // The monitors must not be removed before their blackouts are stored.
        let _monitors = self.dependencies.monitor_cache.lock_shared().await;
        let cx = self.context(caller, definition).await?;
        let request = blackout::validate_bulk_edit(body, to_local_time(cx.now, &cx.account.time_zone))?;
        let monitor_ids = requested_monitor_ids(&cx, &request)?;
        let new_blackouts = [
            ("update_one_time", "one_time_blackouts", false),
            ("update_persistent", "persistent_blackouts", true),
        ]
        .into_iter()
        .filter(|(enable_field, ..)| request.get(*enable_field) == Some(&Value::Bool(true)))
        .flat_map(|(_, list_field, weekly)| {
            list_entries(&request, list_field).map(move |entry| new_blackout_fields(entry, weekly))
        })
        .collect::<Vec<_>>();
        let to_remove = self.blackouts_to_replace(&cx, &request, &monitor_ids).await?;
        let change_count =
            monitor_ids.len().saturating_mul(new_blackouts.len()).saturating_add(to_remove.len());
        if change_count > MAX_BLACKOUTS_PER_EDIT {
            let message = format!(
                "`monitors`: this creates and removes {change_count} blackouts; at most {MAX_BLACKOUTS_PER_EDIT} are allowed at once"
            );
            return Err(invalid_request_error(field_conflict_error(body, "monitors", message)));
        }
        let (changes, entries) = build_changes(&cx, &monitor_ids, &new_blackouts, &to_remove);
        if !changes.is_empty() {
            self.dependencies.config_store.write_changes(changes, entries).await?;
            self.dependencies.account_cache.invalidate(caller.customer);
        }
        Ok(())
    }

    /// Returns the blackouts that the edit replaces, one-time or weekly ones. Past blackouts are kept.
    async fn blackouts_to_replace(
        &self,
        cx: &RecordContext<'_>,
        request: &Map<String, Value>,
        monitor_ids: &BTreeSet<i64>,
    ) -> Result<Vec<ConfigRecord>, ServiceError> {
        let replaces = |enable_field: &str, action_field: &str| {
            request.get(enable_field) == Some(&Value::Bool(true))
                && request.get(action_field) == Some(&json!("replace"))
        };
        let replaces_one_time = replaces("update_one_time", "update_one_time_action");
        let replaces_weekly = replaces("update_persistent", "update_persistent_action");
        if !replaces_one_time && !replaces_weekly {
            return Ok(Vec::new());
        }
        let mut filter = ConfigRecordFilter::new(ConfigRecordKind::Blackout).for_customer(cx.caller.customer);
        if monitor_ids.len() <= MAX_MONITORS_IN_FILTER {
            filter.parent_ids = monitor_ids.iter().copied().collect();
        }
        let found = self.dependencies.config_store.records(filter, Pagination::ALL).await?;
        let is_replaced = |record: &ConfigRecord| {
            let Some(blackout) = settings_or_skip::<BlackoutSettings<'_>>(record) else { return false };
            let is_selected = if blackout.recurs_weekly { replaces_weekly } else { replaces_one_time };
            let is_attached = record.parent_id.is_some_and(|monitor| monitor_ids.contains(&monitor));
            is_selected
                && is_attached
                && blackout.kind != BlackoutKind::RecipientNotifications
                && !is_past(cx, record)
        };
        Ok(found.items.into_iter().filter(is_replaced).collect())
    }
}

/// Returns the monitors that a bulk edit names; 403 when one of them is not the account's.
pub(super) fn requested_monitor_ids(
    cx: &RecordContext<'_>,
    request: &Map<String, Value>,
) -> Result<BTreeSet<i64>, ServiceError> {
    let ids: BTreeSet<i64> = list_entries(request, "monitors").filter_map(Value::as_i64).collect();
    let monitor_cache = &cx.dependencies.monitor_cache;
    let unknown: Vec<i64> = ids
        .iter()
        .copied()
        .filter(|id| monitor_cache.get_for_customer(cx.caller.customer, MonitorId(*id)).is_none())
        .take(10)
        .collect();
    if unknown.is_empty() {
        return Ok(ids);
    }
    let quoted_ids: Vec<_> = unknown.iter().map(|id| format!("`{id}`")).collect();
    Err(ServiceError::Forbidden(format!(
        "`monitors`: monitor {} does not exist; nothing was changed",
        quoted_ids.join(", ")
    )))
}

fn list_entries<'a>(request: &'a Map<String, Value>, field: &str) -> impl Iterator<Item = &'a Value> {
    request.get(field).and_then(Value::as_array).into_iter().flatten()
}

fn new_blackout_fields(entry: &Value, weekly: bool) -> Map<String, Value> {
    let mut fields = entry.as_object().cloned().unwrap_or_default();
    fields.retain(|_, value| !value.is_null());
    fields.insert("persistent".to_owned(), json!(weekly));
    default_to_one_time(&mut fields);
    fields
}

/// Builds the writes. New blackouts come first, since their audit entries refer to them by index.
fn build_changes(
    cx: &RecordContext<'_>,
    monitor_ids: &BTreeSet<i64>,
    new_blackouts: &[Map<String, Value>],
    to_remove: &[ConfigRecord],
) -> (Vec<ConfigChange>, Vec<NewAuditEntry>) {
    let (mut changes, mut audit_entries) = (Vec::new(), Vec::new());
    for (monitor, fields) in
        monitor_ids.iter().flat_map(|id| new_blackouts.iter().map(move |fields| (*id, fields)))
    {
        let mut entry = cx.audit_entry(
            "create",
            AuditObject::CreatedInThisCall(changes.len()),
            cx.definition.record_name(fields),
        );
        (entry.before, entry.after) = audit_fields::changed_fields(&BLACKOUT, &Map::new(), fields);
        entry.after.insert("assoc_id".to_owned(), json!(monitor));
        audit_entries.push(entry);
        changes.push(ConfigChange::CreateRecord(NewConfigRecord {
            kind: ConfigRecordKind::Blackout,
            customer: Some(cx.caller.customer),
            parent_id: Some(monitor),
            unique_key: None,
            created_at: cx.now,
            created_by: cx.caller.login.to_string(),
            fields: fields.clone(),
            private_data: None,
        }));
    }
    for record in to_remove {
        let mut entry =
            cx.audit_entry("delete", AuditObject::Id(record.id), cx.definition.record_name(&record.fields));
        (entry.before, entry.after) = audit_fields::changed_fields(&BLACKOUT, &record.fields, &Map::new());
        entry.before.insert("assoc_id".to_owned(), json!(record.parent_id));
        audit_entries.push(entry);
        let (kind, id) = (ConfigRecordKind::Blackout, record.id);
        changes.push(ConfigChange::RemoveRecord { kind, id, expected: record.revision });
    }
    (changes, audit_entries)
}
