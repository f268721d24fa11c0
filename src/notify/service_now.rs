//! JSON for ServiceNow's table API. One body serves the tables `incident` and `em_event`: each reads the fields that
//! it has and ignores the others.

use serde_json::{Value, json};

use super::dedup_key::dedup_key;
use super::json_fields::json_fields;
use super::json_post::with_credentials;
use super::outgoing_message::OutgoingMessage;
use super::send_error::SendError;
use super::webhook::WebhookRequest;
use crate::domain::NotificationKind;

/// Most characters of a short description.
const MAX_SHORT_DESCRIPTION_CHARS: usize = 160;

/// Builds the request for `message`.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let content = &message.content;
    let (urgency, severity) = urgency_and_severity(content.kind);
    let correlation_id = dedup_key(content, &message.idempotency_key);
    let seconds = content.occurred_at.as_micros() / 1_000_000;
    let event_time =
        jiff::Timestamp::from_second(seconds).map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
    let details = Value::Object(json_fields(content, &message.idempotency_key, ""));
    let body = json!({
        // incident
        "short_description": message.subject.chars().take(MAX_SHORT_DESCRIPTION_CHARS).collect::<String>(),
        "description": message.text,
        "urgency": urgency,
        "impact": urgency,
        "category": "Monitoring",
        "correlation_id": correlation_id,
        "correlation_display": content.brand,
        // em_event
        "source": "vigie",
        "event_class": content.account_name,
        "node": content.monitor_name,
        "resource": content.target,
        "type": content.kind.title(),
        "metric_name": content.kind.name(),
        "message_key": correlation_id,
        "severity": severity,
        "resolution_state": if content.kind.is_clear() { "Closing" } else { "New" },
        "time_of_event": event_time.unwrap_or_default(),
        "additional_info": details.to_string(),
    });
    let request = WebhookRequest::post(&message.recipient.address, "application/json", body.to_string())?;
    Ok(with_credentials(request, &message.recipient, &message.credential.0)
        .with_idempotency_key(&message.idempotency_key))
}

/// Returns the urgency of an incident (1 high to 3 low) and the severity of an event (1 critical to 5 info, 0 clear).
const fn urgency_and_severity(kind: NotificationKind) -> (&'static str, &'static str) {
    match kind {
        NotificationKind::SiteError | NotificationKind::HostagentError => ("1", "1"),
        NotificationKind::NoData | NotificationKind::PerformanceError => ("2", "3"),
        NotificationKind::WebChange | NotificationKind::CertificateExpiration | NotificationKind::Digest => {
            ("3", "4")
        }
        NotificationKind::Traceroute | NotificationKind::Test => ("3", "5"),
        NotificationKind::SiteClear
        | NotificationKind::NoDataClear
        | NotificationKind::PerformanceClear
        | NotificationKind::HostagentClear => ("3", "0"),
    }
}
