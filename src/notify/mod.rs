//! The ways to tell somebody: one channel a method, templates that the words come from, and the table of both.
//!
//! A channel gets a message that is whole and says whether the receiver took it. It knows no store, no outbox and
//! no schedule: retries, limits and digests are its caller's.

mod alertmanager;
mod channels;
mod fields;
mod form_post;
mod http;
mod json_post;
mod mail;
mod pager_duty;
mod send_error;
mod service_now;
mod slack;
mod sms;
mod snmp;
mod splunk;
mod words;

use std::pin::Pin;

use crate::domain::{Capture, Notice, Recipient};

pub use channels::{ChannelSettings, Channels, TRAP_ENTERPRISE};
pub use fields::fields;
pub use http::Http;
pub use mail::{MailSettings, MailTls};
pub use send_error::SendError;
pub use sms::SmsSettings;
pub use snmp::object_identifier;
pub use words::{Composer, Template, TemplateFault, Words};

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
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<(), SendError>> + Send + 'a>>;

/// Tells people. Everything it reads is bounded, and a try ends within its time, whatever the receiver does.
pub trait Courier: Send + Sync + 'static {
    /// One try to hand `message` over by the method of its recipient.
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a>;
}
