//! Composes messages from templates.

use super::engine::OutputFormat;
use super::template::{MessageTemplate, RenderedMessage, TemplateError};
use super::variables::TemplateVariables;
use super::{built_in, engine, example};
use crate::domain::{NotificationContent, NotificationKind, NotificationMethod};

/// Makes words.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageRenderer {}

impl MessageRenderer {
    /// The words of `notice` by `method`.
    ///
    /// # Errors
    /// When `template` cannot be used, takes too much work, or comes to more than a message may hold.
    pub fn render(
        &self,
        content: &NotificationContent,
        method: NotificationMethod,
        template: Option<&MessageTemplate>,
    ) -> Result<RenderedMessage, TemplateError> {
        let facts = TemplateVariables::from_content(content);
        let none = MessageTemplate::default();
        let own = template.unwrap_or(&none);
        let is_body = method == NotificationMethod::JsonPost
            && own.method == Some(NotificationMethod::JsonPost)
            && !own.text.is_empty();
        let own_text = if is_body { "" } else { own.text.as_str() };
        let subject = render_part(
            "subject",
            OutputFormat::Line,
            own_or_built_in(&own.subject, built_in::subject(content.kind)),
            &facts,
        )?;
        let text = render_part(
            "text",
            OutputFormat::Text,
            own_or_built_in(own_text, built_in::text(method)),
            &facts,
        )?;
        let html = match method {
            NotificationMethod::MailHtml if own.html.is_empty() && !own_text.is_empty() => {
                Some(engine::text_to_html(&text))
            }
            NotificationMethod::MailHtml => Some(render_part(
                "html",
                OutputFormat::Html,
                own_or_built_in(&own.html, built_in::HTML),
                &facts,
            )?),
            _ => None,
        };
        let body = is_body.then(|| render_part("text", OutputFormat::Json, &own.text, &facts)).transpose()?;
        Ok(RenderedMessage { subject, text, html, body })
    }

    /// Everything that is wrong with `template`, seen on the examples of its kinds.
    #[must_use]
    pub fn validate(&self, template: &MessageTemplate) -> Vec<TemplateError> {
        let methods = template.method.map_or_else(
            || vec![NotificationMethod::MailHtml, NotificationMethod::Sms],
            |method| vec![method],
        );
        let kinds = NotificationKind::ALL.iter().map(|(kind, ..)| *kind);
        let mut faults = Vec::new();
        for kind in kinds.filter(|kind| template.kind.is_none_or(|only| only == *kind)) {
            for method in &methods {
                if let Err(fault) = self.render(&example::example_content(kind), *method, Some(template))
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
    pub fn example_content(&self, kind: NotificationKind) -> NotificationContent {
        example::example_content(kind)
    }
}

pub(super) fn own_or_built_in<'a>(own: &'a str, built_in: &'a str) -> &'a str {
    if own.is_empty() { built_in } else { own }
}

pub(super) fn render_part(
    part: &'static str,
    format: OutputFormat,
    source: &str,
    facts: &TemplateVariables,
) -> Result<String, TemplateError> {
    engine::render(format, source, facts.as_value()).map_err(|reason| TemplateError { part, reason })
}

/// What `source` comes to in a form or JSON with nothing but these `values`: for bodies that settings describe.
pub(in crate::notify) fn render_body(
    format: OutputFormat,
    source: &str,
    values: &[(&str, &str)],
) -> Result<String, String> {
    let values: serde_json::Map<String, serde_json::Value> =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    engine::render(format, source, &serde_json::Value::Object(values))
}
