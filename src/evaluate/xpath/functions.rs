//! The core function library (XPath 1.0, 4).

use std::collections::HashMap;

use roxmltree::NS_XML_URI;

use super::evaluator::{EvalContext, Evaluator, sort_and_dedup};
use super::node_budget::consume_nodes;
use super::nodes::XPathNode;
use super::value::XPathValue;
use crate::syntax::xpath::{Expr, XPathFunction};

const WHITESPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Calls `function` with `arguments`, whose number the parser has checked.
pub(super) fn call_function<'d>(
    evaluator: &Evaluator<'d, '_>,
    function: XPathFunction,
    arguments: &[Expr],
    context: EvalContext<'d>,
) -> Result<XPathValue<'d>, String> {
    let value = |index: usize| match arguments.get(index) {
        Some(argument) => evaluator.evaluate_expr(argument, context),
        None => Ok(XPathValue::Nodes(vec![context.node])),
    };
    let text = |index: usize| {
        let text = value(index)?.to_text(evaluator.node_budget)?;
        consume_nodes(evaluator.node_budget, text.len() as u64 / 64)?;
        Ok::<_, String>(text)
    };
    let number = |index: usize| value(index)?.to_number(evaluator.node_budget);
    // The node whose name is requested: the first.
    let first_node = || match value(0)? {
        XPathValue::Nodes(nodes) => Ok::<_, String>(nodes.first().copied()),
        _ => Ok(None),
    };
    let name = |format_name: fn(XPathNode<'d>) -> String| {
        Ok::<_, String>(first_node()?.map(format_name).unwrap_or_default())
    };
    Ok(match function {
        XPathFunction::Last => XPathValue::Number(context.size as f64),
        XPathFunction::Position => XPathValue::Number(context.position as f64),
        XPathFunction::Count => match value(0)? {
            XPathValue::Nodes(nodes) => XPathValue::Number(nodes.len() as f64),
            _ => XPathValue::Number(f64::NAN),
        },
        XPathFunction::Id => XPathValue::Nodes(elements_by_id(evaluator, &value(0)?)?),
        XPathFunction::LocalName => XPathValue::Text(name(|node| node.name().1.to_owned())?),
        XPathFunction::NamespaceUri => {
            XPathValue::Text(name(|node| node.name().0.unwrap_or_default().to_owned())?)
        }
        XPathFunction::Name => XPathValue::Text(name(|node| node.qualified_name())?),
        XPathFunction::String => XPathValue::Text(text(0)?),
        XPathFunction::Concat => XPathValue::Text((0..arguments.len()).map(text).collect::<Result<_, _>>()?),
        XPathFunction::StartsWith => XPathValue::Boolean(text(0)?.starts_with(&text(1)?)),
        XPathFunction::Contains => XPathValue::Boolean(text(0)?.contains(&text(1)?)),
        XPathFunction::SubstringBefore => {
            let (haystack, needle) = (text(0)?, text(1)?);
            XPathValue::Text(
                haystack.split_once(&needle).map_or(String::new(), |(before, _)| before.to_owned()),
            )
        }
        XPathFunction::SubstringAfter => {
            let (haystack, needle) = (text(0)?, text(1)?);
            XPathValue::Text(
                haystack.split_once(&needle).map_or(String::new(), |(_, after)| after.to_owned()),
            )
        }
        XPathFunction::Substring => {
            let length = if arguments.len() == 3 { Some(number(2)?) } else { None };
            XPathValue::Text(substring(&text(0)?, number(1)?, length))
        }
        XPathFunction::StringLength => XPathValue::Number(text(0)?.chars().count() as f64),
        XPathFunction::NormalizeSpace => {
            let text = text(0)?;
            let words: Vec<_> = text.split(WHITESPACE).filter(|word| !word.is_empty()).collect();
            XPathValue::Text(words.join(" "))
        }
        XPathFunction::Translate => XPathValue::Text(translate(&text(0)?, &text(1)?, &text(2)?)),
        XPathFunction::Boolean => XPathValue::Boolean(value(0)?.to_bool()),
        XPathFunction::Not => XPathValue::Boolean(!value(0)?.to_bool()),
        XPathFunction::True => XPathValue::Boolean(true),
        XPathFunction::False => XPathValue::Boolean(false),
        XPathFunction::Lang => XPathValue::Boolean(matches_language(context.node, &text(0)?)),
        XPathFunction::Number => XPathValue::Number(number(0)?),
        XPathFunction::Sum => match value(0)? {
            XPathValue::Nodes(nodes) => {
                let numbers = nodes
                    .into_iter()
                    .map(|node| XPathValue::Nodes(vec![node]).to_number(evaluator.node_budget));
                XPathValue::Number(numbers.sum::<Result<f64, _>>()?)
            }
            _ => XPathValue::Number(f64::NAN),
        },
        XPathFunction::Floor => XPathValue::Number(number(0)?.floor()),
        XPathFunction::Ceiling => XPathValue::Number(number(0)?.ceil()),
        XPathFunction::Round => XPathValue::Number(round(number(0)?)),
    })
}

