//! JSON as ServiceNow's table API takes it. One body serves the tables `incident` and `em_event`: each reads the
//! fields that it has and leaves the others.

use serde_json::{Value, json};

use super::contract::OutgoingMessage;
use super::fields::json_fields;
use super::http::WebhookRequest;
use super::json_post::with_credentials;
use super::pager_duty::dedup_key;
use super::send_error::SendError;
use crate::domain::NotificationKind;

/// Characters of a short description.
const MAX_SHORT_DESCRIPTION: usize = 160;

/// The request for `message`.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let notice = &message.content;
    let (urgency, severity) = urgency_and_severity(notice.kind);
    let incident = dedup_key(notice, &message.key);
    let seconds = notice.at.as_micros() / 1_000_000;
    let time = jiff::Timestamp::from_second(seconds).map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
    let details = Value::Object(json_fields(notice, &message.key, ""));
    let body = json!({
        // incident
        "short_description": message.subject.chars().take(MAX_SHORT_DESCRIPTION).collect::<String>(),
        "description": message.text,
        "urgency": urgency,
        "impact": urgency,
        "category": "Monitoring",
        "correlation_id": incident,
        "correlation_display": notice.brand,
        // em_event
        "source": "vigie",
        "event_class": notice.company,
        "node": notice.monitor_name,
        "resource": notice.target,
        "type": notice.kind.title(),
        "metric_name": notice.kind.name(),
        "message_key": incident,
        "severity": severity,
        "resolution_state": if notice.kind.is_clear() { "Closing" } else { "New" },
        "time_of_event": time.unwrap_or_default(),
        "additional_info": details.to_string(),
    });
    let call = WebhookRequest::post(&message.recipient.address, "application/json", body.to_string())?;
    Ok(with_credentials(call, &message.recipient, &message.secret.0).with_idempotency_key(&message.key))
}

/// Urgency of an incident (1 high to 3 low) and severity of an event (1 critical to 5 info, 0 clear).
const fn urgency_and_severity(kind: NotificationKind) -> (&'static str, &'static str) {
    match kind {
        NotificationKind::SiteError | NotificationKind::HostagentError => ("1", "1"),
        NotificationKind::NoData | NotificationKind::PerformanceError => ("2", "3"),
        NotificationKind::WebChange | NotificationKind::CertificateExpiration | NotificationKind::Digest => {
            ("3", "4")
        }
        NotificationKind::Traceroute | NotificationKind::Test => ("3", "5"),
        NotificationKind::SiteClear
        | NotificationKind::PerformanceClear
        | NotificationKind::HostagentClear => ("3", "0"),
    }
}
