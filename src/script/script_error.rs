//! What is wrong with a script.

use crate::syntax::node::Position;

/// Something that is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", position.line, position.column)]
pub struct ScriptError {
    /// Where in its text.
    pub position: Position,
    /// What is wrong there, without a full stop.
    pub message: String,
    /// What to do about it.
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