/// Rounds to the nearest integer, of two the greater (4.4).
fn round(number: f64) -> f64 {
    if number.fract() == 0.0 { number } else { (number + 0.5).floor() }
}

/// Returns the characters whose position, from 1, is at least `start`; at most `length` of them (4.2).
fn substring(text: &str, start: f64, length: Option<f64>) -> String {
    let start = round(start);
    let end = length.map_or(f64::INFINITY, |length| start + round(length));
    let is_in_range = |position: usize| (position as f64) >= start && (position as f64) < end;
    text.chars().enumerate().filter(|(index, _)| is_in_range(index + 1)).map(|(_, c)| c).collect()
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let mut replacements = HashMap::new();
    let mut to = to.chars();
    for c in from.chars() {
        let replacement = to.next();
        replacements.entry(c).or_insert(replacement);
    }
    text.chars().filter_map(|c| replacements.get(&c).copied().unwrap_or(Some(c))).collect()
}

/// Returns the elements with one of these `xml:id`. Only a DTD can declare other id attributes, and none is read.
fn elements_by_id<'d>(
    evaluator: &Evaluator<'d, '_>,
    value: &XPathValue<'d>,
) -> Result<Vec<XPathNode<'d>>, String> {
    let mut ids = Vec::new();
    let mut add_ids = |text: &str| ids.extend(text.split(WHITESPACE).map(str::to_owned));
    match value {
        XPathValue::Nodes(nodes) => {
            for node in nodes {
                add_ids(&node.text_within_budget(evaluator.node_budget)?);
            }
        }
        other => add_ids(&other.to_text(evaluator.node_budget)?),
    }
    let ids: std::collections::HashSet<String> = ids.into_iter().collect();
    let mut elements = Vec::new();
    for node in evaluator.document.descendants() {
        consume_nodes(evaluator.node_budget, 1)?;
        if node.attribute((NS_XML_URI, "id")).is_some_and(|id| ids.contains(id)) {
            elements.push(XPathNode::Tree(node));
        }
    }
    Ok(sort_and_dedup(elements))
}

/// Whether the nearest `xml:lang` is `language` or a sublanguage of it.
fn matches_language(node: XPathNode<'_>, language: &str) -> bool {
    let declared =
        node.owner_node().ancestors().find_map(|ancestor| ancestor.attribute((NS_XML_URI, "lang")));
    declared.is_some_and(|declared| {
        let prefix = declared.get(..language.len()).unwrap_or_default();
        let suffix = declared.get(language.len()..).unwrap_or_default();
        prefix.eq_ignore_ascii_case(language) && (suffix.is_empty() || suffix.starts_with('-'))
    })
}
