//! Transfers of properties.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::Value;

use super::resolver::CaseResolver;
use super::run_state::RunState;
use super::step_budget::StepBudget;
use crate::domain::FailureKind;
use crate::evaluate::json_value::{read_json, value_text, write_json};
use crate::evaluate::xml_query::{NodeTransfer, select_value, set_nodes, transfer_nodes};
use crate::project::model::{CaseIndex, PathLanguage, PropertyTransfer, StepAction, TransferEnd};
use crate::project::property_owner::{PropertyOwner, is_response_name};
use crate::syntax::escape::{escape_expansions, escape_xml_text};
use crate::syntax::path_expression::{XPath, parse_xpath_with_prolog};

/// Runs the transfers of a step within `budget`. Returns the failure of the first that failed and has
/// `failOnError`, or a timeout when it left some out.
pub(super) fn run_transfers(
    state: &mut RunState,
    case: CaseIndex,
    step: usize,
    budget: &StepBudget,
) -> Option<(FailureKind, String)> {
    let project = std::sync::Arc::clone(&state.project);
    let StepAction::Transfer(transfers) = &project.case(case).steps[step].action else { return None };
    for (index, transfer) in transfers.iter().enumerate() {
        if state.is_full() {
            return None;
        }
        if budget.deadline.is_expired() {
            let (left_out, count) = (transfers.len() - index, transfers.len());
            let reason =
                format!("{left_out} of {count} transfers were not run within {:?}", budget.deadline.timeout);
            return Some((FailureKind::TimedOut, reason));
        }
        if let Err(reason) = run_transfer(state, case, transfer, budget)
            && transfer.fail_on_error
        {
            let reason = format!("transfer `{}`: {reason}", transfer.name);
            return Some((FailureKind::VariableNotExtracted, reason));
        }
    }
    None
}

/// What a transfer sets.
enum TransferredValue {
    /// A value; one of JSON keeps its type in JSON.
    Value(Value),
    /// The whole target, changed already.
    Target(String),
    /// Nothing: the target stays as it is.
    Unchanged,
}

fn run_transfer(
    state: &mut RunState,
    case: CaseIndex,
    transfer: &PropertyTransfer,
    budget: &StepBudget,
) -> Result<(), String> {
    let resolver = CaseResolver::new(state, case, budget);
    let source_owner = find_owner(&resolver, &transfer.source, "source")?;
    let target_owner = find_owner(&resolver, &transfer.target, "target")?;
    let source = resolver.property(source_owner, &transfer.source.property)?;
    let is_from_response = resolver.is_from_response(source_owner, &transfer.source.property);
    if source.is_none() && !is_response_name(&transfer.source.property) {
        return Err(format!("there is no property `{}` of the source", transfer.source.property));
    }
    let target_properties = state.properties(case, target_owner);
    let Some(target) = target_properties.and_then(|properties| properties.get(&transfer.target.property))
    else {
        return Err(format!("there is no property `{}` of the target", transfer.target.property));
    };
    if source.is_none() && !transfer.set_null_on_missing_source && !transfer.ignore_empty {
        return Err("the source has no value".to_owned());
    }
    let (source_path, target_path) =
        (resolver.expand(&transfer.source.path)?, resolver.expand(&transfer.target.path)?);
    let transferred = match source.as_deref() {
        Some(source) => {
            let read = SourceRead { transfer, escapes_expansions: is_from_response, nodes: &budget.nodes };
            read.read((source, &source_path), (target, &target_path))?
        }
        None if transfer.set_null_on_missing_source => TransferredValue::Value(Value::String(String::new())),
        None => TransferredValue::Unchanged,
    };
    let changed = match transferred {
        TransferredValue::Unchanged => return Ok(()),
        TransferredValue::Target(changed) => changed,
        TransferredValue::Value(value) => {
            let value = match value {
                Value::String(text) if transfer.entitize => Value::String(escape_xml_text(&text)),
                other => other,
            };
            let value = if is_from_response { escape_value(value) } else { value };
            let text = value_text(&value);
            if text.is_empty() && transfer.ignore_empty {
                return Ok(());
            }
            match (target_path.trim().is_empty(), transfer.target.language) {
                (true, _) => text,
                (false, PathLanguage::JsonPath) => write_json(target, &target_path, &value, &budget.nodes)?,
                (false, PathLanguage::XPath) => {
                    let path = parse_xpath(&target_path)?;
                    set_nodes(target, &path, &text, transfer.transfer_to_all, &budget.nodes)?
                }
            }
        }
    };
    let name = &transfer.target.property;
    let target_properties = state.properties(case, target_owner);
    let keeps_parts = !target_path.trim().is_empty()
        && target_properties.is_some_and(|properties| properties.is_from_response(name));
    state.set_property(case, target_owner, name, (changed, is_from_response || keeps_parts));
    Ok(())
}

