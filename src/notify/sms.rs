//! Short messages through a gateway that is called over HTTP, as the settings describe it.

use super::contract::{OutgoingMessage, Secret};
use super::http::WebhookRequest;
use super::send_error::SendError;
use super::templates::{OutputFormat, render_body};

/// Characters of a short message: three parts of 153 (GSM 03.38).
const MAX_TEXT_CHARS: usize = 459;

/// How the gateway is called.
#[derive(Clone, Debug)]
pub struct SmsSettings {
    /// Its URL.
    pub url: String,
    /// The body: `to`, `text`, `from` and `key` stand in it as `{{ to }}`, escaped by the media type.
    pub body: String,
    /// Whether the body is JSON, and not a form.
    pub json: bool,
    /// The sender, as the gateway wants it.
    pub from: String,
    /// Login of the gateway; empty for none.
    pub username: String,
    /// Its password; without a login, a token.
    pub password: Secret,
}

/// The request for `message`.
pub(super) fn to_request(
    settings: &SmsSettings,
    message: &OutgoingMessage,
) -> Result<WebhookRequest, SendError> {
    let text: String = message.text.trim().chars().take(MAX_TEXT_CHARS).collect();
    // Digits alone, with the plus in front: how people group them is theirs.
    let number = message.recipient.address.trim();
    let to: String = number.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
    let values = [("to", to.as_str()), ("text", &text), ("from", &settings.from), ("key", &message.key)];
    let (place, media) = if settings.json {
        (OutputFormat::Json, "application/json")
    } else {
        (OutputFormat::Form, "application/x-www-form-urlencoded")
    };
    let body = render_body(place, &settings.body, &values)
        .map_err(|reason| SendError::transient(format!("`sms.body`: {reason}")))?;
    let call = WebhookRequest::post(&settings.url, media, body)?.with_idempotency_key(&message.key);
    Ok(match (settings.username.as_str(), settings.password.0.as_str()) {
        ("", "") => call,
        ("", token) => call.with_authorization(&format!("Bearer {token}")),
        (user, password) => call.with_basic_auth(user, password),
    })
}
