//! The fields of a message in JSON and forms (behaviour.md 6 "JSON fields"). Choices of this implementation:
//! `timestamp` is RFC 3339 in UTC, `device_type` and `device_typecode` are both the type's name in version 3,
//! `transaction` is `y` for scripted monitors. Additional fields: `kind`, `episode`, `check`, `since`, `target`,
//! `reasons`, `verification`, `trace_id`, `content_views`, `key`, `dedup_key`.

use serde_json::{Map, Value, json};

use super::dedup_key::dedup_key;
use crate::domain::{LocationReport, MonitorType, NotificationContent, Status};

/// Value of `source`.
const SOURCE_VALUE: &str = "vigie";

/// Returns the fields of `content`, as strings except for lists; empty where a value is absent.
#[must_use]
pub fn json_fields(content: &NotificationContent, idempotency_key: &str, text: &str) -> Map<String, Value> {
    let monitor_type_name = content.monitor_type.map_or("", MonitorType::name);
    let is_scripted = matches!(
        content.monitor_type,
        Some(MonitorType::BrowserScript | MonitorType::WebsiteApi | MonitorType::WebsiteSslApi)
    );
    let step = content.failing_step.as_ref();
    let trace_id = content.extra.get("trace_id").and_then(Value::as_str).unwrap_or_default();
    let text_fields: [(&str, String); 30] = [
        ("source", SOURCE_VALUE.to_owned()),
        ("notify_type", content.kind.title().to_owned()),
        ("custid", content.customer.to_string()),
        ("company", content.account_name.clone()),
        ("device_id", display_or_empty(content.monitor_id)),
        ("device_name", content.monitor_name.clone()),
        ("device_type", monitor_type_name.to_owned()),
        ("device_typecode", monitor_type_name.to_owned()),
        ("status", content.status.to_string()),
        ("status_text", content.status_text.clone()),
        ("errcount", content.consecutive_failures.to_string()),
        ("http_status", display_or_empty(content.http_status)),
        ("location", content.location_name.clone()),
        ("location_num", display_or_empty(content.location_id)),
        ("timestamp", content.occurred_at.to_string()),
        ("transaction", if is_scripted { "y" } else { "n" }.to_owned()),
        ("url", content.target.clone()),
        ("step_num", step.map(|(number, _)| number.to_string()).unwrap_or_default()),
        ("step_name", step.map(|(_, name)| name.clone()).unwrap_or_default()),
        ("alert_note", content.alert_note.clone()),
        ("kind", content.kind.name().to_owned()),
        ("brand", content.brand.clone()),
        ("episode", display_or_empty(content.episode_id)),
        ("check", display_or_empty(content.check_id)),
        ("since", display_or_empty(content.outage_started_at)),
        (
            "verification",
            content
                .verification
                .as_ref()
                .map(|verification| verification.status.to_string())
                .unwrap_or_default(),
        ),
        ("trace_id", trace_id.to_owned()),
        ("key", idempotency_key.to_owned()),
        ("dedup_key", dedup_key(content, idempotency_key)),
        ("text", text.to_owned()),
    ];
    let mut fields: Map<String, Value> =
        text_fields.into_iter().map(|(name, text)| (name.to_owned(), Value::String(text))).collect();
    fields
        .insert("rotated_locations".to_owned(), content.location_reports.iter().map(location_json).collect());
    fields.insert("reasons".to_owned(), json!(content.reasons));
    let content_views = content.extra.get("content_views").cloned().unwrap_or_else(|| json!([]));
    fields.insert("content_views".to_owned(), content_views);
    fields
}

fn location_json(report: &LocationReport) -> Value {
    json!({
        "location": report.name,
        "location_num": report.location_id.to_string(),
        "status": display_or_empty(report.status.map(|Status(code)| code)),
        "status_text": report.status_text,
    })
}

fn display_or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
