//! PagerDuty, Events API version 2: an error triggers, its clear resolves. Both name the outage by the same
//! `dedup_key`, so that repeats fall into one incident.

use serde_json::{Value, json};

use super::contract::OutgoingMessage;
use super::fields::json_fields;
use super::http::WebhookRequest;
use super::send_error::SendError;
use crate::domain::{LocationId, NotificationContent, NotificationKind};

/// Where events go when the address names no path.
const PATH: &str = "/v2/enqueue";
/// Characters of a summary.
const MAX_SUMMARY_CHARS: usize = 1_024;

/// The request for `message`; the recipient's password is the routing key.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let notice = &message.content;
    let mut event = json!({
        "routing_key": message.secret.0,
        "event_action": if notice.kind.is_clear() { "resolve" } else { "trigger" },
        "dedup_key": dedup_key(notice, &message.key),
        "client": notice.brand,
        "payload": {
            "summary": message.subject.chars().take(MAX_SUMMARY_CHARS).collect::<String>(),
            "source": if notice.target.is_empty() { "vigie" } else { notice.target.as_str() },
            "severity": severity(notice, notice.kind),
            "timestamp": notice.at.to_string(),
            "component": notice.monitor_name,
            "group": notice.company,
            "class": notice.kind.name(),
            "custom_details": json_fields(notice, &message.key, &message.text),
        },
    });
    if notice.target.starts_with("https://") || notice.target.starts_with("http://") {
        event["links"] = Value::Array(vec![json!({"href": notice.target, "text": notice.monitor_name})]);
    }
    let call = WebhookRequest::post(&message.recipient.address, "application/json", event.to_string())?;
    Ok(call.with_default_path(PATH).with_idempotency_key(&message.key))
}

/// The name of what an error and its clear are about: the outage, or what else they have in common; `key` of
/// messages that stand alone. At most 255 characters.
pub(super) fn dedup_key(notice: &NotificationContent, key: &str) -> String {
    let family = match notice.kind {
        NotificationKind::PerformanceError | NotificationKind::PerformanceClear => "performance",
        NotificationKind::HostagentError | NotificationKind::HostagentClear => "hostagent",
        NotificationKind::SiteError | NotificationKind::SiteClear => "site",
        _ => return key.chars().take(255).collect(),
    };
    if let Some((alert, location)) = performance_alert_key(notice) {
        return format!("vigie-performance-{alert}-{location}");
    }
    match (notice.episode, notice.monitor_id) {
        (Some(episode), _) => format!("vigie-{family}-episode-{episode}"),
        (None, Some(monitor)) => format!("vigie-{family}-monitor-{monitor}"),
        (None, None) => key.chars().take(255).collect(),
    }
}

/// The performance alert that `notice` is about, and where it is raised: each is raised and ends on its own.
pub(super) fn performance_alert_key(notice: &NotificationContent) -> Option<(i64, LocationId)> {
    let alert = notice.extra.get("alert_id").filter(|_| notice.kind.is_performance())?.as_i64()?;
    Some((alert, notice.location_id?))
}

/// The severity of `kind`; of performance alerts, by their level.
pub(super) fn severity(notice: &NotificationContent, kind: NotificationKind) -> &'static str {
    let level = notice.extra.get("level").and_then(Value::as_str);
    if kind == NotificationKind::PerformanceError && level == Some("warning") {
        "warning"
    } else {
        base_severity(kind)
    }
}

/// One of the four that the API knows.
const fn base_severity(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::SiteError | NotificationKind::HostagentError => "critical",
        NotificationKind::NoData | NotificationKind::PerformanceError => "error",
        NotificationKind::WebChange | NotificationKind::CertificateExpiration | NotificationKind::Digest => {
            "warning"
        }
        NotificationKind::SiteClear
        | NotificationKind::PerformanceClear
        | NotificationKind::HostagentClear
        | NotificationKind::Traceroute
        | NotificationKind::Test => "info",
    }
}
