//! The message that channels send, and the interface for sending it.

use std::pin::Pin;

use super::send_error::SendError;
use crate::domain::{CapturedFile, EgressPrincipal, NotificationContent, Recipient};

/// A rendered message for one recipient.
#[derive(Clone, Debug)]
pub struct OutgoingMessage {
    /// Idempotency key; the same at each attempt.
    pub idempotency_key: String,
    /// Content that it was rendered from.
    pub content: NotificationContent,
    /// The recipient.
    pub recipient: Recipient,
    /// On whose behalf channels connect to the address of the recipient.
    pub egress_principal: EgressPrincipal,
    /// Decrypted secret of the recipient; empty for none.
    pub credential: Secret,
    /// Rendered title or subject.
    pub subject: String,
    /// Rendered plain text.
    pub text: String,
    /// Rendered HTML, for mail.
    pub html: Option<String>,
    /// The whole JSON body, when the account's template defines it (JSON POST).
    pub json_body: Option<String>,
    /// Attachments, for methods that support them: screenshots, the response, a traceroute.
    pub attachments: Vec<CapturedFile>,
}

/// A secret that `Debug` does not print.
#[derive(Clone, Default)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Future of one delivery attempt.
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<(), SendError>> + Send + 'a>>;

/// Sends messages. Everything it reads is bounded, and an attempt ends in time whatever the receiver does.
pub trait MessageSender: Send + Sync + 'static {
    /// Makes one attempt to send `message` by the method of its recipient.
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> SendFuture<'a>;
}
