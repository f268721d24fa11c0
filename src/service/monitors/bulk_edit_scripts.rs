//! Replaces a text in the scripts of several monitors (interface.md 2.5, Script bulk edit).

use serde_json::{Map, Value, json};

use super::account_validation::AccountValidationContext;
use super::bulk_change::{ErrorCollector, change_monitors, monitor_label, read_request_body};
use super::monitor_service::MonitorService;
use crate::domain::MonitorType;
use crate::schema::field::{Field, FieldType};
use crate::schema::reader::InputFormat;
use crate::schema::table::requests::SCRIPT_BULK_EDIT;
use crate::schema::typed::request::{ReplaceTextRequest, parse_request_fields};
use crate::schema::validate::ValidatedDocument;
use crate::schema::{Monitor, table, validate};
use crate::script::language::Script;
use crate::script::{ScriptError, ScriptOverview, check_project_xml};
use crate::service::caller::{Caller, ServiceError};
use crate::syntax::ValidationErrorKind;
use crate::syntax::node::Node;

/// Most bytes by which the scripts of one call may grow together.
const MAX_TOTAL_GROWTH_BYTES: usize = 256 * 1024 * 1024;

/// Script bulk edit: all or nothing. Every literal occurrence of `current_value` in `script` becomes `new_value`; the
/// result must parse. Values of protected variables are not searched.
///
/// # Errors
/// Like [`super::bulk_edit()`]; [`ServiceError::Invalid`] also names monitors whose script does not contain the text,
/// or would no longer parse.
pub async fn bulk_edit_scripts(
    service: &MonitorService,
    caller: &Caller,
    body: &Node,
) -> Result<Vec<String>, ServiceError> {
    let fields = read_request_body(&SCRIPT_BULK_EDIT, body)?;
    let mut total_growth = 0;
    let change_monitor = move |old: &Monitor,
                               fields: &Map<String, Value>,
                               validation: &AccountValidationContext,
                               collector: &mut ErrorCollector| {
        replace_in_script(old, fields, validation, &mut total_growth, collector)
    };
    change_monitors(service, caller, "bulk-edit-scripts", fields, change_monitor).await
}

fn replace_in_script(
    old: &Monitor,
    fields: &Map<String, Value>,
    validation: &AccountValidationContext,
    total_growth: &mut usize,
    collector: &mut ErrorCollector,
) -> Option<ValidatedDocument> {
    let label = monitor_label(old.id);
    let request: ReplaceTextRequest<'_> = match parse_request_fields(&SCRIPT_BULK_EDIT, fields) {
        Ok(request) => request,
        Err(error) => {
            collector.add_all(&label, [error.into()]);
            return None;
        }
    };
    let (old_text, new_text) = (request.current_value, request.new_value);
    let script = old.document.script().unwrap_or_default();
    let field = table::for_type(old.monitor_type()).field("script");
    // What is masked cannot be searched for either.
    let script =
        field.and_then(Field::embedded_secrets).map_or(script.into(), |embedded| embedded.mask(script));
    let occurrences = script.matches(old_text).count();
    if occurrences == 0 {
        collector.add(
            &label,
            ValidationErrorKind::Conflict,
            "current_value",
            "`script` does not contain `current_value`",
        );
        return None;
    }
    // Checked before the script is built: replacing a letter by a page could make it huge.
    let growth = occurrences.saturating_mul(new_text.len().saturating_sub(old_text.len()));
    *total_growth = total_growth.saturating_add(growth);
    let max_chars = match table::for_type(old.monitor_type()).field("script").map(|field| field.field_type) {
        Some(FieldType::Text { max, .. }) => max,
        _ => 0,
    };
    if script.len().saturating_add(growth) > max_chars.saturating_mul(4) {
        collector.add(
            &label,
            ValidationErrorKind::Length,
            "script",
            format!("`script` must have at most {max_chars} characters"),
        );
        return None;
    }
    if *total_growth > MAX_TOTAL_GROWTH_BYTES {
        let message =
            "the scripts would grow by more than 256 MiB together; change fewer monitors in one call";
        collector.add(&label, ValidationErrorKind::Length, "new_value", message);
        return None;
    }
    let old_script = script;
    let script = old_script.replace(old_text, new_text);
    if let Some(parse_error) = script_parse_error(old.monitor_type(), &old_script, &script) {
        collector.add(
            &label,
            ValidationErrorKind::Format,
            "script",
            format!("`script` would no longer parse, {parse_error}"),
        );
        return None;
    }
    let body = Node::from(json!({"script": script}));
    match validate::merge_and_validate(
        &old.document,
        InputFormat::V3,
        &body,
        &validation.validation_context(),
    ) {
        Ok(validated) => Some(validated),
        Err(errors) => {
            collector.add_all(&label, errors);
            None
        }
    }
}

/// Returns why `script` cannot be parsed or run, if `old_script` could be. Saving one monitor only warns about this;
/// a bulk edit refuses it.
fn script_parse_error(monitor_type: MonitorType, old_script: &str, script: &str) -> Option<String> {
    let error = match monitor_type {
        MonitorType::BrowserScript => {
            ScriptOverview::parse(script).err().or_else(|| newly_introduced_error(old_script, script))
        }
        MonitorType::ApiProject => check_project_xml(script).err(),
        _ => None,
    };
    error.map(|error| error.to_string())
}

/// Returns the first error of a script that was runnable before.
fn newly_introduced_error(old_script: &str, script: &str) -> Option<ScriptError> {
    let error = Script::parse(script).err()?.into_iter().next();
    error.filter(|_| Script::parse(old_script).is_ok())
}
