//! Rendering of messages from templates.

use std::borrow::Cow;

use super::engine::OutputFormat;
use super::template::{AccountTemplate, RenderedMessage, TemplateError};
use super::variables::TemplateVariables;
use super::{built_in, engine, example};
use crate::domain::{NotificationContent, NotificationKind, NotificationMethod};
use crate::texts::{Language, Locale};

/// Renders messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageRenderer {
    /// The language of what no template of the account says.
    language: Language,
}

impl MessageRenderer {
    /// Returns a renderer whose built-in texts are in `language`.
    #[must_use]
    pub fn in_language(self, language: Language) -> Self {
        Self { language }
    }

    /// Renders `content` for `method`.
    ///
    /// # Errors
    /// When `template` is invalid, takes too much work, or renders more than a message may hold.
    pub fn render(
        &self,
        content: &NotificationContent,
        method: NotificationMethod,
        template: Option<&AccountTemplate>,
    ) -> Result<RenderedMessage, TemplateError> {
        let t = Locale { language: self.language, ..Locale::default() };
        let built_in = |source: &str| built_in::localized(source, content.kind, t);
        let variables = TemplateVariables::from_content(content, t);
        let template_without_texts = AccountTemplate::default();
        let account_template = template.unwrap_or(&template_without_texts);
        let text_is_json_body = method == NotificationMethod::JsonPost
            && account_template.method == Some(NotificationMethod::JsonPost)
            && !account_template.text.is_empty();
        let account_text = if text_is_json_body { "" } else { account_template.text.as_str() };
        let subject = render_part(
            "subject",
            OutputFormat::SingleLine,
            &non_empty_or(&account_template.subject, || {
                t.text(built_in::subject_template(content.kind)).to_owned()
            }),
            &variables,
        )?;
        let text = render_part(
            "text",
            OutputFormat::Text,
            &non_empty_or(account_text, || built_in(built_in::text_template(method))),
            &variables,
        )?;
        let html = match method {
            NotificationMethod::MailHtml if account_template.html.is_empty() && !account_text.is_empty() => {
                Some(engine::text_to_html(&text))
            }
            NotificationMethod::MailHtml => Some(render_part(
                "html",
                OutputFormat::Html,
                &non_empty_or(&account_template.html, || built_in(built_in::HTML_TEMPLATE)),
                &variables,
            )?),
            _ => None,
        };
        let body = text_is_json_body
            .then(|| render_part("text", OutputFormat::Json, &account_template.text, &variables))
            .transpose()?;
        Ok(RenderedMessage { subject, text, html, json_body: body })
    }

    /// Returns the errors of `template`, found by rendering the examples of its kinds.
    #[must_use]
    pub fn template_errors(&self, template: &AccountTemplate) -> Vec<TemplateError> {
        let methods = template.method.map_or_else(
            || vec![NotificationMethod::MailHtml, NotificationMethod::Sms],
            |method| vec![method],
        );
        let kinds = NotificationKind::ALL.iter().map(|(kind, ..)| *kind);
        let mut errors = Vec::new();
        for kind in kinds.filter(|kind| template.kind.is_none_or(|template_kind| template_kind == *kind)) {
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

fn non_empty_or(account_source: &str, built_in: impl FnOnce() -> String) -> Cow<'_, str> {
    if account_source.is_empty() { Cow::Owned(built_in()) } else { Cow::Borrowed(account_source) }
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
