//! What a channel is given and what it returns.

use std::pin::Pin;

use super::send_error::SendError;
use crate::domain::{Capture, NotificationContent, Recipient};

/// A message for one recipient.
#[derive(Clone, Debug)]
pub struct OutgoingMessage {
    /// Idempotency key; the same at each try.
    pub key: String,
    /// What is told.
    pub content: NotificationContent,
    /// Who is told.
    pub recipient: Recipient,
    /// Secret of the recipient, opened; empty for none.
    pub secret: Secret,
    /// Title or subject, made by the template.
    pub subject: String,
    /// Words, made by the template.
    pub text: String,
    /// The same as HTML; for mail.
    pub html: Option<String>,
    /// The whole body, where the account wrote it itself (JSON POST); it is JSON.
    pub body: Option<String>,
    /// What goes with it, where the method has a place for it: screenshots, the answer, a traceroute.
    pub attachments: Vec<Capture>,
}

/// A secret that shows in no log.
#[derive(Clone, Default)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The future of one try.
pub type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<(), SendError>> + Send + 'a>>;

/// Tells people. Everything it reads is bounded, and a try ends within its time, whatever the receiver does.
pub trait MessageSender: Send + Sync + 'static {
    /// One try to hand `message` over by the method of its recipient.
    fn send<'a>(&'a self, message: &'a OutgoingMessage) -> SendFuture<'a>;
}
