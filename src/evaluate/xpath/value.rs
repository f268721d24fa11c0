//! The values of XPath and their conversions (XPath 1.0, 3.4, 4.2 to 4.4).

use std::cell::Cell;
use std::collections::HashSet;

use super::nodes::XPathNode;
use crate::syntax::xpath::ComparisonOperator;

/// The value of an expression.
#[derive(Debug)]
pub(super) enum XPathValue<'d> {
    /// Nodes in the order of the document, each once.
    Nodes(Vec<XPathNode<'d>>),
    Number(f64),
    Text(String),
    Boolean(bool),
}

impl XPathValue<'_> {
    pub(super) fn to_text(&self, node_budget: &Cell<u64>) -> Result<String, String> {
        Ok(match self {
            Self::Nodes(nodes) => match nodes.first() {
                Some(first) => first.text_within_budget(node_budget)?.into_owned(),
                None => String::new(),
            },
            Self::Number(number) => format_number(*number),
            Self::Text(text) => text.clone(),
            Self::Boolean(truth) => truth.to_string(),
        })
    }

    pub(super) fn to_number(&self, node_budget: &Cell<u64>) -> Result<f64, String> {
        Ok(match self {
            Self::Nodes(_) => parse_number(&self.to_text(node_budget)?),
            Self::Number(number) => *number,
            Self::Text(text) => parse_number(text),
            Self::Boolean(truth) => f64::from(*truth),
        })
    }

    pub(super) fn to_bool(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Boolean(truth) => *truth,
        }
    }
}

/// Formats a number (4.2): never with an exponent.
pub(super) fn format_number(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else if number == 0.0 {
        "0".to_owned()
    } else {
        number.to_string()
    }
}

/// Parses a number (4.4): digits with at most one point, and at most one `-` before them.
pub(super) fn parse_number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Whether `left` and `right` compare as `operator` says (3.4). Of several nodes any one suffices, also for `!=`.
pub(super) fn compare(
    operator: ComparisonOperator,
    left: &XPathValue<'_>,
    right: &XPathValue<'_>,
    node_budget: &Cell<u64>,
) -> Result<bool, String> {
    use XPathValue::{Boolean, Nodes};
    let is_equality = matches!(operator, ComparisonOperator::Equal | ComparisonOperator::NotEqual);
    match (left, right) {
        (Boolean(_), _) | (_, Boolean(_)) => {
            Ok(compare_numbers(operator, f64::from(left.to_bool()), f64::from(right.to_bool())))
        }
        (Nodes(left), Nodes(right)) if is_equality => {
            let (left, right) = (node_texts(left, node_budget)?, node_texts(right, node_budget)?);
            Ok(match operator {
                ComparisonOperator::Equal => !left.is_disjoint(&right),
                // Two different texts exist, unless both sides consist of one and the same text.
                _ => !left.is_empty() && !right.is_empty() && (left.len() > 1 || left != right),
            })
        }
        (Nodes(left), Nodes(right)) => {
            let (left, right) = (node_numbers(left, node_budget)?, node_numbers(right, node_budget)?);
            let min = |all: &[f64]| all.iter().copied().reduce(f64::min);
            let max = |all: &[f64]| all.iter().copied().reduce(f64::max);
            let extremes = match operator {
                ComparisonOperator::Less | ComparisonOperator::LessOrEqual => min(&left).zip(max(&right)),
                _ => max(&left).zip(min(&right)),
            };
            Ok(extremes.is_some_and(|(left, right)| compare_numbers(operator, left, right)))
        }
        (Nodes(nodes), other) => any_node_matches(nodes, other, operator, node_budget),
        (other, Nodes(nodes)) => any_node_matches(nodes, other, swap_sides(operator), node_budget),
        (XPathValue::Text(left), XPathValue::Text(right)) if is_equality => {
            Ok((left == right) == (operator == ComparisonOperator::Equal))
        }
        _ => Ok(compare_numbers(operator, left.to_number(node_budget)?, right.to_number(node_budget)?)),
    }
}

fn any_node_matches(
    nodes: &[XPathNode<'_>],
    other: &XPathValue<'_>,
    operator: ComparisonOperator,
    node_budget: &Cell<u64>,
) -> Result<bool, String> {
    let equality_operand =
        matches!(operator, ComparisonOperator::Equal | ComparisonOperator::NotEqual).then_some(other);
    for node in nodes {
        let text = node.text_within_budget(node_budget)?;
        let fits = match equality_operand {
            Some(XPathValue::Text(expected)) => {
                (text == *expected) == (operator == ComparisonOperator::Equal)
            }
            _ => compare_numbers(operator, parse_number(&text), other.to_number(node_budget)?),
        };
        if fits {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the comparison with its sides exchanged.
const fn swap_sides(operator: ComparisonOperator) -> ComparisonOperator {
    match operator {
        ComparisonOperator::Less => ComparisonOperator::Greater,
        ComparisonOperator::LessOrEqual => ComparisonOperator::GreaterOrEqual,
        ComparisonOperator::Greater => ComparisonOperator::Less,
        ComparisonOperator::GreaterOrEqual => ComparisonOperator::LessOrEqual,
        same => same,
    }
}

#[expect(clippy::float_cmp, reason = "XPath compares numbers by IEEE 754 (3.5)")]
fn compare_numbers(operator: ComparisonOperator, left: f64, right: f64) -> bool {
    match operator {
        ComparisonOperator::Equal => left == right,
        ComparisonOperator::NotEqual => left != right,
        ComparisonOperator::Less => left < right,
        ComparisonOperator::LessOrEqual => left <= right,
        ComparisonOperator::Greater => left > right,
        ComparisonOperator::GreaterOrEqual => left >= right,
    }
}

fn node_texts(nodes: &[XPathNode<'_>], node_budget: &Cell<u64>) -> Result<HashSet<String>, String> {
    nodes.iter().map(|node| node.text_within_budget(node_budget).map(std::borrow::Cow::into_owned)).collect()
}

/// Returns the values of `nodes` as numbers, without those that are none.
fn node_numbers(nodes: &[XPathNode<'_>], node_budget: &Cell<u64>) -> Result<Vec<f64>, String> {
    let numbers =
        nodes.iter().map(|node| node.text_within_budget(node_budget).map(|text| parse_number(&text)));
    numbers.filter(|number| number.as_ref().map_or(true, |number| !number.is_nan())).collect()
}