/// Escapes the expansions in all texts of `value`.
fn escape_value(value: Value) -> Value {
    let escape = |text: String| escape_expansions(Cow::Owned(text)).into_owned();
    match value {
        Value::String(text) => Value::String(escape(text)),
        Value::Array(items) => items.into_iter().map(escape_value).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (escape(name), escape_value(value))).collect()
        }
        other => other,
    }
}

fn find_owner(resolver: &CaseResolver<'_>, end: &TransferEnd, side: &str) -> Result<PropertyOwner, String> {
    let owner = resolver.state.project.case(resolver.case).find_owner(&end.step);
    owner.ok_or_else(|| format!("there is no step `{}`, the {side}", end.step))
}

/// Reads what a transfer sets from the value of its source.
struct SourceRead<'t> {
    transfer: &'t PropertyTransfer,
    escapes_expansions: bool,
    /// Nodes that paths may still visit.
    nodes: &'t Cell<u64>,
}

impl SourceRead<'_> {
    /// Returns what the transfer sets from the value `source`.
    fn read(
        &self,
        (source, source_path): (&str, &str),
        (target, target_path): (&str, &str),
    ) -> Result<TransferredValue, String> {
        let transfer = self.transfer;
        if source_path.trim().is_empty() {
            return Ok(TransferredValue::Value(Value::String(source.to_owned())));
        }
        if transfer.source.language == PathLanguage::JsonPath {
            let value = read_json(source, source_path, self.nodes)?.filter(|value| !value.is_null());
            return missing_or(value, transfer);
        }
        let source_xpath = parse_xpath(source_path)?;
        if target_path.trim().is_empty() || transfer.target.language == PathLanguage::JsonPath {
            let value = select_value(source, &source_xpath, transfer.transfer_text_content, self.nodes)?;
            return missing_or(value.map(Value::String), transfer);
        }
        let options = NodeTransfer {
            text_content: transfer.transfer_text_content,
            child_nodes: transfer.transfer_child_nodes,
            to_all: transfer.transfer_to_all,
            ignore_empty: transfer.ignore_empty,
            entitize: transfer.entitize,
            escapes_expansions: self.escapes_expansions,
        };
        let target_xpath = parse_xpath(target_path)?;
        let changed = transfer_nodes((source, &source_xpath), (target, &target_xpath), options, self.nodes)?;
        changed.map_or_else(|| missing_or(None, transfer), |changed| Ok(TransferredValue::Target(changed)))
    }
}

/// Returns the value, or what takes its place when the source path selects nothing.
fn missing_or(value: Option<Value>, transfer: &PropertyTransfer) -> Result<TransferredValue, String> {
    match value {
        Some(value) => Ok(TransferredValue::Value(value)),
        None if transfer.set_null_on_missing_source => {
            Ok(TransferredValue::Value(Value::String(String::new())))
        }
        None if transfer.ignore_empty => Ok(TransferredValue::Unchanged),
        None => Err("the path of the source selects nothing".to_owned()),
    }
}

fn parse_xpath(path: &str) -> Result<XPath, String> {
    parse_xpath_with_prolog(path).map_err(|error| format!("the XPath is not one of version 1.0: {error}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::net::Deadline;
    use crate::project::Project;

    #[test]
    fn transfers_that_are_left_out_fail_the_step() {
        let project = r#"<con:soapui-project name="P" xmlns:con="http://eviware.com/soapui/config">
            <con:testSuite name="S"><con:testCase name="C"><con:testStep type="transfer" name="T"><con:config>
            <con:transfers><con:name>copy</con:name><con:sourceType>a</con:sourceType><con:sourceStep>#Project#</con:sourceStep>
            <con:targetType>b</con:targetType><con:targetStep>#Project#</con:targetStep></con:transfers>
            </con:config></con:testStep></con:testCase></con:testSuite>
            <con:properties><con:property><con:name>a</con:name><con:value>1</con:value></con:property>
            <con:property><con:name>b</con:name><con:value>2</con:value></con:property></con:properties></con:soapui-project>"#;
        let project = Project::parse(project).unwrap();
        let case = project.find_case("S", "C").unwrap();
        let mut state = RunState::new(Arc::new(project));
        state.ensure_case(case);
        let (kind, reason) =
            run_transfers(&mut state, case, 0, &StepBudget::new(Deadline::within(Duration::ZERO))).unwrap();
        assert_eq!(kind, FailureKind::TimedOut);
        assert!(reason.starts_with("1 of 1 transfers"), "{reason}");
        assert_eq!(state.project_properties.get("b"), Some("2"));
        assert!(
            run_transfers(&mut state, case, 0, &StepBudget::new(Deadline::within(Duration::from_mins(1))))
                .is_none()
        );
        assert_eq!(state.project_properties.get("b"), Some("1"));
    }
}
