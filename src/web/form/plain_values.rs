//! Values that stand on one line of a form, and nodes without a position.

use crate::schema::field::FieldType;
use crate::syntax::node::{Key, Node, NodeValue, Position};

/// Returns the value that `text` stands for; a text that is no number stays one, for the rule about it.
pub(super) fn scalar_from_text(field_type: &FieldType, text: &str) -> NodeValue {
    let as_text = || NodeValue::Text(text.to_owned());
    match field_type {
        FieldType::Int { .. } | FieldType::IntEnum(_) => {
            text.trim().parse().map_or_else(|_| as_text(), NodeValue::Int)
        }
        FieldType::Float { .. } => text.trim().parse().map_or_else(|_| as_text(), NodeValue::Float),
        FieldType::Bool => NodeValue::Bool(text == "true"),
        _ => as_text(),
    }
}

/// Returns a key without a position.
pub(super) fn key(name: &str) -> Key {
    Key { name: name.to_owned(), position: Position::default() }
}

/// Returns a node without a position.
pub(super) fn node(value: NodeValue) -> Node {
    Node { value, position: Position::default() }
}
