//! Incoming webhooks in Slack's format, which Mattermost and others accept too.

use serde_json::json;

use super::dedup_key::dedup_key;
use super::json_post::with_credentials;
use super::outgoing_message::OutgoingMessage;
use super::send_error::SendError;
use super::webhook::WebhookRequest;

/// Most characters of a message; Slack cuts longer ones.
const MAX_TEXT_CHARS: usize = 3_000;

/// Builds the request for `message`.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let content = &message.content;
    let colour = if content.kind.is_clear() { "good" } else { "danger" };
    let field = |title: &str, value: String| json!({"title": title, "value": escape_slack_text(&value), "short": true});
    let mut fields = Vec::new();
    for (title, value) in [("Location", &content.location_name), ("Target", &content.target)] {
        if !value.is_empty() {
            fields.push(field(title, value.clone()));
        }
    }
    if content.monitor_id.is_some() {
        fields.push(field("Status", content.status.to_string()));
    }
    let subject = escape_slack_text(&message.subject);
    let text: String = message.text.chars().take(MAX_TEXT_CHARS).collect();
    let body = json!({
        "text": subject,
        "attachments": [{
            "footer": dedup_key(content, &message.idempotency_key),
            "fallback": subject,
            "color": colour,
            "text": escape_slack_text(&text),
            "fields": fields,
            "ts": content.occurred_at.as_micros() / 1_000_000,
        }],
    });
    let request = WebhookRequest::post(&message.recipient.address, "application/json", body.to_string())?;
    Ok(with_credentials(request, &message.recipient, &message.credential.0)
        .with_idempotency_key(&message.idempotency_key))
}

/// Escapes the three characters that start links, mentions and entities.
fn escape_slack_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
