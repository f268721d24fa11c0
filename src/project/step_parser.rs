//! The steps of a case.

use std::collections::HashSet;

use roxmltree::Node;

use super::assertion_parser::check_xpath;
use super::issue_collector::IssueCollector;
use super::model::{CaseCall, GotoCondition, RequestStep, RunMode, StepAction, TestStep};
use super::property_list::parse_property_list;
use super::property_map::PropertyMap;
use super::request_parser::{parse_http_request, parse_rest_request, parse_soap_request};
use super::step_context::StepContext;
use super::transfer_parser::parse_transfers;
use super::xml_tree::{attribute, child, child_text, children, flag, is_disabled, is_true, text};

/// Types of steps that send a request.
pub(super) const REQUEST_TYPES: [&str; 3] = ["restrequest", "httprequest", "request"];
/// Maximum number of conditions of a step.
const MAX_CONDITIONS: usize = 500;

/// Reads a step. Fails when it has too many properties or parameters, or repeats too much of the file.
pub(super) fn parse_step(
    node: Node<'_, '_>,
    context: &StepContext<'_, '_>,
    mut issues: IssueCollector<'_, '_>,
) -> Result<TestStep, String> {
    let name = attribute(node, "name").to_owned();
    let (position, disabled) = (issues.position(node), is_disabled(node));
    if disabled {
        return Ok(TestStep {
            name,
            disabled,
            action: StepAction::Unsupported,
            position,
            issues: Vec::new(),
        });
    }
    issues.add_groovy_expansions(node);
    let step_type = attribute(node, "type");
    let config = child(node, "config");
    let action = match (step_type, config) {
        ("delay", config) => {
            let delay = config.map(|config| child_text(config, "delay")).unwrap_or_default();
            if !delay.contains("${") && delay.trim().parse::<u64>().is_err() {
                issues.add(node, format!("the delay `{}`", crate::syntax::truncate_value(&delay)));
            }
            StepAction::Delay(delay)
        }
        (
            "restrequest" | "httprequest" | "request" | "transfer" | "properties" | "goto" | "calltestcase",
            None,
        ) => {
            issues.add(node, "`config` is missing");
            StepAction::Unsupported
        }
        ("restrequest", Some(config)) => request_action(parse_rest_request(config, context, &mut issues)?),
        ("httprequest", Some(config)) => request_action(Some(parse_http_request(config, &mut issues)?)),
        ("request", Some(config)) => request_action(parse_soap_request(config, context, &mut issues)?),
        ("transfer", Some(config)) => StepAction::Transfer(parse_transfers(config, context, &mut issues)?),
        ("properties", Some(config)) => {
            if !child_text(config, "source").trim().is_empty() {
                issues.add(node, "properties from files");
            }
            StepAction::Properties(match child(config, "properties") {
                Some(list) => parse_property_list(list)?,
                None => PropertyMap::default(),
            })
        }
        ("goto", Some(config)) => StepAction::Goto(parse_conditions(config, context.step_names, &mut issues)),
        ("calltestcase", Some(config)) => StepAction::Call(parse_call(config)?),
        ("groovy", _) => unsupported_step(node, "Groovy scripts are not run", &mut issues),
        (other, _) => {
            let what = format!("steps of type `{}` are not run", crate::syntax::truncate_value(other));
            unsupported_step(node, &what, &mut issues)
        }
    };
    Ok(TestStep { name, disabled, action, position, issues: issues.into_issues() })
}

fn request_action(request: Option<RequestStep>) -> StepAction {
    request.map_or(StepAction::Unsupported, |request| StepAction::Request(Box::new(request)))
}

fn unsupported_step(node: Node<'_, '_>, what: &str, issues: &mut IssueCollector<'_, '_>) -> StepAction {
    issues.add(node, what);
    StepAction::Unsupported
}

/// Reads the conditions of a goto; `step_names` are the steps that it can go to.
fn parse_conditions(
    config: Node<'_, '_>,
    step_names: &HashSet<&str>,
    issues: &mut IssueCollector<'_, '_>,
) -> Vec<GotoCondition> {
    let mut conditions = Vec::new();
    for node in children(config, "condition").filter(|condition| !is_disabled(*condition)) {
        let name = crate::syntax::truncate_value(&child_text(node, "name"));
        let (condition_type, expression) = (child_text(node, "type"), child_text(node, "expression"));
        let target_step = child_text(node, "targetStep").trim().to_owned();
        if !matches!(condition_type.trim(), "" | "XPATH") {
            let condition_type = crate::syntax::truncate_value(&condition_type);
            issues.add(node, format!("condition `{name}`: conditions of type `{condition_type}`"));
        } else if let Err(reason) = check_xpath(&expression) {
            issues.add(node, format!("condition `{name}`: {reason}"));
        } else if !step_names.contains(target_step.as_str()) {
            let target_step = crate::syntax::truncate_value(&target_step);
            issues.add(node, format!("condition `{name}`: the case has no step `{target_step}`"));
        } else if conditions.len() == MAX_CONDITIONS {
            issues.add(node, format!("more than {MAX_CONDITIONS} conditions of one step"));
            break;
        } else {
            conditions.push(GotoCondition { expression, target_step });
        }
    }
    conditions
}

fn parse_call(config: Node<'_, '_>) -> Result<CaseCall, String> {
    let return_properties = child(config, "returnProperties");
    let has_flag = |name: &str| flag(config, name, false) || is_true(&child_text(config, name));
    Ok(CaseCall {
        target: child_text(config, "targetTestCase").trim().to_owned(),
        properties: match child(config, "properties") {
            Some(list) => parse_property_list(list)?,
            None => PropertyMap::default(),
        },
        return_properties: return_properties
            .map(|list| children(list, "entry").map(text).collect())
            .unwrap_or_default(),
        run_mode: match child_text(config, "runMode").trim() {
            "SINGLETON_AND_FAIL" | "SINGLETON_AND_WAIT" => RunMode::Shared,
            _ => RunMode::Copy,
        },
        copy_http_session: has_flag("copyHttpSession"),
        ignore_empty_properties: has_flag("ignoreEmptyProperties"),
    })
}
