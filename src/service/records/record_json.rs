//! Records as version 3 objects: every field of the table except those that are never shown.

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::{event, location, notifier_group, performance_alert, recipient, sla, template};
use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::v3_time_format::{format_audit_time, format_window_time};
use crate::domain::{Record, RecordKind};
use crate::schema::typed::record::ReportedEvent;

/// Converts `record` to its object; fields without a value are null.
pub(super) fn record_to_json(cx: &RecordContext<'_>, record: &Record) -> Map<String, Value> {
    let table = cx.definition.field_table;
    let value = |name: &'static str, default: Option<Value>| {
        computed_field(cx, record, name)
            .or_else(|| record.fields.get(name).cloned())
            .or(default)
            .unwrap_or(Value::Null)
    };
    table
        .fields()
        .iter()
        // A recipient's password is shown masked (behaviour.md 1 "Secrets"); other secrets are not shown at all.
        .filter(|field| !field.secret || record.kind == RecordKind::Recipient)
        .map(|field| (field.name.to_owned(), value(field.name, field.default_value())))
        .collect()
}

/// Returns the value of a field that is not stored.
fn computed_field(cx: &RecordContext<'_>, record: &Record, name: &str) -> Option<Value> {
    Some(match (record.kind, name) {
        (_, "id") => json!(record.id),
        (RecordKind::User, "customer_id") => json!(record.customer.0),
        (RecordKind::User, "created_at") | (RecordKind::Blackout, "date_added") => {
            json!(format_audit_time(record.created_at))
        }
        (RecordKind::User, "created_by") | (RecordKind::Blackout | RecordKind::Event, "login") => {
            json!(record.created_by)
        }
        (RecordKind::Blackout, "assoc_id") => json!(record.parent_id),
        (RecordKind::Event, "name") => {
            json!(event::event_label(settings_or_skip::<ReportedEvent<'_>>(record)?.event_type))
        }
        (RecordKind::Event, "timestamp") => {
            json!(format_window_time(record.created_at, &cx.account.time_zone))
        }
        (RecordKind::Location, "health") => location::health_to_json(0, 0),
        (RecordKind::Location, "managed") => json!(false),
        (RecordKind::Recipient, name) => return recipient::computed_field(cx, record, name),
        (RecordKind::NotifierGroup, name) => return notifier_group::computed_field(cx, record, name),
        (RecordKind::Template, name) => return template::computed_field(record, name),
        (RecordKind::Sla, name) => return sla::computed_field(record, name),
        (RecordKind::PerformanceAlert, name) => {
            return performance_alert::computed_field(cx, record, name);
        }
        _ => return None,
    })
}
