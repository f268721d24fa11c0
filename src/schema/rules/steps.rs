//! Rules for API steps: their forms, variables and assertions (interface.md 2.3, fields.md 2 and 4).

use crate::syntax::comparison::{ASSERTION_COMPARISONS, MATCHES_SCHEMA, comparisons_for};
use crate::syntax::json_schema::JsonSchema;
use crate::syntax::status_codes::HttpStatusCodes;
use std::collections::HashSet;

use serde_json::Value;

use super::rule_context::{RuleContext, regex_error};
use crate::syntax::template::has_placeholders;
use crate::syntax::{ValidationErrorKind, path_expression as paths};

pub(super) fn check(cx: &mut RuleContext<'_>) {
    if !cx.has_field("api_steps") {
        return;
    }
    let document = cx.document();
    check_request_form(cx);
    check_assertions(cx, "assertions", document.list("assertions"));
    let mut variable_names = HashSet::new();
    let mut step_numbers = HashSet::new();
    for (index, step) in document.list("api_steps").iter().enumerate() {
        let path = format!("api_steps[{index}]");
        check_method(cx, &path, step);
        check_step_number(cx, &path, step, &mut step_numbers);
        check_assertions(cx, &format!("{path}.assertions"), list_field(step, "assertions"));
        for (variable_index, entry) in list_field(step, "variables").iter().enumerate() {
            let path = format!("{path}.variables[{variable_index}]");
            check_variable(cx, &path, entry);
            let path = format!("{path}.name");
            let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
            if !variable_names.insert(name) {
                let message = format!("`{path}`: a variable `{name}` is in this monitor already");
                cx.add_error(ValidationErrorKind::DuplicateField, &path, message);
            }
        }
    }
}

/// Checks that a monitor has either steps or a single request.
fn check_request_form(cx: &mut RuleContext<'_>) {
    let document = cx.document();
    let has_steps = !document.list("api_steps").is_empty();
    if !has_steps && document.text("url").is_none() && cx.are_valid(&["api_steps", "url"]) {
        cx.add_error(ValidationErrorKind::MissingField, "api_steps", "`api_steps` is required".to_owned())
            .hint =
            Some("a single request may also be given as `url`, `http_method` and `assertions`".to_owned());
    }
    for field in ["url", "http_method", "assertions"] {
        if has_steps && document.differs_from_default(field) {
            cx.add_conflict(field, format!("`{field}` and `api_steps` do not go together"));
        }
    }
}

fn check_method(cx: &mut RuleContext<'_>, path: &str, step: &Value) {
    let is_custom_method = step.get("http_method").and_then(Value::as_str) == Some("CUSTOM");
    let path = format!("{path}.custom_method");
    match (is_custom_method, step.get("custom_method").is_some()) {
        (true, false) => {
            cx.add_error(
                ValidationErrorKind::MissingField,
                &path,
                format!("`{path}` is required with `http_method` CUSTOM"),
            );
        }
        (false, true) => cx.add_conflict(&path, format!("`{path}` needs `http_method` CUSTOM")),
        _ => {}
    }
}

fn check_step_number(cx: &mut RuleContext<'_>, path: &str, step: &Value, step_numbers: &mut HashSet<i64>) {
    let Some(number) = step.get("step_number").and_then(Value::as_i64) else { return };
    if !step_numbers.insert(number) {
        let path = format!("{path}.step_number");
        cx.add_error(
            ValidationErrorKind::DuplicateField,
            &path,
            format!("`{path}`: there is a step `{number}` already"),
        );
    }
}

fn list_field<'v>(step: &'v Value, name: &str) -> &'v [Value] {
    step.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn check_assertions(cx: &mut RuleContext<'_>, path: &str, assertions: &[Value]) {
    for (index, assertion) in assertions.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let text_field = |name: &str| assertion.get(name).and_then(Value::as_str).unwrap_or_default();
        let (source, comparison) = (text_field("source"), text_field("comparison"));
        if !comparisons_for(source).unwrap_or(ASSERTION_COMPARISONS).contains(&comparison) {
            cx.add_conflict_with_hint(
                &format!("{path}.comparison"),
                format!("`{path}.comparison` `{comparison}` does not go with source `{source}`"),
                format!(
                    "`{source}` goes with {}",
                    join_quoted(comparisons_for(source).unwrap_or(ASSERTION_COMPARISONS))
                ),
            );
            continue;
        }
        if matches!(source, "JSON Response" | "XML Response" | "Header") && text_field("property").is_empty()
        {
            let path = format!("{path}.property");
            cx.add_error(
                ValidationErrorKind::MissingField,
                &path,
                format!("`{path}` is required with source `{source}`"),
            );
        }
        check_schema(
            cx,
            &format!("{path}.schema"),
            comparison,
            assertion.get("schema").and_then(Value::as_str),
        );
        check_property_path(cx, &format!("{path}.property"), source, text_field("property"));
        check_comparison_value(cx, &format!("{path}.value"), source, comparison, text_field("value"));
    }
}

