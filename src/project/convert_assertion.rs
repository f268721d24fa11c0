//! Assertions of a project as those of API steps.

use serde_json::{Value, json};

use super::convert_scope::ConversionScope;
use super::model::AssertionRule;

/// The longest path and value of an assertion (fields.md 2), in characters.
const MAX_CHARS: usize = 256;
/// The body of an envelope, in any version of SOAP.
const SOAP_BODY: &str = "/*[local-name()='Envelope']/*[local-name()='Body']";

/// Returns the assertions of a step that check what `rule` does.
///
/// # Errors
/// Says why there are none.
pub(super) fn convert_assertion(
    rule: &AssertionRule,
    scope: &ConversionScope<'_>,
) -> Result<Vec<Value>, String> {
    let assertion = |source: &str, property: &str, comparison: &str, value: &str| {
        let (property, value) = (scope.text(property)?, scope.text(value)?);
        if property.contains("{{") {
            return Err("its path has the value of a variable".to_owned());
        }
        if property.chars().count() > MAX_CHARS || value.chars().count() > MAX_CHARS {
            return Err(format!("its path or value has more than {MAX_CHARS} characters"));
        }
        let mut fields = json!({"source": source, "comparison": comparison, "value": value});
        if !property.is_empty() {
            fields["property"] = Value::from(property);
        }
        Ok(fields)
    };
    let one = |assertion: Result<Value, String>| assertion.map(|assertion| vec![assertion]);
    match rule {
        AssertionRule::Status { codes, negated } => {
            let codes = scope.text(codes)?.split(',').map(str::trim).collect::<Vec<_>>().join(",");
            one(assertion("Status Code", "", if *negated { "does not equal" } else { "equals" }, &codes))
        }
        AssertionRule::Contains { token, .. } if token.is_empty() => Ok(Vec::new()),
        AssertionRule::Contains { token, ignore_case: false, is_regex: false, negated } => {
            one(assertion("Response", "", if *negated { "does not contain" } else { "contains" }, token))
        }
        AssertionRule::Contains { token, is_regex, negated, .. } => {
            let token = scope.text(token)?;
            let pattern = if *is_regex {
                format!(r"\A(?:{token})\z")
            } else if token.contains("{{") {
                return Err("it ignores case in the value of a variable".to_owned());
            } else {
                format!("(?i){}", regex::escape(&token))
            };
            one(assertion("Response", "", pattern_comparison(*negated), &pattern))
        }
        AssertionRule::XPath { path, content, comparison } => {
            if path.trim_start().starts_with("declare ") || content.contains('<') {
                return Err("it declares namespaces, or compares elements".to_owned());
            }
            if comparison.allow_wildcards && content.contains('*') {
                return Err("it has wildcards".to_owned());
            }
            one(assertion("XML Response", path.trim(), "equals", content))
        }
        AssertionRule::JsonEquals { path, content, allow_wildcards } => {
            if *allow_wildcards && content.contains('*') {
                return Err("it has wildcards".to_owned());
            }
            if content.starts_with(['{', '[']) || path.contains(".length()") {
                return Err("it compares objects, lists or their length".to_owned());
            }
            one(assertion("JSON Response", path.trim(), "equals", content))
        }
        AssertionRule::JsonCount { path, content } if path.trim().ends_with("[*]") => {
            one(assertion("JSON Response", path.trim(), "count", content))
        }
        AssertionRule::JsonCount { .. } => Err("it counts the items of a list".to_owned()),
        AssertionRule::JsonExists { .. } => {
            Err("null and an empty list count as missing for it, and as there for steps".to_owned())
        }
        AssertionRule::JsonMatches { path, pattern, content } => {
            let pattern = format!(r"\A(?:{pattern})\z");
            match content.trim() {
                "true" => one(assertion("JSON Response", path.trim(), pattern_comparison(false), &pattern)),
                "false" => one(assertion("JSON Response", path.trim(), pattern_comparison(true), &pattern)),
                _ => Err("it compares with something else than `true` and `false`".to_owned()),
            }
        }
        AssertionRule::ResponseTime { limit_ms } => {
            let limit = scope.text(limit_ms)?;
            let millis: u32 = limit.trim().parse().map_err(|_| "its limit is not a number".to_owned())?;
            let seconds = (f64::from(millis) / 1000.0).to_string();
            one(assertion("Timeout", "", "less than or equal", &seconds))
        }
        AssertionRule::SoapResponse => one(assertion("XML Response", SOAP_BODY, "exists", "1")),
        AssertionRule::SoapFault => {
            let fault = format!("{SOAP_BODY}/*[local-name()='Fault']");
            one(assertion("XML Response", &fault, "exists", "1"))
        }
        AssertionRule::NoSoapFault => {
            let fault = format!("{SOAP_BODY}/*[local-name()='Fault']");
            Ok(vec![
                assertion("XML Response", SOAP_BODY, "exists", "1")?,
                assertion("XML Response", &fault, "does not exist", "1")?,
            ])
        }
    }
}

const fn pattern_comparison(negated: bool) -> &'static str {
    if negated { "regular expression excludes" } else { "regular expression includes" }
}
