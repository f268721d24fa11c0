//! Rules for scripts: protected variables and their password, steps, archives (fields.md 2 and 3, behaviour.md 8).

use base64::Engine as _;

use super::super::monitor_document::MonitorDocument;
use super::rule_context::{RuleContext, RuleInput};
use crate::domain::{MonitorType, constant_time_eq};
use crate::project::{Project, case_step_count, unsupported};
use crate::script::language::Script;
use crate::script::{ScriptError, has_secrets, have_same_protected_variables};
use crate::syntax::{MASK, ValidationErrorKind};

const PASSWORD_FIELD: &str = "transaction_password";

/// Maximum size of a JAR in bytes (fields.md 2).
const MAX_JAR_BYTES: usize = 50 * 1024 * 1024;

pub(super) fn check(cx: &mut RuleContext<'_>) {
    if cx.has_field("content_views") && cx.are_valid(&["content_views"]) {
        check_content_views(cx);
    }
    match cx.document().monitor_type() {
        MonitorType::BrowserScript if cx.are_valid(&["script", PASSWORD_FIELD]) => {
            check_protected_variables(cx);
        }
        MonitorType::Selenium if cx.are_valid(&["script"]) => check_jar(cx),
        _ => {}
    }
}

/// Checks that ids of content views are unique: results, alerts and groups refer to them.
fn check_content_views(cx: &mut RuleContext<'_>) {
    let ids: Vec<i64> =
        cx.document().list("content_views").iter().filter_map(|view| view["id"].as_i64()).collect();
    for (index, id) in ids.iter().enumerate() {
        if ids[..index].contains(id) {
            let path = format!("content_views[{index}].id");
            cx.add_error(
                ValidationErrorKind::DuplicateField,
                &path,
                format!("`{path}`: there is a content view `{id}` already"),
            );
        }
    }
}

/// Checks `transaction_password`, which is needed to save or change protected variables (fields.md 3): a script with
/// protected variables needs one, and changing them or the password requires the stored one.
fn check_protected_variables(cx: &mut RuleContext<'_>) {
    let script = cx.document().text("script").unwrap_or_default();
    if has_secrets(script) && cx.document().text(PASSWORD_FIELD).is_none_or(str::is_empty) {
        let message = format!("`{PASSWORD_FIELD}` is required: the script has protected variables");
        cx.add_error(ValidationErrorKind::MissingField, PASSWORD_FIELD, message);
    }
    let Some(old) = cx.input.previous else { return };
    let previous_script = old.text("script").unwrap_or_default();
    let stored_password = old.text(PASSWORD_FIELD).filter(|stored_password| !stored_password.is_empty());
    let Some(stored_password) = stored_password.filter(|_| has_secrets(previous_script)) else { return };
    let given_password = cx.input.body.get(PASSWORD_FIELD).map(|node| node.as_text().unwrap_or_default());
    if let Some(given_password) = given_password.filter(|given_password| *given_password != MASK) {
        if !constant_time_eq(given_password, stored_password) {
            cx.add_conflict_with_hint(
                PASSWORD_FIELD,
                format!("`{PASSWORD_FIELD}` is not the one that is stored"),
                "to set another one, take the protected variables out of the script first".to_owned(),
            );
        }
    } else if !have_same_protected_variables(previous_script, script) {
        let message = format!("`{PASSWORD_FIELD}` is required to change protected variables of the script");
        cx.add_error(ValidationErrorKind::MissingField, PASSWORD_FIELD, message).hint =
            Some("give the one that is stored".to_owned());
    }
}

