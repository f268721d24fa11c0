//! The core library of functions (XPath 1.0, 4).

use std::collections::HashMap;

use roxmltree::NS_XML_URI;

use super::evaluator::{EvalContext, Evaluator, sort_and_dedup};
use super::fuel::consume_fuel;
use super::nodes::XPathNode;
use super::value::XPathValue;
use crate::syntax::xpath::{Expr, XPathFunction};

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// What `function` gives for `arguments`, whose number was checked when they were parsed.
pub(super) fn call<'d>(
    scope: &Evaluator<'d, '_>,
    function: XPathFunction,
    arguments: &[Expr],
    at: EvalContext<'d>,
) -> Result<XPathValue<'d>, String> {
    let value = |index: usize| match arguments.get(index) {
        Some(argument) => scope.evaluate_expr(argument, at),
        None => Ok(XPathValue::Nodes(vec![at.node])),
    };
    let text = |index: usize| {
        let text = value(index)?.to_text(scope.fuel)?;
        consume_fuel(scope.fuel, text.len() as u64 / 64)?;
        Ok::<_, String>(text)
    };
    let number = |index: usize| value(index)?.to_number(scope.fuel);
    // The node that a name is asked of: the first.
    let named = || match value(0)? {
        XPathValue::Nodes(nodes) => Ok::<_, String>(nodes.first().copied()),
        _ => Ok(None),
    };
    let name = |of: fn(XPathNode<'d>) -> String| Ok::<_, String>(named()?.map(of).unwrap_or_default());
    Ok(match function {
        XPathFunction::Last => XPathValue::Number(at.size as f64),
        XPathFunction::Position => XPathValue::Number(at.position as f64),
        XPathFunction::Count => match value(0)? {
            XPathValue::Nodes(nodes) => XPathValue::Number(nodes.len() as f64),
            _ => XPathValue::Number(f64::NAN),
        },
        XPathFunction::Id => XPathValue::Nodes(elements_by_id(scope, &value(0)?)?),
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
            let (whole, part) = (text(0)?, text(1)?);
            XPathValue::Text(whole.split_once(&part).map_or(String::new(), |(before, _)| before.to_owned()))
        }
        XPathFunction::SubstringAfter => {
            let (whole, part) = (text(0)?, text(1)?);
            XPathValue::Text(whole.split_once(&part).map_or(String::new(), |(_, after)| after.to_owned()))
        }
        XPathFunction::Substring => {
            let most = if arguments.len() == 3 { Some(number(2)?) } else { None };
            XPathValue::Text(substring(&text(0)?, number(1)?, most))
        }
        XPathFunction::StringLength => XPathValue::Number(text(0)?.chars().count() as f64),
        XPathFunction::NormalizeSpace => {
            let text = text(0)?;
            let words: Vec<_> = text.split(BLANKS).filter(|word| !word.is_empty()).collect();
            XPathValue::Text(words.join(" "))
        }
        XPathFunction::Translate => XPathValue::Text(translate(&text(0)?, &text(1)?, &text(2)?)),
        XPathFunction::Boolean => XPathValue::Boolean(value(0)?.to_bool()),
        XPathFunction::Not => XPathValue::Boolean(!value(0)?.to_bool()),
        XPathFunction::True => XPathValue::Boolean(true),
        XPathFunction::False => XPathValue::Boolean(false),
        XPathFunction::Lang => XPathValue::Boolean(matches_language(at.node, &text(0)?)),
        XPathFunction::Number => XPathValue::Number(number(0)?),
        XPathFunction::Sum => match value(0)? {
            XPathValue::Nodes(nodes) => {
                let numbers =
                    nodes.into_iter().map(|node| XPathValue::Nodes(vec![node]).to_number(scope.fuel));
                XPathValue::Number(numbers.sum::<Result<f64, _>>()?)
            }
            _ => XPathValue::Number(f64::NAN),
        },
        XPathFunction::Floor => XPathValue::Number(number(0)?.floor()),
        XPathFunction::Ceiling => XPathValue::Number(number(0)?.ceil()),
        XPathFunction::Round => XPathValue::Number(round(number(0)?)),
    })
}

/// The nearest whole number, of two the greater one (4.4).
fn round(number: f64) -> f64 {
    if number.fract() == 0.0 { number } else { (number + 0.5).floor() }
}

/// The characters whose place, from 1, lies from `start` on, `most` of them (4.2).
fn substring(text: &str, start: f64, most: Option<f64>) -> String {
    let start = round(start);
    let end = most.map_or(f64::INFINITY, |most| start + round(most));
    let within = |place: usize| (place as f64) >= start && (place as f64) < end;
    text.chars().enumerate().filter(|(index, _)| within(index + 1)).map(|(_, c)| c).collect()
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let mut becomes = HashMap::new();
    let mut to = to.chars();
    for c in from.chars() {
        let other = to.next();
        becomes.entry(c).or_insert(other);
    }
    text.chars().filter_map(|c| becomes.get(&c).copied().unwrap_or(Some(c))).collect()
}

/// The elements with one of these `xml:id`: which other attributes are ids, only a DTD says, and none is read.
fn elements_by_id<'d>(
    scope: &Evaluator<'d, '_>,
    value: &XPathValue<'d>,
) -> Result<Vec<XPathNode<'d>>, String> {
    let mut wanted = Vec::new();
    let mut add = |text: &str| wanted.extend(text.split(BLANKS).map(str::to_owned));
    match value {
        XPathValue::Nodes(nodes) => {
            for node in nodes {
                add(&node.text_metered(scope.fuel)?);
            }
        }
        other => add(&other.to_text(scope.fuel)?),
    }
    let wanted: std::collections::HashSet<String> = wanted.into_iter().collect();
    let mut found = Vec::new();
    for node in scope.document.descendants() {
        consume_fuel(scope.fuel, 1)?;
        if node.attribute((NS_XML_URI, "id")).is_some_and(|id| wanted.contains(id)) {
            found.push(XPathNode::Tree(node));
        }
    }
    Ok(sort_and_dedup(found))
}

/// Whether the nearest `xml:lang` is `language` or a part of it.
fn matches_language(node: XPathNode<'_>, language: &str) -> bool {
    let spoken = node.owner_node().ancestors().find_map(|above| above.attribute((NS_XML_URI, "lang")));
    spoken.is_some_and(|spoken| {
        let head = spoken.get(..language.len()).unwrap_or_default();
        let rest = spoken.get(language.len()..).unwrap_or_default();
        head.eq_ignore_ascii_case(language) && (rest.is_empty() || rest.starts_with('-'))
    })
}
