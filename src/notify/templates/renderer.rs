//! Rendering of messages from templates.

use super::engine::OutputFormat;
use super::template::{MessageTemplate, RenderedMessage, TemplateError};
use super::variables::TemplateVariables;
use super::{built_in, engine, example};
use crate::domain::{NotificationContent, NotificationKind, NotificationMethod};

/// Renders messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageRenderer {}

impl MessageRenderer {
    /// Renders `content` for `method`.
    ///
    /// # Errors
    /// When `template` is invalid, takes too much work, or renders more than a message may hold.
    pub fn render(
        &self,
        content: &NotificationContent,
        method: NotificationMethod,
        template: Option<&MessageTemplate>,
    ) -> Result<RenderedMessage, TemplateError> {
        let variables = TemplateVariables::from_content(content);
        let none = MessageTemplate::default();
        let own = template.unwrap_or(&none);
        let is_body = method == NotificationMethod::JsonPost
            && own.method == Some(NotificationMethod::JsonPost)
            && !own.text.is_empty();
        let own_text = if is_body { "" } else { own.text.as_str() };
        let subject = render_part(
            "subject",
            OutputFormat::SingleLine,
            non_empty_or(&own.subject, built_in::subject_template(content.kind)),
            &variables,
        )?;
        let text = render_part(
            "text",
            OutputFormat::Text,
            non_empty_or(own_text, built_in::text_template(method)),
            &variables,
        )?;
        let html = match method {
            NotificationMethod::MailHtml if own.html.is_empty() && !own_text.is_empty() => {
                Some(engine::text_to_html(&text))
            }
            NotificationMethod::MailHtml => Some(render_part(
                "html",
                OutputFormat::Html,
                non_empty_or(&own.html, built_in::HTML_TEMPLATE),
                &variables,
            )?),
            _ => None,
        };
        let body =
            is_body.then(|| render_part("text", OutputFormat::Json, &own.text, &variables)).transpose()?;
        Ok(RenderedMessage { subject, text, html, json_body: body })
    }

    /// Returns the errors of `template`, found by rendering the examples of its kinds.
    #[must_use]
    pub fn template_errors(&self, template: &MessageTemplate) -> Vec<TemplateError> {
        let methods = template.method.map_or_else(
            || vec![NotificationMethod::MailHtml, NotificationMethod::Sms],
            |method| vec![method],
        );
        let kinds = NotificationKind::ALL.iter().map(|(kind, ..)| *kind);
        let mut errors = Vec::new();
        for kind in kinds.filter(|kind| template.kind.is_none_or(|only| only == *kind)) {
            for method in &methods {
                if let Err(error) = self.render(&example::example_content(kind), *method, Some(template))
                    && !errors.contains(&error)
                {
                    errors.push(error);
                }
            }
        }
        errors
    }

    /// Returns example content of `kind` for trying out templates.
    #[must_use]
    pub fn example_content(&self, kind: NotificationKind) -> NotificationContent {
        example::example_content(kind)
    }
}

pub(super) fn non_empty_or<'a>(own: &'a str, built_in: &'a str) -> &'a str {
    if own.is_empty() { built_in } else { own }
}

pub(super) fn render_part(
    part: &'static str,
    format: OutputFormat,
    source: &str,
    variables: &TemplateVariables,
) -> Result<String, TemplateError> {
    engine::render_template(format, source, variables.as_value())
        .map_err(|reason| TemplateError { part, reason })
}

/// Renders `source` in `format` with only these `values`: for bodies that settings describe.
pub(in crate::notify) fn render_settings_body(
    format: OutputFormat,
    source: &str,
    values: &[(&str, &str)],
) -> Result<String, String> {
    let values: serde_json::Map<String, serde_json::Value> =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    engine::render_template(format, source, &serde_json::Value::Object(values))
}
