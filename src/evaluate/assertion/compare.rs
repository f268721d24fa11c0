//! Comparison of a node with the expected value.

use std::cmp::Ordering;
use std::time::Duration;

use serde_json::Value;

use super::response::ResponseNode;

/// Whether `node` equals `expected`: as numbers when both are, as JSON when `expected` is JSON, else as text.
pub(super) fn equals(node: &ResponseNode<'_>, expected: &str) -> bool {
    let text = node.text();
    if text == expected {
        return true;
    }
    let json = || serde_json::from_str::<Value>(expected).ok();
    if let ResponseNode::Json(actual) = node {
        return json().is_some_and(|expected| json_eq(actual, &expected));
    }
    if let Some(ordering) = compare_numbers(&text, expected) {
        return ordering == Ordering::Equal;
    }
    // Only arrays, objects and texts can be equal as JSON and differ as text; numbers are compared above.
    match json() {
        Some(expected @ (Value::Array(_) | Value::Object(_) | Value::String(_))) => {
            serde_json::from_str(&text).is_ok_and(|actual| json_eq(&actual, &expected))
        }
        _ => false,
    }
}

/// Whether `node` is a number whose order to `bound` is one that `is_wanted` accepts.
pub(super) fn has_wanted_order(
    node: &ResponseNode<'_>,
    bound: &str,
    is_wanted: fn(Ordering) -> bool,
) -> bool {
    compare_numbers(&node.text(), bound).is_some_and(is_wanted)
}

/// Compares JSON values; `1`, `1.0` and `1e0` are equal. Both sides are at most 128 levels deep.
fn json_eq(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            compare_numbers(&left.to_string(), &right.to_string()).is_some_and(Ordering::is_eq)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| json_eq(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| json_eq(left, right)))
        }
        _ => left == right,
    }
}

/// Compares two decimal numbers; integers are compared exactly.
fn compare_numbers(left: &str, right: &str) -> Option<Ordering> {
    let (left, right) = (left.trim(), right.trim());
    if let (Ok(left), Ok(right)) = (left.parse::<i128>(), right.parse::<i128>()) {
        return Some(left.cmp(&right));
    }
    parse_number(left)?.partial_cmp(&parse_number(right)?)
}

/// Parses a finite decimal number; rejects `inf` and `nan`.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|number: &f64| is_decimal && number.is_finite())
}

/// Parses seconds with up to 3 decimals.
pub(super) fn parse_seconds(text: &str) -> Option<Duration> {
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !is_decimal || decimals > 3 {
        return None;
    }
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}
