//! A message template, and what it makes.

use crate::domain::{NotificationKind, NotificationMethod};

/// Words of an account for messages of one kind and method; an empty part is that of the built-in template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageTemplate {
    /// For messages of this kind; `None` for all.
    pub kind: Option<NotificationKind>,
    /// For recipients of this method; `None` for all.
    pub method: Option<NotificationMethod>,
    /// The subject or title: one line.
    pub subject: String,
    /// Plain words. Of a template for JSON POST alone: the whole JSON body.
    pub text: String,
    /// The same as HTML, for mail.
    pub html: String,
}

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{part}`: {reason}")]
pub struct TemplateError {
    /// `subject`, `text` or `html`.
    pub part: &'static str,
    /// Why, with the line.
    pub reason: String,
}

/// The words of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedMessage {
    /// Title or subject: one line.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// HTML, for mail that has it.
    pub html: Option<String>,
    /// The whole JSON body, when the account wrote it.
    pub body: Option<String>,
}
