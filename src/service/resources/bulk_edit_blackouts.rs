//! Blackout bulk edit (interface.md 2.4): blackouts of several monitors, all or nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::audit_fields;
use super::blackout::{default_to_one_time, is_past};
use super::record_context::RecordContext;
use super::record_draft::{field_conflict_error, invalid_request};
use super::resource_kind::record_definition;
use super::resource_service::RecordService;
use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::timestamp_format::to_local;
use crate::domain::{MonitorId, Record, RecordKind};
use crate::schema::blackout;
use crate::schema::table::requests::BLACKOUT;
use crate::schema::typed::record::{BlackoutKind, BlackoutSettings};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{AuditObject, ConfigChange, NewAuditEntry, NewRecord, Pagination, RecordFilter};
use crate::syntax::node::Node;

/// Most blackouts that one call creates or removes.
const MAX_BLACKOUTS_PER_EDIT: usize = 100_000;

/// The store query is filtered by monitor only up to this number of monitors.
const MAX_MONITORS_IN_FILTER: usize = 500;

impl RecordService {
    /// Blackout bulk edit (interface.md 2.4): all or nothing. An id that is not a monitor of the account gives 403.
    pub async fn bulk_edit_blackouts(&self, caller: &Caller, body: &Node) -> Result<(), ServiceError> {
        let kind = record_definition(RecordKind::Blackout);
        caller.require_permission(kind.edit_permission)?;
        let _lock = self.edit_lock.lock().await;
        // The monitors must not be removed before their blackouts are stored.
        let _monitors = self.dependencies.monitor_cache.lock_shared().await;
        let cx = self.context(caller, kind).await?;
        let request = blackout::validate_bulk_edit(body, to_local(cx.now, &cx.account.time_zone))?;
        let monitors = requested_monitor_ids(&cx, &request)?;
        let new = [
            ("update_one_time", "one_time_blackouts", false),
            ("update_persistent", "persistent_blackouts", true),
        ]
        .into_iter()
        .filter(|(switch, ..)| request.get(*switch) == Some(&Value::Bool(true)))
        .flat_map(|(_, list, weekly)| {
            list_entries(&request, list).map(move |entry| new_blackout_fields(entry, weekly))
        })
        .collect::<Vec<_>>();
        let replaced = self.blackouts_to_replace(&cx, &request, &monitors).await?;
        let max = monitors.len().saturating_mul(new.len()).saturating_add(replaced.len());
        if max > MAX_BLACKOUTS_PER_EDIT {
            let message = format!(
                "`monitors`: this creates and removes {max} blackouts; at most {MAX_BLACKOUTS_PER_EDIT} are allowed at once"
            );
            return Err(invalid_request(field_conflict_error(body, "monitors", message)));
        }
        let (changes, entries) = build_changes(&cx, &monitors, &new, &replaced);
        if !changes.is_empty() {
            self.dependencies.config_store.write_changes(changes, entries).await?;
            self.dependencies.account_cache.invalidate();
        }
        Ok(())
    }

    /// Returns the blackouts that the edit replaces, one-time or weekly ones. Past blackouts are kept.
    async fn blackouts_to_replace(
        &self,
        cx: &RecordContext<'_>,
        request: &Map<String, Value>,
        monitors: &BTreeSet<i64>,
    ) -> Result<Vec<Record>, ServiceError> {
        let replaces = |switch: &str, action: &str| {
            request.get(switch) == Some(&Value::Bool(true)) && request.get(action) == Some(&json!("replace"))
        };
        let once = replaces("update_one_time", "update_one_time_action");
        let weekly = replaces("update_persistent", "update_persistent_action");
        if !once && !weekly {
            return Ok(Vec::new());
        }
        let mut filter = RecordFilter::new(RecordKind::Blackout).for_customer(cx.caller.customer);
        if monitors.len() <= MAX_MONITORS_IN_FILTER {
            filter.parent_ids = monitors.iter().copied().collect();
        }
        let found =
            self.dependencies.config_store.records(filter, Pagination { limit: u32::MAX, offset: 0 }).await?;
        let is_replaced = |record: &Record| {
            let Some(blackout) = settings_or_skip::<BlackoutSettings<'_>>(record) else { return false };
            let is_selected = if blackout.persistent { weekly } else { once };
            let is_attached = record.parent_id.is_some_and(|monitor| monitors.contains(&monitor));
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
    let monitors = &cx.dependencies.monitor_cache;
    let unknown: Vec<i64> = ids
        .iter()
        .copied()
        .filter(|id| monitors.get_for_customer(cx.caller.customer, MonitorId(*id)).is_none())
        .take(10)
        .collect();
    if unknown.is_empty() {
        return Ok(ids);
    }
    let named: Vec<_> = unknown.iter().map(|id| format!("`{id}`")).collect();
    Err(ServiceError::Forbidden(format!(
        "`monitors`: monitor {} does not exist; nothing was changed",
        named.join(", ")
    )))
}

fn list_entries<'a>(request: &'a Map<String, Value>, list: &str) -> impl Iterator<Item = &'a Value> {
    request.get(list).and_then(Value::as_array).into_iter().flatten()
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
    monitors: &BTreeSet<i64>,
    new: &[Map<String, Value>],
    removed: &[Record],
) -> (Vec<ConfigChange>, Vec<NewAuditEntry>) {
    let (mut changes, mut entries) = (Vec::new(), Vec::new());
    for (monitor, fields) in monitors.iter().flat_map(|id| new.iter().map(move |fields| (*id, fields))) {
        let mut entry = cx.audit_entry(
            "create",
            AuditObject::CreatedByWrite(changes.len()),
            cx.definition.name_of(fields),
        );
        (entry.before, entry.after) = audit_fields::changed_fields(&BLACKOUT, &Map::new(), fields);
        entry.after.insert("assoc_id".to_owned(), json!(monitor));
        entries.push(entry);
        changes.push(ConfigChange::CreateRecord(NewRecord {
            kind: RecordKind::Blackout,
            customer: Some(cx.caller.customer),
            parent_id: Some(monitor),
            unique_key: None,
            created_at: cx.now,
            created_by: cx.caller.login.to_string(),
            fields: fields.clone(),
            private_data: None,
        }));
    }
    for record in removed {
        let mut entry =
            cx.audit_entry("delete", AuditObject::Id(record.id), cx.definition.name_of(&record.fields));
        (entry.before, entry.after) = audit_fields::changed_fields(&BLACKOUT, &record.fields, &Map::new());
        entry.before.insert("assoc_id".to_owned(), json!(record.parent_id));
        entries.push(entry);
        let (kind, id) = (RecordKind::Blackout, record.id);
        changes.push(ConfigChange::RemoveRecord { kind, id, expected: record.revision });
    }
    (changes, entries)
}
