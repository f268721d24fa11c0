//! Copies a monitor (interface.md 2.5, Monitor clone).

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;

use super::access::find_own_monitor;
use super::account_validation::AccountValidationContext;
use super::bulk_change::read_request_body;
use super::monitor_change::MonitorChange;
use super::monitor_service::MonitorService;
use super::save::{save_changes, saved_object};
use crate::domain::{ConfigRecord, ConfigRecordKind, MonitorId};
use crate::schema::reader::InputFormat;
use crate::schema::table::requests::MONITOR_CLONE;
use crate::schema::typed::request::{CloneRequest, parse_request_fields};
use crate::schema::{Monitor, Origin, validate};
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::store::{ConfigChange, ConfigRecordFilter, NewConfigRecord, Pagination};
use crate::syntax::node::Node;

/// Most characters of a name (interface.md 8).
const MAX_NAME_CHARS: usize = 255;

/// Copies a monitor under another name, `Copy of …` when the body has none. Copies everything, including performance
/// alerts and secrets, except its id, metadata, pause, blackouts and agreement; the copy of a file's monitor does not
/// belong to the file. The copy is validated like a new monitor, so that removed locations, for example, are reported.
///
/// # Errors
/// [`ServiceError::NotFound`], [`ServiceError::Forbidden`] for a role that may not edit, [`ServiceError::Invalid`];
/// errors of the store.
pub async fn copy_monitor(
    service: &MonitorService,
    caller: &Caller,
    id: MonitorId,
    body: &Node,
) -> Result<SavedObject, ServiceError> {
    let _lock = service.lock_shared().await;
    let validation = AccountValidationContext::new(service, caller).await?;
    let old = find_own_monitor(&service.dependencies.monitor_cache, caller, id)?;
    let fields = read_request_body(&MONITOR_CLONE, body)?;
    let request: CloneRequest<'_> = parse_request_fields(&MONITOR_CLONE, &fields)?;
    let name = match request.name {
        Some(name) => name.to_owned(),
        None => copy_name(&old),
    };
    let name_patch = Node::from(json!({"name": name}));
    let validated = validate::merge_and_validate(
        &old.document,
        InputFormat::V3,
        &name_patch,
        &validation.validation_context(),
    )?;
    let document = Arc::new(validated.document);
    let monitors = save_changes(
        service,
        caller,
        vec![MonitorChange::Create { audit_action: "clone", origin: Origin::Api, document }],
    )
    .await?;
    if let Some(copy) = monitors.first() {
        copy_performance_alerts(service, caller, &HashMap::from([(id, copy.id)])).await?;
    }
    saved_object(&monitors, validated.warnings)
}

/// Returns the name of a copy of `monitor`.
pub(super) fn copy_name(monitor: &Monitor) -> String {
    format!("Copy of {}", monitor.name()).chars().take(MAX_NAME_CHARS).collect()
}

/// Copies the performance alerts of each original to its copy, in a second transaction: they need the id of the copy.
pub(super) async fn copy_performance_alerts(
    service: &MonitorService,
    caller: &Caller,
    copies: &HashMap<MonitorId, MonitorId>,
) -> Result<(), ServiceError> {
    let filter = ConfigRecordFilter {
        parent_ids: copies.keys().map(|original| original.0).collect(),
        ..ConfigRecordFilter::new(ConfigRecordKind::PerformanceAlert).for_customer(caller.customer)
    };
    let found = service.dependencies.config_store.records(filter, Pagination::ALL).await?;
    let now = service.dependencies.clock.now();
    let to_copy = |record: ConfigRecord| {
        let copy = copies.get(&MonitorId(record.parent_id?))?;
        Some(ConfigChange::CreateRecord(NewConfigRecord {
            kind: record.kind,
            customer: Some(caller.customer),
            parent_id: Some(copy.0),
            unique_key: None,
            created_at: now,
            created_by: caller.login.to_string(),
            fields: record.fields,
            private_data: None,
        }))
    };
    let changes: Vec<ConfigChange> = found.items.into_iter().filter_map(to_copy).collect();
    if !changes.is_empty() {
        service.dependencies.config_store.write_changes(changes, Vec::new()).await?;
    }
    Ok(())
}
