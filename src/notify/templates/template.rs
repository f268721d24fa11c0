//! A message template, and its result.

use crate::domain::{NotificationKind, NotificationMethod};

/// An account's template for messages of one kind and method; an empty part falls back to the built-in template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountTemplate {
    /// For messages of this kind; `None` for all.
    pub kind: Option<NotificationKind>,
    /// For recipients of this method; `None` for all.
    pub method: Option<NotificationMethod>,
    /// The subject or title: one line.
    pub subject: String,
    /// Plain text. In a template for JSON POST alone: the whole JSON body.
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
    /// Description of the error, with the line.
    pub reason: String,
}

/// A rendered message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderedMessage {
    /// Title or subject: one line.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// HTML, for mail that has it.
    pub html: Option<String>,
    /// The whole JSON body, when the account's template defines it.
    pub json_body: Option<String>,
}
