//! POST of a form with the fields of the JSON object; a list becomes JSON in one form field.

use serde_json::Value;
use url::form_urlencoded::Serializer;

use super::json_fields::json_fields;
use super::json_post::with_credentials;
use super::outgoing_message::OutgoingMessage;
use super::send_error::SendError;
use super::webhook::WebhookRequest;

/// Builds the request for `message`.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let mut form = Serializer::new(String::new());
    for (name, value) in json_fields(&message.content, &message.idempotency_key, &message.text) {
        match value {
            Value::String(text) => form.append_pair(&name, &text),
            other => form.append_pair(&name, &other.to_string()),
        };
    }
    let request =
        WebhookRequest::post(&message.recipient.address, "application/x-www-form-urlencoded", form.finish())?;
    Ok(with_credentials(request, &message.recipient, &message.credential.0)
        .with_idempotency_key(&message.idempotency_key))
}
