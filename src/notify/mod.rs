//! The ways to tell somebody: one channel a method, templates that the words come from, and the table of both.
//!
//! A channel gets a message that is whole and says whether the receiver took it. It knows no store, no outbox and
//! no schedule: retries, limits and digests are its caller's.

use std::pin::Pin;
use std::time::Duration;

use crate::model::{Capture, Notice, Recipient};

/// A message for one recipient.
#[derive(Clone, Debug)]
pub struct Message {
    /// Idempotency key; the same at each try.
    pub key: String,
    /// What is told.
    pub notice: Notice,
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

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct SendError {
    /// Whether the same may succeed later. A refusal that names the message or the address does not.
    pub passing: bool,
    /// What the receiver wants to be left alone for (`Retry-After`).
    pub not_before: Option<Duration>,
    /// What happened, for people; without secrets.
    pub detail: String,
}

/// The future of one try.
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), SendError>> + Send + 'a>>;

/// Tells people. Everything it reads is bounded, and a try ends within its time, whatever the receiver does.
pub trait Courier: Send + Sync + 'static {
    /// One try to hand `message` over by the method of its recipient.
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a>;
}
