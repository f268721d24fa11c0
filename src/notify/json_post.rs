//! POST of a JSON object with the fields of behaviour.md 6, or with the body of the account's template.

use serde_json::Value;

use super::json_fields::json_fields;
use super::outgoing_message::OutgoingMessage;
use super::send_error::SendError;
use super::webhook::WebhookRequest;
use crate::domain::Recipient;

/// Builds the request for `message`.
pub(super) fn to_request(message: &OutgoingMessage) -> Result<WebhookRequest, SendError> {
    let body = match &message.json_body {
        Some(body) => body.clone(),
        None => {
            Value::Object(json_fields(&message.content, &message.idempotency_key, &message.text)).to_string()
        }
    };
    let request = WebhookRequest::post(&message.recipient.address, "application/json", body)?;
    Ok(with_credentials(request, &message.recipient, &message.credential.0)
        .with_idempotency_key(&message.idempotency_key))
}

/// Adds the credentials of the recipient: user name and password, or a token alone (RFC 6750).
pub(super) fn with_credentials(
    request: WebhookRequest,
    recipient: &Recipient,
    credential: &str,
) -> WebhookRequest {
    match (recipient.username.as_str(), credential) {
        ("", "") => request,
        ("", token) => request.with_authorization(&format!("Bearer {token}")),
        (user, password) => request.with_basic_auth(user, password),
    }
}
