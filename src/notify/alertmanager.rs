//! Prometheus Alertmanager, API version 2. An error and its clear have the same labels, by which Alertmanager
//! identifies an alert; everything that changes from run to run is an annotation.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::dedup_key::{dedup_key, performance_alert_key};
use super::json_post::with_credentials;
use super::outgoing_message::OutgoingMessage;
use super::pager_duty::severity;
use super::send_error::SendError;
use super::webhook::WebhookRequest;
use crate::domain::NotificationKind;

/// Path of the API when the address has none.
const DEFAULT_API_PATH: &str = "/api/v2/alerts";
/// How long an alert stays active without a clear. Recipients may limit the number of messages, and Alertmanager
/// would resolve an alert that is not repeated after some minutes.
const ALERT_DURATION: Duration = Duration::from_hours(24);

/// Builds the request for `message`.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let content = &message.content;
    let error_kind = error_kind_cleared_by(content.kind);
    let mut labels = Map::new();
    let mut add_label = |name: &str, value: String| {
        if !value.is_empty() {
            labels.insert(name.to_owned(), Value::String(value));
        }
    };
    add_label("alertname", format!("Vigie{}", error_kind.title().replace(' ', "")));
    add_label("severity", severity(content, error_kind).to_owned());
    add_label("company", content.account_name.clone());
    add_label("monitor", content.monitor_name.clone());
    add_label("monitor_id", content.monitor_id.map(|id| id.to_string()).unwrap_or_default());
    add_label(
        "monitor_type",
        content.monitor_type.map(|monitor_type| monitor_type.name().to_owned()).unwrap_or_default(),
    );
    add_label("target", content.target.clone());
    if let Some((alert_id, location_id)) = performance_alert_key(content) {
        add_label("performance_alert", alert_id.to_string());
        add_label("location_id", location_id.to_string());
    }
    if content.monitor_id.is_none() {
        add_label("key", message.idempotency_key.clone());
    }
    let ends_at =
        if content.kind.is_clear() { content.occurred_at } else { content.occurred_at + ALERT_DURATION };
    let body = json!([{
        "labels": labels,
        "annotations": {
            "summary": message.subject,
            "description": message.text,
            "status": content.status.to_string(),
            "status_text": content.status_text,
            "location": content.location_name,
            "alert_note": content.alert_note,
            "idempotency_key": message.idempotency_key,
            "dedup_key": dedup_key(content, &message.idempotency_key),
        },
        "startsAt": content.outage_started_at.unwrap_or(content.occurred_at).to_string(),
        "endsAt": ends_at.to_string(),
    }]);
    let request = WebhookRequest::post(&message.recipient.address, "application/json", body.to_string())?;
    Ok(with_credentials(
        request.with_default_path(DEFAULT_API_PATH),
        &message.recipient,
        &message.credential.0,
    )
    .with_idempotency_key(&message.idempotency_key))
}

/// Returns the kind that `kind` clears; `kind` itself when it is not a clear.
const fn error_kind_cleared_by(kind: NotificationKind) -> NotificationKind {
    match kind {
        NotificationKind::SiteClear => NotificationKind::SiteError,
        NotificationKind::NoDataClear => NotificationKind::NoData,
        NotificationKind::PerformanceClear => NotificationKind::PerformanceError,
        NotificationKind::HostagentClear => NotificationKind::HostagentError,
        other => other,
    }
}
