//! Message templates (behaviour.md 1 `/templates`). They are rendered with examples before they are stored: an
//! invalid template is rejected at once instead of failing during an outage.

use serde_json::{Map, Value, json};

use super::record_context::RecordContext;
use super::record_draft::{RecordDraft, fields_with_defaults, merged_fields};
use crate::catalog::record_settings::settings_or_skip;
use crate::domain::ConfigRecord;
use crate::notify::MessageRenderer;
use crate::pipeline::template_from_fields;
use crate::schema::table::alerting::TEMPLATE;
use crate::schema::typed::record::TemplateSettings;
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;
use crate::syntax::{ValidationError, ValidationErrorKind};

pub(super) fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let fields = fields_with_defaults(&TEMPLATE, body)?;
    validate(&fields, body)?;
    Ok(RecordDraft::new(fields).with_unique_name(cx))
}

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let fields = merged_fields(&TEMPLATE, &old.fields, body)?;
    validate(&fields, body)?;
    Ok(RecordDraft::from_record(old, fields).with_unique_name(cx))
}

/// Renders the template with an example of each notification that it applies to.
fn validate(fields: &Map<String, Value>, body: &Node) -> Result<(), ServiceError> {
    let template = template_from_fields(fields)?;
    let errors = MessageRenderer::default().template_errors(&template);
    if errors.is_empty() {
        return Ok(());
    }
    Err(ServiceError::Invalid(
        errors.iter().map(|error| template_error(body, error.part, &error.reason)).collect(),
    ))
}

/// Creates the error of a part of a template.
pub(in crate::service) fn template_error(body: &Node, part: &'static str, reason: &str) -> ValidationError {
    let message = format!("`{part}` cannot be used: {reason}");
    ValidationError::new(ValidationErrorKind::Format, part, body.position_of(part), message)
}

/// Refuses to remove a template that a group uses.
pub(super) fn check_removal(cx: &RecordContext<'_>, old: &ConfigRecord) -> Result<(), ServiceError> {
    let groups = &cx.account.contacts.groups;
    let group_names: Vec<String> = groups
        .iter()
        .filter(|group| group.template_ids.contains(&old.id))
        .take(10)
        .map(|group| format!("`{}`", group.name))
        .collect();
    if group_names.is_empty() {
        return Ok(());
    }
    let message = format!("Groups use this template; remove it from them first: {}", group_names.join(", "));
    Err(ServiceError::Conflict(message))
}

/// Returns the subject, text or HTML; an unset one as an empty text.
pub(super) fn computed_field(record: &ConfigRecord, name: &str) -> Option<Value> {
    let setting_text =
        |get_text: fn(TemplateSettings<'_>) -> String| Some(json!(get_text(settings_or_skip(record)?)));
    match name {
        "subject" => setting_text(|settings| settings.subject.to_owned()),
        "text" => setting_text(|settings| settings.text.to_owned()),
        "html" => setting_text(|settings| settings.html.to_owned()),
        _ => None,
    }
}
