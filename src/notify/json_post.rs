//! POST of a JSON object with the fields of behaviour.md 6, or with the body that the account wrote.

use serde_json::Value;

use super::contract::Message;
use super::fields::fields;
use super::http::Call;
use super::send_error::SendError;
use crate::domain::Recipient;

/// The request for `message`.
pub(super) fn call(message: &Message) -> Result<Call, SendError> {
    let body = match &message.body {
        Some(body) => body.clone(),
        None => Value::Object(fields(&message.notice, &message.key, &message.text)).to_string(),
    };
    let call = Call::post(&message.recipient.address, "application/json", body)?;
    Ok(let_in(call, &message.recipient, &message.secret.0).keyed(&message.key))
}

/// `call` with the login of the recipient: user name and password, or a token alone (RFC 6750).
pub(super) fn let_in(call: Call, recipient: &Recipient, secret: &str) -> Call {
    match (recipient.username.as_str(), secret) {
        ("", "") => call,
        ("", token) => call.authorization(&format!("Bearer {token}")),
        (user, password) => call.basic(user, password),
    }
}
