//! Errors of a script.

use crate::syntax::node::Position;

/// An error of a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", position.line, position.column)]
pub struct ScriptError {
    /// The position in its text.
    pub position: Position,
    /// The message, without a full stop.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl ScriptError {
    pub(super) fn new(position: roxmltree::TextPos, message: impl Into<String>) -> Self {
        Self {
            position: Position { line: position.row, column: position.col },
            message: message.into(),
            hint: None,
        }
    }
}
