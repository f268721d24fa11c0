//! Webhooks of the kind that Slack introduced; Mattermost and others take the same.

use serde_json::json;

use super::contract::Message;
use super::http::Call;
use super::json_post::let_in;
use super::send_error::SendError;

/// Characters of a message that are sent; Slack cuts longer ones.
const LONGEST: usize = 3_000;

/// The request for `message`.
pub(super) fn call(message: &Message) -> Result<Call, SendError> {
    let notice = &message.notice;
    let colour = if notice.kind.is_clear() { "good" } else { "danger" };
    let field = |title: &str, value: String| json!({"title": title, "value": escaped(&value), "short": true});
    let mut fields = Vec::new();
    for (title, value) in [("Location", &notice.location), ("Target", &notice.target)] {
        if !value.is_empty() {
            fields.push(field(title, value.clone()));
        }
    }
    if notice.monitor_id.is_some() {
        fields.push(field("Status", notice.status.to_string()));
    }
    let subject = escaped(&message.subject);
    let text: String = message.text.chars().take(LONGEST).collect();
    let body = json!({
        "text": subject,
        "attachments": [{
            "fallback": subject,
            "color": colour,
            "text": escaped(&text),
            "fields": fields,
            "ts": notice.at.as_micros() / 1_000_000,
        }],
    });
    let call = Call::post(&message.recipient.address, "application/json", body.to_string())?;
    Ok(let_in(call, &message.recipient, &message.secret.0).keyed(&message.key))
}

/// The three characters with which links, mentions and entities begin there.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
