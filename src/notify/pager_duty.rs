//! PagerDuty, Events API version 2: an error triggers, its clear resolves. Both have the same `dedup_key`, so
//! that repeats fall into one incident.

use serde_json::{Value, json};

use super::dedup_key::dedup_key;
use super::json_fields::json_fields;
use super::outgoing_message::OutgoingMessage;
use super::send_error::SendError;
use super::webhook::WebhookRequest;
use crate::domain::{NotificationContent, NotificationKind};

/// Path of the API when the address has none.
const DEFAULT_API_PATH: &str = "/v2/enqueue";
/// Most characters of a summary.
const MAX_SUMMARY_CHARS: usize = 1_024;

/// Builds the request for `message`; the recipient's password is the routing key.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let content = &message.content;
    let mut event = json!({
        "routing_key": message.credential.0,
        "event_action": if content.kind.is_clear() { "resolve" } else { "trigger" },
        "dedup_key": dedup_key(content, &message.idempotency_key),
        "client": content.brand,
        "payload": {
            "summary": message.subject.chars().take(MAX_SUMMARY_CHARS).collect::<String>(),
            "source": if content.target.is_empty() { "vigie" } else { content.target.as_str() },
            "severity": severity(content, content.kind),
            "timestamp": content.occurred_at.to_string(),
            "component": content.monitor_name,
            "group": content.account_name,
            "class": content.kind.name(),
            "custom_details": json_fields(content, &message.idempotency_key, &message.text),
        },
    });
    if content.target.starts_with("https://") || content.target.starts_with("http://") {
        event["links"] = Value::Array(vec![json!({"href": content.target, "text": content.monitor_name})]);
    }
    let request = WebhookRequest::post(&message.recipient.address, "application/json", event.to_string())?;
    Ok(request.with_default_path(DEFAULT_API_PATH).with_idempotency_key(&message.idempotency_key))
}

/// Returns the severity of `kind`; for performance alerts, by their level.
pub(super) fn severity(content: &NotificationContent, kind: NotificationKind) -> &'static str {
    let level = content.extra.get("level").and_then(Value::as_str);
    if kind == NotificationKind::PerformanceError && level == Some("warning") {
        "warning"
    } else {
        base_severity(kind)
    }
}

/// Maps a kind to one of the four severities of the API.
const fn base_severity(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::SiteError | NotificationKind::HostagentError => "critical",
        NotificationKind::NoData | NotificationKind::PerformanceError => "error",
        NotificationKind::WebChange | NotificationKind::CertificateExpiration | NotificationKind::Digest => {
            "warning"
        }
        NotificationKind::SiteClear
        | NotificationKind::NoDataClear
        | NotificationKind::PerformanceClear
        | NotificationKind::HostagentClear
        | NotificationKind::Traceroute
        | NotificationKind::Test => "info",
    }
}
