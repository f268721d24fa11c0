//! The values of XPath and what they become (XPath 1.0, 3.4, 4.2 to 4.4).

use std::cell::Cell;
use std::collections::HashSet;

use super::nodes::XNode;
use crate::syntax::xpath::ComparisonOperator;

/// What an expression comes to.
#[derive(Debug)]
pub(super) enum Value<'d> {
    /// Nodes in the order of the document, each once.
    Nodes(Vec<XNode<'d>>),
    Number(f64),
    Text(String),
    Truth(bool),
}

impl Value<'_> {
    pub(super) fn text(&self, fuel: &Cell<u64>) -> Result<String, String> {
        Ok(match self {
            Self::Nodes(nodes) => match nodes.first() {
                Some(first) => first.text_paid(fuel)?.into_owned(),
                None => String::new(),
            },
            Self::Number(number) => number_text(*number),
            Self::Text(text) => text.clone(),
            Self::Truth(truth) => truth.to_string(),
        })
    }

    pub(super) fn number(&self, fuel: &Cell<u64>) -> Result<f64, String> {
        Ok(match self {
            Self::Nodes(_) => number_of(&self.text(fuel)?),
            Self::Number(number) => *number,
            Self::Text(text) => number_of(text),
            Self::Truth(truth) => f64::from(*truth),
        })
    }

    pub(super) fn truth(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Truth(truth) => *truth,
        }
    }
}

/// A number as text (4.2): never with an exponent.
pub(super) fn number_text(number: f64) -> String {
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

/// A text as number (4.4): digits, at most one point, at most one `-` before them.
pub(super) fn number_of(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Whether `left` and `right` compare so (3.4). Of nodes any has to fit, also for `!=`.
pub(super) fn compare(
    how: ComparisonOperator,
    left: &Value<'_>,
    right: &Value<'_>,
    fuel: &Cell<u64>,
) -> Result<bool, String> {
    use Value::{Nodes, Truth};
    let equality = matches!(how, ComparisonOperator::Equal | ComparisonOperator::NotEqual);
    match (left, right) {
        (Truth(_), _) | (_, Truth(_)) => Ok(numbers(how, f64::from(left.truth()), f64::from(right.truth()))),
        (Nodes(left), Nodes(right)) if equality => {
            let (left, right) = (texts(left, fuel)?, texts(right, fuel)?);
            Ok(match how {
                ComparisonOperator::Equal => !left.is_disjoint(&right),
                // Two different ones exist, unless both sides say one and the same.
                _ => !left.is_empty() && !right.is_empty() && (left.len() > 1 || left != right),
            })
        }
        (Nodes(left), Nodes(right)) => {
            let (left, right) = (all_numbers(left, fuel)?, all_numbers(right, fuel)?);
            let least = |all: &[f64]| all.iter().copied().reduce(f64::min);
            let most = |all: &[f64]| all.iter().copied().reduce(f64::max);
            let ends = match how {
                ComparisonOperator::Less | ComparisonOperator::LessOrEqual => least(&left).zip(most(&right)),
                _ => most(&left).zip(least(&right)),
            };
            Ok(ends.is_some_and(|(left, right)| numbers(how, left, right)))
        }
        (Nodes(nodes), other) => any(nodes, other, how, fuel),
        (other, Nodes(nodes)) => any(nodes, other, turned(how), fuel),
        (Value::Text(left), Value::Text(right)) if equality => {
            Ok((left == right) == (how == ComparisonOperator::Equal))
        }
        _ => Ok(numbers(how, left.number(fuel)?, right.number(fuel)?)),
    }
}

fn any(
    nodes: &[XNode<'_>],
    other: &Value<'_>,
    how: ComparisonOperator,
    fuel: &Cell<u64>,
) -> Result<bool, String> {
    let as_text = matches!(how, ComparisonOperator::Equal | ComparisonOperator::NotEqual).then_some(other);
    for node in nodes {
        let text = node.text_paid(fuel)?;
        let fits = match as_text {
            Some(Value::Text(wanted)) => (text == *wanted) == (how == ComparisonOperator::Equal),
            _ => numbers(how, number_of(&text), other.number(fuel)?),
        };
        if fits {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The same comparison with its sides exchanged.
const fn turned(how: ComparisonOperator) -> ComparisonOperator {
    match how {
        ComparisonOperator::Less => ComparisonOperator::Greater,
        ComparisonOperator::LessOrEqual => ComparisonOperator::GreaterOrEqual,
        ComparisonOperator::Greater => ComparisonOperator::Less,
        ComparisonOperator::GreaterOrEqual => ComparisonOperator::LessOrEqual,
        same => same,
    }
}

#[expect(clippy::float_cmp, reason = "XPath compares numbers by IEEE 754 (3.5)")]
fn numbers(how: ComparisonOperator, left: f64, right: f64) -> bool {
    match how {
        ComparisonOperator::Equal => left == right,
        ComparisonOperator::NotEqual => left != right,
        ComparisonOperator::Less => left < right,
        ComparisonOperator::LessOrEqual => left <= right,
        ComparisonOperator::Greater => left > right,
        ComparisonOperator::GreaterOrEqual => left >= right,
    }
}

fn texts(nodes: &[XNode<'_>], fuel: &Cell<u64>) -> Result<HashSet<String>, String> {
    nodes.iter().map(|node| node.text_paid(fuel).map(std::borrow::Cow::into_owned)).collect()
}

/// Those that are numbers.
fn all_numbers(nodes: &[XNode<'_>], fuel: &Cell<u64>) -> Result<Vec<f64>, String> {
    let numbers = nodes.iter().map(|node| node.text_paid(fuel).map(|text| number_of(&text)));
    numbers.filter(|number| number.as_ref().map_or(true, |number| !number.is_nan())).collect()
}
