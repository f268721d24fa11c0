//! Formatting of values in messages.

use crate::syntax::display_value;
use crate::syntax::node::{Node, NodeValue};

pub(super) fn quote_node(node: &Node) -> String {
    quote_value(&display_value(node), node)
}

pub(super) fn quote_value(displayed_value: &str, node: &Node) -> String {
    match &node.value {
        NodeValue::List(_) | NodeValue::Map(_) => displayed_value.to_owned(),
        NodeValue::Text(text) if !text.is_empty() && text.parse::<f64>().is_ok() => {
            format!("the text `{displayed_value}`")
        }
        NodeValue::Text(text) if text.is_empty() => "empty".to_owned(),
        _ => format!("`{displayed_value}`"),
    }
}

/// Whether `node` is an empty text.
pub(super) fn is_empty_text(node: &Node) -> bool {
    node.as_text().is_some_and(str::is_empty)
}
