//! The assertions of a request.

use roxmltree::Node;

use super::issue_collector::IssueCollector;
use super::model::{AssertionRule, ResponseAssertion, XmlComparison};
use super::xml_tree::{attribute, child, children, configured_flag, configured_text, is_disabled};
use crate::syntax::path_expression;
use crate::syntax::pattern::{CompiledPattern, HaystackKind};

/// Maximum number of assertions of a request.
const MAX_ASSERTIONS: usize = 500;

/// Reads the enabled assertions of the request `node`.
pub(super) fn parse_assertions(
    node: Node<'_, '_>,
    issues: &mut IssueCollector<'_, '_>,
) -> Vec<ResponseAssertion> {
    let mut assertions = Vec::new();
    for assertion in children(node, "assertion").filter(|assertion| !is_disabled(*assertion)) {
        if assertions.len() == MAX_ASSERTIONS {
            issues.add(assertion, format!("more than {MAX_ASSERTIONS} assertions of one request"));
            break;
        }
        let assertion_type = attribute(assertion, "type");
        let configured_name = attribute(assertion, "name");
        let name = if configured_name.is_empty() { assertion_type } else { configured_name };
        let name = crate::syntax::truncate_value(name);
        match parse_rule(assertion_type, child(assertion, "configuration")) {
            Ok(rule) => assertions.push(ResponseAssertion { name, rule }),
            Err(reason) => issues.add(assertion, format!("assertion `{name}`: {reason}")),
        }
    }
    assertions
}

fn parse_rule(assertion_type: &str, configuration: Option<Node<'_, '_>>) -> Result<AssertionRule, String> {
    let found_text = |name: &str| configuration.and_then(|node| configured_text(node, name));
    let has_flag = |name: &str| configuration.is_some_and(|node| configured_flag(node, name));
    let required = |name: &str| found_text(name).ok_or_else(|| format!("`{name}` is missing"));
    Ok(match assertion_type {
        "Valid HTTP Status Codes" | "Invalid HTTP Status Codes" => AssertionRule::Status {
            codes: required("codes")?,
            negated: assertion_type.starts_with("Invalid"),
        },
        "Simple Contains" | "Simple NotContains" => {
            let (token, is_regex) = (found_text("token").unwrap_or_default(), has_flag("useRegEx"));
            if is_regex {
                check_pattern(&token)?;
            }
            let negated = assertion_type == "Simple NotContains";
            AssertionRule::Contains { token, ignore_case: has_flag("ignoreCase"), is_regex, negated }
        }
        "XPath Match" => {
            let comparison = XmlComparison {
                allow_wildcards: has_flag("allowWildcards"),
                ignore_namespaces: has_flag("ignoreNamspaceDifferences"),
                ignore_comments: has_flag("ignoreComments"),
            };
            let path = required("path")?;
            check_xpath(&path)?;
            AssertionRule::XPath { path, content: required("content")?, comparison }
        }
        "JsonPath Match" => AssertionRule::JsonEquals {
            path: checked_json_path(required("path")?)?,
            content: required("content")?,
            allow_wildcards: has_flag("allowWildcards"),
        },
        "JsonPath Count" => AssertionRule::JsonCount {
            path: checked_json_path(required("path")?)?,
            content: required("content")?,
        },
        "JsonPath Existence Match" => AssertionRule::JsonExists {
            path: checked_json_path(required("path")?)?,
            content: required("content")?,
        },
        "JsonPath RegEx Match" => {
            let pattern = required("regEx")?;
            check_pattern(&pattern)?;
            let content = found_text("content").unwrap_or_else(|| "true".to_owned());
            AssertionRule::JsonMatches { path: checked_json_path(required("path")?)?, pattern, content }
        }
        "Response SLA Assertion" => AssertionRule::ResponseTime { limit_ms: required("SLA")? },
        "SOAP Response" => AssertionRule::SoapResponse,
        // The ids of these two are the wrong way round: their labels say what they check.
        "SOAP Fault Assertion" => AssertionRule::NoSoapFault,
        "Not SOAP Fault Assertion" => AssertionRule::SoapFault,
        "GroovyScriptAssertion" => return Err("Groovy scripts are not run".to_owned()),
        other => {
            return Err(format!(
                "assertions of type `{}` are not known",
                crate::syntax::truncate_value(other)
            ));
        }
    })
}

/// Checks an XPath. With expansions it is known only when it is used.
pub(super) fn check_xpath(path: &str) -> Result<(), String> {
    if path.contains("${") {
        return Ok(());
    }
    path_expression::parse_xpath_with_prolog(path)
        .map(drop)
        .map_err(|error| format!("the XPath is not one of version 1.0: {error}"))
}

fn checked_json_path(path: String) -> Result<String, String> {
    check_json_path(&path)?;
    Ok(path)
}

/// Checks a JSONPath. With expansions it is known only when it is used.
pub(super) fn check_json_path(path: &str) -> Result<(), String> {
    if path.contains("${") {
        return Ok(());
    }
    let path = path.trim();
    path_expression::parse_json_path(path.strip_suffix(".length()").unwrap_or(path))
        .map(drop)
        .map_err(|error| format!("the JSONPath is not understood: {error}"))
}

/// Checks a regular expression. With expansions it is known only when it is used.
fn check_pattern(pattern: &str) -> Result<(), String> {
    if pattern.contains("${") {
        return Ok(());
    }
    CompiledPattern::new(pattern, HaystackKind::Text)
        .map(drop)
        .map_err(|error| format!("the regular expression cannot be used: {error}"))
}
