//! Composes messages from templates.

use super::engine::Place;
use super::facts::Facts;
use super::template::{Template, TemplateFault, Words};
use super::{built_in, engine, example};
use crate::domain::{NotificationContent, NotificationKind, NotificationMethod};

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
        notice: &NotificationContent,
        method: NotificationMethod,
        template: Option<&Template>,
    ) -> Result<Words, TemplateFault> {
        let facts = Facts::of(notice);
        let none = Template::default();
        let own = template.unwrap_or(&none);
        let is_body = method == NotificationMethod::JsonPost
            && own.method == Some(NotificationMethod::JsonPost)
            && !own.text.is_empty();
        let own_text = if is_body { "" } else { own.text.as_str() };
        let subject = part("subject", Place::Line, or(&own.subject, built_in::subject(notice.kind)), &facts)?;
        let text = part("text", Place::Text, or(own_text, built_in::text(method)), &facts)?;
        let html = match method {
            NotificationMethod::MailHtml if own.html.is_empty() && !own_text.is_empty() => {
                Some(engine::as_html(&text))
            }
            NotificationMethod::MailHtml => {
                Some(part("html", Place::Html, or(&own.html, built_in::HTML), &facts)?)
            }
            _ => None,
        };
        let body = is_body.then(|| part("text", Place::Json, &own.text, &facts)).transpose()?;
        Ok(Words { subject, text, html, body })
    }

    /// Everything that is wrong with `template`, seen on the examples of its kinds.
    #[must_use]
    pub fn faults(&self, template: &Template) -> Vec<TemplateFault> {
        let methods = template.method.map_or_else(
            || vec![NotificationMethod::MailHtml, NotificationMethod::Sms],
            |method| vec![method],
        );
        let kinds = NotificationKind::ALL.iter().map(|(kind, ..)| *kind);
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
    pub fn example(&self, kind: NotificationKind) -> NotificationContent {
        example::of(kind)
    }
}

pub(super) fn or<'a>(own: &'a str, built_in: &'a str) -> &'a str {
    if own.is_empty() { built_in } else { own }
}

pub(super) fn part(
    part: &'static str,
    place: Place,
    source: &str,
    facts: &Facts,
) -> Result<String, TemplateFault> {
    engine::render(place, source, facts.all()).map_err(|reason| TemplateFault { part, reason })
}

/// What `source` comes to in a form or JSON with nothing but these `values`: for bodies that settings describe.
pub(in crate::notify) fn filled(
    place: Place,
    source: &str,
    values: &[(&str, &str)],
) -> Result<String, String> {
    let values: serde_json::Map<String, serde_json::Value> =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    engine::render(place, source, &serde_json::Value::Object(values))
}
