//! Performance alerts of a monitor (behaviour.md 1 `/monitors/{id}/performance-alerts`).

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, fields_with_defaults, merged_fields};
use crate::domain::{ConfigRecord, ConfigRecordKind, MonitorId};
use crate::schema::table::alerting::PERFORMANCE_ALERT;
use crate::service::caller::ServiceError;
use crate::store::{ConfigRecordFilter, Pagination};
use crate::syntax::node::Node;

/// Most performance alerts of one monitor.
const MAX_PER_MONITOR: u64 = 50;

/// Prepares a performance alert of the monitor in the path.
pub(super) async fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let monitor_id = cx.parent_id.ok_or(ServiceError::NotFound)?;
    if cx.dependencies.monitor_cache.get_for_customer(cx.caller.customer, MonitorId(monitor_id)).is_none() {
        return Err(ServiceError::NotFound);
    }
    let fields = fields_with_defaults(&PERFORMANCE_ALERT, body)?;
    let filter = ConfigRecordFilter {
        parent_ids: vec![monitor_id],
        ..ConfigRecordFilter::new(ConfigRecordKind::PerformanceAlert).for_customer(cx.caller.customer)
    };
    let existing = cx.dependencies.config_store.records(filter, Pagination { limit: 1, offset: 0 }).await?;
    if existing.total >= MAX_PER_MONITOR {
        return Err(ServiceError::Conflict(format!(
            "The monitor has {MAX_PER_MONITOR} performance alerts already"
        )));
    }
    let warnings = warnings(cx, monitor_id, &fields);
    Ok(RecordDraft { parent_id: Some(monitor_id), warnings, ..RecordDraft::new(fields) })
}

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let fields = merged_fields(&PERFORMANCE_ALERT, &old.fields, body)?;
    let warnings = warnings(cx, old.parent_id.unwrap_or_default(), &fields);
    Ok(RecordDraft { warnings, ..RecordDraft::from_record(old, fields) })
}

/// Returns warnings about an alert that would tell nothing.
fn warnings(cx: &RecordContext<'_>, monitor_id: i64, fields: &Map<String, Value>) -> Vec<String> {
    let names_step = fields.get("step").is_some_and(|step| !step.is_null());
    let about_step = names_step.then(|| {
        "`step`: an alert about a step is stored and not evaluated; leave it out for the time of the whole check".to_owned()
    });
    about_step.into_iter().chain(window_warnings(cx, monitor_id, fields)).collect()
}

/// Warns if the window is shorter than the monitor's interval, since it may then contain no check.
fn window_warnings(cx: &RecordContext<'_>, monitor_id: i64, fields: &Map<String, Value>) -> Vec<String> {
    let Some(monitor) =
        cx.dependencies.monitor_cache.get_for_customer(cx.caller.customer, MonitorId(monitor_id))
    else {
        return Vec::new();
    };
    let (window, interval) = (
        fields.get("window").and_then(Value::as_i64).unwrap_or_default(),
        i64::try_from(monitor.interval().as_secs().div_ceil(60)).unwrap_or(i64::MAX),
    );
    if window >= interval {
        return Vec::new();
    }
    vec![format!(
        "`window` of {window} min is shorter than the interval of the monitor, {interval} min: \
         the mean will often be of no check"
    )]
}

/// Returns the value of a computed field.
pub(super) fn computed_field(cx: &RecordContext<'_>, record: &ConfigRecord, name: &str) -> Option<Value> {
    Some(match name {
        "monitor_id" => json!(record.parent_id),
        "active" => json!(cx.dependencies.account_cache.active_performance_alerts().is_active(record.id)),
        _ => return None,
    })
}
