//! The words of messages: by the templates of an account, or the built-in ones.
//!
//! Templates are written by users, and what goes into them by whoever answers a check. So what a template may do
//! is little ([`guard`]), what it may use is bounded ([`engine`]), and every value is escaped by the place that it
//! goes to: HTML, JSON, a form, a line.

mod built_in;
mod engine;
mod example;
mod facts;
mod guard;

use crate::domain::{Method, Notice, NoticeKind};
pub(super) use engine::Place;
use facts::Facts;

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
#[derive(Clone, Copy, Debug, Default)]
pub struct Composer {}

impl Composer {
    /// The words of `notice` by `method`.
    ///
    /// # Errors
    /// When `template` cannot be used, takes too much work, or comes to more than a message may hold.
    pub fn compose(
        &self,
        notice: &Notice,
        method: Method,
        template: Option<&Template>,
    ) -> Result<Words, TemplateFault> {
        let facts = Facts::of(notice);
        let none = Template::default();
        let own = template.unwrap_or(&none);
        let is_body =
            method == Method::JsonPost && own.method == Some(Method::JsonPost) && !own.text.is_empty();
        let own_text = if is_body { "" } else { own.text.as_str() };
        let subject = part("subject", Place::Line, or(&own.subject, built_in::subject(notice.kind)), &facts)?;
        let text = part("text", Place::Text, or(own_text, built_in::text(method)), &facts)?;
        let html = match method {
            Method::MailHtml if own.html.is_empty() && !own_text.is_empty() => Some(engine::as_html(&text)),
            Method::MailHtml => Some(part("html", Place::Html, or(&own.html, built_in::HTML), &facts)?),
            _ => None,
        };
        let body = is_body.then(|| part("text", Place::Json, &own.text, &facts)).transpose()?;
        Ok(Words { subject, text, html, body })
    }

    /// Everything that is wrong with `template`, seen on the examples of its kinds.
    #[must_use]
    pub fn faults(&self, template: &Template) -> Vec<TemplateFault> {
        let methods =
            template.method.map_or_else(|| vec![Method::MailHtml, Method::Sms], |method| vec![method]);
        let kinds = NoticeKind::ALL.iter().map(|(kind, ..)| *kind);
        let mut faults = Vec::new();
        for kind in kinds.filter(|kind| template.kind.is_none_or(|only| only == *kind)) {
            for method in &methods {
                if let Err(fault) = self.compose(&example::of(kind), *method, Some(template))
                    && !faults.contains(&fault)
                {
                    faults.push(fault);
                }
            }
        }
        faults
    }

    /// A notice of `kind` to try templates on.
    #[must_use]
    pub fn example(&self, kind: NoticeKind) -> Notice {
        example::of(kind)
    }
}

fn or<'a>(own: &'a str, built_in: &'a str) -> &'a str {
    if own.is_empty() { built_in } else { own }
}

fn part(part: &'static str, place: Place, source: &str, facts: &Facts) -> Result<String, TemplateFault> {
    engine::render(place, source, facts.all()).map_err(|reason| TemplateFault { part, reason })
}

/// What `source` comes to in a form or JSON with nothing but these `values`: for bodies that settings describe.
pub(super) fn filled(place: Place, source: &str, values: &[(&str, &str)]) -> Result<String, String> {
    let values: serde_json::Map<String, serde_json::Value> =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    engine::render(place, source, &serde_json::Value::Object(values))
}
