//! What a file asks for and this build cannot do.

use std::fmt;

use crate::syntax::node::Position;

/// Something in a file that this build cannot run, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedItem {
    /// Where it stands in the file.
    pub position: Position,
    /// The item that it belongs to, such as `Shop / Orders / Create`.
    pub place: String,
    /// What it is and why it cannot be run, without a full stop.
    pub reason: String,
}

impl fmt::Display for UnsupportedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, place, reason } = self;
        if position.is_known() {
            write!(f, "{}:{}: ", position.line, position.column)?;
        }
        if place.is_empty() { f.write_str(reason) } else { write!(f, "`{place}`: {reason}") }
    }
}