/// Checks that there is a schema where one is compared with, and nowhere else, and that it compiles.
fn check_schema(cx: &mut RuleContext<'_>, field_path: &str, comparison: &str, schema: Option<&str>) {
    match (comparison == MATCHES_SCHEMA, schema) {
        (true, None) => {
            let message = format!("`{field_path}` is required with comparison `{MATCHES_SCHEMA}`");
            cx.add_error(ValidationErrorKind::MissingField, field_path, message);
        }
        (false, Some(_)) => {
            let message = format!("`{field_path}` needs comparison `{MATCHES_SCHEMA}`");
            cx.add_conflict(field_path, message);
        }
        (true, Some(schema)) => {
            if let Err(error) = JsonSchema::new(schema) {
                let message = format!("`{field_path}` cannot be used: {error}");
                cx.add_error(ValidationErrorKind::Format, field_path, message);
            }
        }
        (false, None) => {}
    }
}

/// Checks that a JSONPath or XPath compiles.
fn check_property_path(cx: &mut RuleContext<'_>, field_path: &str, source: &str, property: &str) {
    let problem = match source {
        "JSON Response" => {
            paths::parse_json_path(property).err().map(|error| format!("is not a JSONPath: {error}"))
        }
        "XML Response" => paths::parse_xpath(property).err().map(|error| format!("is not an XPath: {error}")),
        _ => None,
    };
    if let (Some(problem), false) = (problem, property.is_empty()) {
        cx.add_error(ValidationErrorKind::Format, field_path, format!("`{field_path}` {problem}"));
    }
}

/// Checks the `property` of a variable: a path or a regular expression, depending on its source.
fn check_variable(cx: &mut RuleContext<'_>, path: &str, variable: &Value) {
    let text_field = |name: &str| variable.get(name).and_then(Value::as_str).unwrap_or_default();
    let (path, source, property) = (format!("{path}.property"), text_field("source"), text_field("property"));
    check_property_path(cx, &path, source, property);
    let problem = (source == "Response").then(|| regex_error(property)).flatten();
    if let Some(problem) = problem {
        cx.add_error(ValidationErrorKind::Format, &path, format!("`{path}` {problem}"));
    }
}

/// Checks that the value suits its comparison. A value with variables is known only in a run.
fn check_comparison_value(
    cx: &mut RuleContext<'_>,
    field_path: &str,
    source: &str,
    comparison: &str,
    value: &str,
) {
    if comparison == MATCHES_SCHEMA || has_placeholders(value) {
        return;
    }
    let problem = match (source, comparison) {
        (_, "regular expression includes" | "regular expression excludes") => regex_error(value),
        ("Timeout", _) if !is_seconds(value) => Some(format!("must be seconds, not `{value}`")),
        ("Status Code", _) if HttpStatusCodes::parse(value).is_none() => Some(format!(
            "must be status codes such as `200`, `200-299` or `2xx`, with commas between them, not `{value}`"
        )),
        (_, "count") if value.parse::<u64>().is_err() => {
            Some(format!("must be a number of nodes, not `{value}`"))
        }
        (_, "less than" | "less than or equal" | "greater than" | "greater than or equal")
            if value.trim().parse::<f64>().is_err() =>
        {
            Some(format!("must be a number, not `{value}`"))
        }
        _ => None,
    };
    if let Some(problem) = problem {
        cx.add_error(ValidationErrorKind::Format, field_path, format!("`{field_path}` {problem}"));
    }
}

/// Whether `value` is a number of seconds with up to 3 decimals (behaviour.md 4).
fn is_seconds(value: &str) -> bool {
    let decimals = value.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let digits = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    digits && decimals <= 3 && value.parse::<f64>().is_ok()
}

fn join_quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
