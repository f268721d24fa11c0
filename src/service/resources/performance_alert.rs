//! Performance alerts of a monitor (behaviour.md 1 `/monitors/{id}/performance-alerts`).

use serde_json::{Map, Value, json};

use super::context::Bench;
use super::draft::{Draft, overlaid, whole};
use crate::domain::{MonitorId, Record, RecordKind};
use crate::schema::table::alerting::PERFORMANCE_ALERT;
use crate::service::caller::Refusal;
use crate::store::{Pagination, RecordFilter};
use crate::syntax::source::Node;

/// Performance alerts of one monitor at most.
const MOST: u64 = 50;

/// Of the monitor in the path.
pub(super) async fn create(bench: &Bench<'_>, body: &Node) -> Result<Draft, Refusal> {
    let monitor = bench.under.ok_or(Refusal::NotFound)?;
    if bench.parts.roster.of(bench.caller.customer, MonitorId(monitor)).is_none() {
        return Err(Refusal::NotFound);
    }
    let fields = whole(&PERFORMANCE_ALERT, body)?;
    let filter = RecordFilter {
        parent_id: vec![monitor],
        ..RecordFilter::new(RecordKind::PerformanceAlert).for_customer(bench.caller.customer)
    };
    let there = bench.parts.ledger.records(filter, Pagination { limit: 1, offset: 0 }).await?;
    if there.total >= MOST {
        return Err(Refusal::Conflict(format!("The monitor has {MOST} performance alerts already")));
    }
    let warnings = warnings(bench, monitor, &fields);
    Ok(Draft { assoc: Some(monitor), warnings, ..Draft::new(fields) })
}

pub(super) fn patch(bench: &Bench<'_>, old: &Record, body: &Node) -> Result<Draft, Refusal> {
    let fields = overlaid(&PERFORMANCE_ALERT, &old.fields, body)?;
    let warnings = warnings(bench, old.parent_id.unwrap_or_default(), &fields);
    Ok(Draft { warnings, ..Draft::of(old, fields) })
}

/// A window that may hold no check at all.
fn warnings(bench: &Bench<'_>, monitor: i64, fields: &Map<String, Value>) -> Vec<String> {
    let Some(monitor) = bench.parts.roster.of(bench.caller.customer, MonitorId(monitor)) else {
        return Vec::new();
    };
    let (window, interval) = (
        fields.get("window").and_then(Value::as_i64).unwrap_or_default(),
        i64::from(monitor.document.settings().schedule.interval),
    );
    if window >= interval {
        return Vec::new();
    }
    vec![format!(
        "`window` of {window} min is shorter than the interval of the monitor, {interval} min: \
         the mean will often be of no check"
    )]
}

/// What is kept beside the fields.
pub(super) fn computed(bench: &Bench<'_>, record: &Record, name: &str) -> Option<Value> {
    Some(match name {
        "monitor_id" => json!(record.parent_id),
        "active" => json!(bench.parts.directory.raised().has(record.id)),
        _ => return None,
    })
}
