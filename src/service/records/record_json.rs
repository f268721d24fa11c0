//! Records as version 3 objects: every field of the table except those that are never shown.

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::{
    agent, event, host, location, notifier_group, performance_alert, recipient, sla, template, view,
};
use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::v3_time_format::{format_utc_time, format_window_time};
use crate::domain::{ConfigRecord, ConfigRecordKind, LocationId};
use crate::schema::typed::record::ReportedEvent;

/// Converts `record` to its object; fields without a value are null.
pub(super) fn record_to_json(cx: &RecordContext<'_>, record: &ConfigRecord) -> Map<String, Value> {
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
        .filter(|field| !field.secret || record.kind == ConfigRecordKind::Recipient)
        .map(|field| (field.name.to_owned(), value(field.name, field.default_value())))
        .collect()
}

/// Returns the value of a field that is not stored.
fn computed_field(cx: &RecordContext<'_>, record: &ConfigRecord, name: &str) -> Option<Value> {
    Some(match (record.kind, name) {
        (_, "id") => json!(record.id),
        (ConfigRecordKind::User, "customer_id") => json!(record.customer.0),
        (ConfigRecordKind::User, "created_at") | (ConfigRecordKind::Blackout, "date_added") => {
            json!(format_utc_time(record.created_at))
        }
        (ConfigRecordKind::User, "created_by")
        | (ConfigRecordKind::Blackout | ConfigRecordKind::Event, "login") => {
            json!(record.created_by)
        }
        (ConfigRecordKind::Blackout, "assoc_id") => json!(record.parent_id),
        (ConfigRecordKind::Event, "name") => {
            json!(event::event_label(settings_or_skip::<ReportedEvent<'_>>(record)?.event_type))
        }
        (ConfigRecordKind::Event, "timestamp") => {
            json!(format_window_time(record.created_at, &cx.account.time_zone))
        }
        (ConfigRecordKind::Location, "health") => {
            let (enrolled_count, alive_count) = cx.agent_states.count_agents(LocationId(record.id));
            location::health_to_json(enrolled_count, alive_count)
        }
        (ConfigRecordKind::Location, "managed") => json!(false),
        (ConfigRecordKind::Host, name) => return host::computed_field(cx, record, name),
        (ConfigRecordKind::Agent, name) => return agent::computed_field(cx, record, name),
        (ConfigRecordKind::Recipient, name) => return recipient::computed_field(cx, record, name),
        (ConfigRecordKind::NotifierGroup, name) => return notifier_group::computed_field(cx, record, name),
        (ConfigRecordKind::Template, name) => return template::computed_field(record, name),
        (ConfigRecordKind::Sla, name) => return sla::computed_field(record, name),
        (ConfigRecordKind::View, name) => return view::computed_field(record, name),
        (ConfigRecordKind::PerformanceAlert, name) => {
            return performance_alert::computed_field(cx, record, name);
        }
        _ => return None,
    })
}