/// Checks that the script is a JAR. A JAR is a ZIP archive: it begins with an entry, or with the end of an empty
/// archive.
fn check_jar(cx: &mut RuleContext<'_>) {
    let text = cx.document().text("script").unwrap_or_default();
    let base64_bytes = || text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=');
    let base64_start: Vec<u8> = base64_bytes().take(8).collect();
    let engine = base64::engine::general_purpose::STANDARD_NO_PAD;
    let decoded_start = engine.decode(&base64_start).unwrap_or_default();
    if !decoded_start.starts_with(b"PK\x03\x04") && !decoded_start.starts_with(b"PK\x05\x06") {
        cx.add_error(
            ValidationErrorKind::Format,
            "script",
            "`script` must be the Base64 of a JAR, which is a ZIP archive".to_owned(),
        );
    } else if base64_bytes().count() / 4 * 3 > MAX_JAR_BYTES {
        cx.add_error(
            ValidationErrorKind::Length,
            "script",
            "`script` must hold a JAR of at most 50 MiB".to_owned(),
        );
    }
}

/// Maximum number of errors of one script that are reported as warnings.
const MAX_WARNINGS: usize = 20;

/// Returns warnings about a script that cannot run; it is stored nevertheless.
pub(in crate::schema) fn warnings(input: &RuleInput<'_>) -> Vec<String> {
    let document = input.document;
    let Some(text) = document.text("script") else { return Vec::new() };
    match document.monitor_type() {
        MonitorType::BrowserScript => script_warnings(document, text),
        MonitorType::ApiProject => project_warnings(document, text),
        _ => Vec::new(),
    }
}

fn script_warnings(document: &MonitorDocument, text: &str) -> Vec<String> {
    let script = match Script::parse(text) {
        Ok(script) => script,
        Err(errors) => return parse_error_warnings(&errors),
    };
    let mut warnings = Vec::new();
    let (steps, max_steps) = (script.steps.len(), document.int_or_zero("transaction_steps_allowed"));
    if i64::try_from(steps).is_ok_and(|steps| steps > max_steps) {
        warnings.push(format!(
            "`script` has {steps} steps, more than the {max_steps} that are allowed: checks end with status 94"
        ));
    }
    if let Some(action) = script.first_relative_open().filter(|_| document.text("url").is_none()) {
        let (line, column) = (action.position.line, action.position.column);
        warnings.push(format!(
            "`script`, line {line}, column {column}: a relative URL needs `base` of the script or `url` of the monitor"
        ));
    }
    warnings
}

/// Returns warnings about a project that cannot run: each item that Vigie lacks.
fn project_warnings(document: &MonitorDocument, text: &str) -> Vec<String> {
    let project = match Project::parse(text) {
        Ok(project) => project,
        Err(error) => return vec![format!("`script` cannot be run, {error}: checks end with status 61")],
    };
    let field = |name: &str| document.text(name).unwrap_or_default();
    let (suite, case) = (field("test_suite"), field("test_case"));
    let items = unsupported(&project, suite, case);
    let to_warning = |item| format!("`script` cannot be run, {item}: checks end with status 61");
    let mut warnings: Vec<String> = items.iter().take(MAX_WARNINGS).map(to_warning).collect();
    if items.len() > MAX_WARNINGS {
        warnings.push(format!("`script` has at least {} more such items", items.len() - MAX_WARNINGS));
    }
    let (steps, max_steps) =
        (case_step_count(&project, suite, case), document.int_or_zero("transaction_steps_allowed"));
    if i64::try_from(steps).is_ok_and(|steps| steps > max_steps) {
        warnings.push(format!(
            "the case has {steps} steps, more than the {max_steps} that are allowed: checks end with status 94"
        ));
    }
    warnings
}

fn parse_error_warnings(errors: &[ScriptError]) -> Vec<String> {
    let to_warning = |error: &ScriptError| {
        let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{}{hint}: checks end with status 96", format_parse_error(error))
    };
    let mut warnings: Vec<String> = errors.iter().take(MAX_WARNINGS).map(to_warning).collect();
    if errors.len() > MAX_WARNINGS {
        warnings.push(format!(
            "`script` has at least {} more errors: `vigie script check` lists them",
            errors.len() - MAX_WARNINGS
        ));
    }
    warnings
}

fn format_parse_error(error: &ScriptError) -> String {
    let (line, column) = (error.position.line, error.position.column);
    format!("`script` cannot be parsed, line {line}, column {column}: {}", error.message)
}
