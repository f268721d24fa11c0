//! Notifier groups (behaviour.md 1 `/notifier-groups`): which recipients get alerts of which monitors, steps and
//! errors.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, field_conflict_error, fields_with_defaults, merged_fields};
use crate::domain::{ConfigRecord, ConfigRecordKind, MonitorId};
use crate::schema::table::alerting::NOTIFIER_GROUP;
use crate::service::caller::ServiceError;
use crate::store::{ConfigRecordFilter, Pagination};
use crate::syntax::ValidationError;
use crate::syntax::node::Node;

pub(super) async fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let fields = fields_with_defaults(&NOTIFIER_GROUP, body)?;
    validate(cx, &fields, body).await?;
    Ok(RecordDraft::new(fields).with_unique_name(cx))
}

pub(super) async fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let fields = merged_fields(&NOTIFIER_GROUP, &old.fields, body)?;
    validate(cx, &fields, body).await?;
    Ok(RecordDraft::from_record(old, fields).with_unique_name(cx))
}

/// Checks that everything the body names belongs to the account and is listed once. Lists that the body does not
/// contain are not checked: their monitors may have been removed.
async fn validate(
    cx: &RecordContext<'_>,
    fields: &Map<String, Value>,
    body: &Node,
) -> Result<(), ServiceError> {
    let mut errors = Vec::new();
    let entries_in_body = |field: &'static str| {
        let entries = fields.get(field).filter(|_| body.get(field).is_some()).and_then(Value::as_array);
        entries.into_iter().flatten().enumerate()
    };
    for field in ["monitors", "recipients", "errortypes", "templates"] {
        let mut seen = HashSet::new();
        for (index, entry) in entries_in_body(field) {
            let number_field = |name: &str| entry.get(name).and_then(Value::as_i64);
            if !seen.insert((
                number_field("id"),
                number_field("step_number"),
                number_field("content_view_id"),
            )) {
                let path = format!("{field}[{index}]");
                errors.push(field_conflict_error(body, &path, format!("`{path}` is already in the list")));
            }
        }
    }
    let mut content_view_errors = Vec::new();
    let mut report_unknown_ids = |field: &'static str, object_name: &str, exists: &dyn Fn(i64) -> bool| {
        for (index, entry) in entries_in_body(field) {
            let id = entry.get("id").and_then(Value::as_i64).unwrap_or_default();
            if !exists(id) {
                let path = format!("{field}[{index}].id");
                errors.push(unknown_id_error(body, &path, object_name, id));
            }
        }
    };
    let customer = cx.caller.customer;
    report_unknown_ids("monitors", "monitor", &|id| {
        cx.dependencies.monitor_cache.get_for_customer(customer, MonitorId(id)).is_some()
    });
    for (index, entry) in entries_in_body("monitors") {
        let number_field = |name: &str| entry.get(name).and_then(Value::as_i64);
        let Some((id, content_view_id)) = number_field("id").zip(number_field("content_view_id")) else {
            continue;
        };
        let monitor = cx.dependencies.monitor_cache.get_for_customer(customer, MonitorId(id));
        // An unknown monitor is reported already.
        if monitor.is_some_and(|monitor| !monitor.has_content_view(content_view_id)) {
            let path = format!("monitors[{index}].content_view_id");
            let message = format!("`{path}`: monitor `{id}` has no content view `{content_view_id}`");
            content_view_errors
                .push(field_conflict_error(body, &path, message).with_value(content_view_id.to_string()));
        }
    }
    let recipients: HashSet<i64> =
        cx.account.contacts.recipients.iter().map(|recipient| recipient.id.0).collect();
    report_unknown_ids("recipients", "recipient", &|id| recipients.contains(&id));
    if body.get("templates").is_some() {
        let filter = ConfigRecordFilter::new(ConfigRecordKind::Template).for_customer(customer);
        let found = cx.dependencies.config_store.records(filter, Pagination::ALL).await?;
        let templates: HashSet<i64> = found.items.iter().map(|record| record.id).collect();
        report_unknown_ids("templates", "template", &|id| templates.contains(&id));
    }
    errors.extend(content_view_errors);
    if errors.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(errors)) }
}

fn unknown_id_error(body: &Node, path: &str, object_name: &str, id: i64) -> ValidationError {
    field_conflict_error(body, path, format!("`{path}`: {object_name} `{id}` does not exist"))
        .with_value(id.to_string())
}

/// Leaves out removed monitors, so that a client can send back the object that it read.
pub(super) fn computed_field(cx: &RecordContext<'_>, record: &ConfigRecord, name: &str) -> Option<Value> {
    if name != "monitors" {
        return None;
    }
    let exists = |entry: &&Value| {
        let id = entry.get("id").and_then(Value::as_i64).unwrap_or_default();
        cx.dependencies.monitor_cache.get_for_customer(record.customer, MonitorId(id)).is_some()
    };
    let monitors = record.fields.get("monitors")?.as_array()?;
    let to_object = |entry: &Value| {
        let field_value = |name: &str| entry.get(name);
        json!({
            "id": field_value("id"),
            "step_number": field_value("step_number"),
            "content_view_id": field_value("content_view_id"),
        })
    };
    Some(monitors.iter().filter(exists).map(to_object).collect())
}
