//! Splunk's HTTP event collector. The recipient's password is the token.

use serde_json::json;

use super::json_fields::json_fields;
use super::outgoing_message::OutgoingMessage;
use super::send_error::SendError;
use super::webhook::WebhookRequest;

/// Path of the API when the address has none.
const DEFAULT_API_PATH: &str = "/services/collector/event";

/// Builds the request for `message`.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let content = &message.content;
    let micros = content.occurred_at.as_micros();
    // Seconds with their exact fraction as text; a JSON number would be rounded.
    let time = format!("{}.{:06}", micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let event = json!({
        "time": time,
        "host": if content.monitor_name.is_empty() { "vigie" } else { content.monitor_name.as_str() },
        "source": "vigie",
        "sourcetype": "vigie:alert",
        "event": json_fields(content, &message.idempotency_key, &message.text),
    });
    let request = WebhookRequest::post(&message.recipient.address, "application/json", event.to_string())?;
    let request = request
        .with_default_path(DEFAULT_API_PATH)
        .with_authorization(&format!("Splunk {}", message.credential.0));
    Ok(request.with_idempotency_key(&message.idempotency_key))
}
