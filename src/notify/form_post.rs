//! POST of a form with the fields of the JSON; what is a list there is JSON in one field here.

use serde_json::Value;
use url::form_urlencoded::Serializer;

use super::contract::Message;
use super::fields::fields;
use super::http::Call;
use super::json_post::let_in;
use super::send_error::SendError;

/// The request for `message`.
pub(super) fn call(message: &Message) -> Result<Call, SendError> {
    let mut form = Serializer::new(String::new());
    for (name, value) in fields(&message.notice, &message.key, &message.text) {
        match value {
            Value::String(text) => form.append_pair(&name, &text),
            other => form.append_pair(&name, &other.to_string()),
        };
    }
    let call = Call::post(&message.recipient.address, "application/x-www-form-urlencoded", form.finish())?;
    Ok(let_in(call, &message.recipient, &message.secret.0).keyed(&message.key))
}
