//! The core library of functions (XPath 1.0, 4).

use std::collections::HashMap;

use roxmltree::NS_XML_URI;

use super::fuel::spend;
use super::nodes::XNode;
use super::scope::{At, Scope, in_order};
use super::value::Value;
use crate::syntax::xpath::{Expr, XPathFunction};

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// What `function` gives for `arguments`, whose number was checked when they were parsed.
pub(super) fn call<'d>(
    scope: &Scope<'d, '_>,
    function: XPathFunction,
    arguments: &[Expr],
    at: At<'d>,
) -> Result<Value<'d>, String> {
    let value = |index: usize| match arguments.get(index) {
        Some(argument) => scope.value(argument, at),
        None => Ok(Value::Nodes(vec![at.node])),
    };
    let text = |index: usize| {
        let text = value(index)?.text(scope.fuel)?;
        spend(scope.fuel, text.len() as u64 / 64)?;
        Ok::<_, String>(text)
    };
    let number = |index: usize| value(index)?.number(scope.fuel);
    // The node that a name is asked of: the first.
    let named = || match value(0)? {
        Value::Nodes(nodes) => Ok::<_, String>(nodes.first().copied()),
        _ => Ok(None),
    };
    let name = |of: fn(XNode<'d>) -> String| Ok::<_, String>(named()?.map(of).unwrap_or_default());
    Ok(match function {
        XPathFunction::Last => Value::Number(at.size as f64),
        XPathFunction::Position => Value::Number(at.position as f64),
        XPathFunction::Count => match value(0)? {
            Value::Nodes(nodes) => Value::Number(nodes.len() as f64),
            _ => Value::Number(f64::NAN),
        },
        XPathFunction::Id => Value::Nodes(identified(scope, &value(0)?)?),
        XPathFunction::LocalName => Value::Text(name(|node| node.name().1.to_owned())?),
        XPathFunction::NamespaceUri => {
            Value::Text(name(|node| node.name().0.unwrap_or_default().to_owned())?)
        }
        XPathFunction::Name => Value::Text(name(|node| node.qualified())?),
        XPathFunction::String => Value::Text(text(0)?),
        XPathFunction::Concat => Value::Text((0..arguments.len()).map(text).collect::<Result<_, _>>()?),
        XPathFunction::StartsWith => Value::Truth(text(0)?.starts_with(&text(1)?)),
        XPathFunction::Contains => Value::Truth(text(0)?.contains(&text(1)?)),
        XPathFunction::SubstringBefore => {
            let (whole, part) = (text(0)?, text(1)?);
            Value::Text(whole.split_once(&part).map_or(String::new(), |(before, _)| before.to_owned()))
        }
        XPathFunction::SubstringAfter => {
            let (whole, part) = (text(0)?, text(1)?);
            Value::Text(whole.split_once(&part).map_or(String::new(), |(_, after)| after.to_owned()))
        }
        XPathFunction::Substring => {
            let most = if arguments.len() == 3 { Some(number(2)?) } else { None };
            Value::Text(substring(&text(0)?, number(1)?, most))
        }
        XPathFunction::StringLength => Value::Number(text(0)?.chars().count() as f64),
        XPathFunction::NormalizeSpace => {
            let text = text(0)?;
            let words: Vec<_> = text.split(BLANKS).filter(|word| !word.is_empty()).collect();
            Value::Text(words.join(" "))
        }
        XPathFunction::Translate => Value::Text(translated(&text(0)?, &text(1)?, &text(2)?)),
        XPathFunction::Boolean => Value::Truth(value(0)?.truth()),
        XPathFunction::Not => Value::Truth(!value(0)?.truth()),
        XPathFunction::True => Value::Truth(true),
        XPathFunction::False => Value::Truth(false),
        XPathFunction::Lang => Value::Truth(speaks(at.node, &text(0)?)),
        XPathFunction::Number => Value::Number(number(0)?),
        XPathFunction::Sum => match value(0)? {
            Value::Nodes(nodes) => {
                let numbers = nodes.into_iter().map(|node| Value::Nodes(vec![node]).number(scope.fuel));
                Value::Number(numbers.sum::<Result<f64, _>>()?)
            }
            _ => Value::Number(f64::NAN),
        },
        XPathFunction::Floor => Value::Number(number(0)?.floor()),
        XPathFunction::Ceiling => Value::Number(number(0)?.ceil()),
        XPathFunction::Round => Value::Number(rounded(number(0)?)),
    })
}

/// The nearest whole number, of two the greater one (4.4).
fn rounded(number: f64) -> f64 {
    if number.fract() == 0.0 { number } else { (number + 0.5).floor() }
}

/// The characters whose place, from 1, lies from `start` on, `most` of them (4.2).
fn substring(text: &str, start: f64, most: Option<f64>) -> String {
    let start = rounded(start);
    let end = most.map_or(f64::INFINITY, |most| start + rounded(most));
    let within = |place: usize| (place as f64) >= start && (place as f64) < end;
    text.chars().enumerate().filter(|(index, _)| within(index + 1)).map(|(_, c)| c).collect()
}

fn translated(text: &str, from: &str, to: &str) -> String {
    let mut becomes = HashMap::new();
    let mut to = to.chars();
    for c in from.chars() {
        let other = to.next();
        becomes.entry(c).or_insert(other);
    }
    text.chars().filter_map(|c| becomes.get(&c).copied().unwrap_or(Some(c))).collect()
}

/// The elements with one of these `xml:id`: which other attributes are ids, only a DTD says, and none is read.
fn identified<'d>(scope: &Scope<'d, '_>, value: &Value<'d>) -> Result<Vec<XNode<'d>>, String> {
    let mut wanted = Vec::new();
    let mut add = |text: &str| wanted.extend(text.split(BLANKS).map(str::to_owned));
    match value {
        Value::Nodes(nodes) => {
            for node in nodes {
                add(&node.text_paid(scope.fuel)?);
            }
        }
        other => add(&other.text(scope.fuel)?),
    }
    let wanted: std::collections::HashSet<String> = wanted.into_iter().collect();
    let mut found = Vec::new();
    for node in scope.document.descendants() {
        spend(scope.fuel, 1)?;
        if node.attribute((NS_XML_URI, "id")).is_some_and(|id| wanted.contains(id)) {
            found.push(XNode::Tree(node));
        }
    }
    Ok(in_order(found))
}

/// Whether the nearest `xml:lang` is `language` or a part of it.
fn speaks(node: XNode<'_>, language: &str) -> bool {
    let spoken = node.tree().ancestors().find_map(|above| above.attribute((NS_XML_URI, "lang")));
    spoken.is_some_and(|spoken| {
        let head = spoken.get(..language.len()).unwrap_or_default();
        let rest = spoken.get(language.len()..).unwrap_or_default();
        head.eq_ignore_ascii_case(language) && (rest.is_empty() || rest.starts_with('-'))
    })
}
