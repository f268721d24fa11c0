//! Text messages through an HTTP gateway that the settings describe.

use super::outgoing_message::{OutgoingMessage, Secret};
use super::send_error::SendError;
use super::templates::{OutputFormat, render_settings_body};
use super::webhook::WebhookRequest;

/// Most characters of a text message: three parts of 153 (GSM 03.38).
const MAX_TEXT_CHARS: usize = 459;

/// Settings of the gateway.
#[derive(Clone, Debug)]
pub struct SmsSettings {
    /// Its URL.
    pub gateway_url: String,
    /// Template of the body with the variables `to`, `text`, `from` and `key`, such as `{{ to }}`, escaped by the
    /// media type.
    pub body_template: String,
    /// Whether the body is JSON rather than a form.
    pub body_is_json: bool,
    /// Sender, in the gateway's format.
    pub sender: String,
    /// User name of the gateway; empty for none.
    pub username: String,
    /// Password; a token when there is no user name.
    pub password: Secret,
}

/// Builds the request for `message`.
pub(super) fn to_request(
    settings: &SmsSettings,
    message: &OutgoingMessage,
) -> Result<WebhookRequest, SendError> {
    let text: String = message.text.trim().chars().take(MAX_TEXT_CHARS).collect();
    // Keep only digits and `+`: the grouping of digits varies.
    let address = message.recipient.address.trim();
    let phone_number: String = address.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
    let template_values = [
        ("to", phone_number.as_str()),
        ("text", &text),
        ("from", &settings.sender),
        ("key", &message.idempotency_key),
    ];
    let (format, content_type) = if settings.body_is_json {
        (OutputFormat::Json, "application/json")
    } else {
        (OutputFormat::Form, "application/x-www-form-urlencoded")
    };
    let body = render_settings_body(format, &settings.body_template, &template_values)
        .map_err(|reason| SendError::transient(format!("`sms.body`: {reason}")))?;
    let request = WebhookRequest::post(&settings.gateway_url, content_type, body)?
        .with_idempotency_key(&message.idempotency_key);
    Ok(match (settings.username.as_str(), settings.password.0.as_str()) {
        ("", "") => request,
        ("", token) => request.with_authorization(&format!("Bearer {token}")),
        (user, password) => request.with_basic_auth(user, password),
    })
}
