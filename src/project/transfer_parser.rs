//! The transfers of a step.

use roxmltree::Node;

use super::assertion_parser::{check_json_path, check_xpath};
use super::issue_collector::IssueCollector;
use super::model::{PathLanguage, PropertyTransfer, TransferEnd};
use super::step_context::StepContext;
use super::xml_tree::{child_text, children, flag, is_disabled};

/// Maximum number of transfers of a step.
const MAX_TRANSFERS: usize = 500;

/// Reads the enabled transfers of a step from its `config`. The request before it is the source of transfers without one,
/// the one after it their target. Fails when steps repeat too much.
pub(super) fn parse_transfers(
    config: Node<'_, '_>,
    context: &StepContext<'_, '_>,
    issues: &mut IssueCollector<'_, '_>,
) -> Result<Vec<PropertyTransfer>, String> {
    let (previous_request, next_request) = (context.previous_request, context.next_request);
    let default_bytes = previous_request.map_or(0, str::len) + next_request.map_or(0, str::len);
    let mut transfers = Vec::new();
    for node in children(config, "transfers").filter(|transfer| !is_disabled(*transfer)) {
        if transfers.len() == MAX_TRANSFERS {
            issues.add(node, format!("more than {MAX_TRANSFERS} transfers of one step"));
            break;
        }
        let name = crate::syntax::truncate_value(&child_text(node, "name"));
        context.budget.charge(default_bytes)?;
        match parse_transfer(node, previous_request, next_request) {
            Ok(transfer) => transfers.push(PropertyTransfer { name, ..transfer }),
            Err(reason) => issues.add(node, format!("transfer `{name}`: {reason}")),
        }
    }
    Ok(transfers)
}

fn parse_transfer(
    node: Node<'_, '_>,
    previous_request: Option<&str>,
    next_request: Option<&str>,
) -> Result<PropertyTransfer, String> {
    if flag(node, "useXQuery", false) {
        return Err("XQuery is not known".to_owned());
    }
    let end = |side: &str, language_name: &str, default_step: Option<&str>| {
        let path = child_text(node, &format!("{side}Path"));
        let language = match child_text(node, language_name).trim() {
            "JSONPATH" => PathLanguage::JsonPath,
            "XQUERY" => return Err("XQuery is not known".to_owned()),
            _ if path.trim_start().starts_with('$') && !path.trim_start().starts_with("${") => {
                PathLanguage::JsonPath
            }
            _ => PathLanguage::XPath,
        };
        if !path.trim().is_empty() {
            match language {
                PathLanguage::XPath => check_xpath(&path)?,
                PathLanguage::JsonPath => check_json_path(&path)?,
            }
        }
        let step = child_text(node, &format!("{side}Step")).trim().to_owned();
        let step = if step.is_empty() { default_step.unwrap_or_default().to_owned() } else { step };
        let property = child_text(node, &format!("{side}Type"));
        Ok(TransferEnd { step, property, path, language })
    };
    Ok(PropertyTransfer {
        name: String::new(),
        source: end("source", "type", previous_request)?,
        target: end("target", "targetTransferType", next_request)?,
        set_null_on_missing_source: flag(node, "setNullOnMissingSource", true),
        transfer_text_content: flag(node, "transferTextContent", true),
        fail_on_error: flag(node, "failOnError", false),
        ignore_empty: flag(node, "ignoreEmpty", false),
        transfer_to_all: flag(node, "transferToAll", false),
        entitize: flag(node, "entitize", false),
        transfer_child_nodes: flag(node, "transferChildNodes", false),
    })
}
