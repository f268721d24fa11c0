//! Browser scripts as far as the APIs need them: facts, protected variables, masks (behaviour.md 8).
//!
//! The dialect is XML: a root `script`, in it `variable` (name, value, protected) and 1 to 50 `step` elements,
//! whose children are acts. [`dialect`] has them as types that can be played.
//!
//! The value of a protected variable is a secret: it is sealed at rest with the whole script, and every answer
//! shows `********` in its place, while all other bytes stay as they are. A script that says `protected`
//! somewhere and cannot be read is hidden as a whole, since nobody can tell where its secrets stand.
//! Values that the author repeats elsewhere, or puts into comments, are not found.

mod bounds;
pub mod dialect;
mod mask;
mod read;
pub mod side;

use crate::syntax::source::Place;

pub use mask::{hides, masked, same_protected, unmasked};
pub use read::well_formed;

/// Steps that a script may have where its monitor says nothing (fields.md 3, `transaction_steps_allowed`).
pub const STEPS_ALLOWED: i64 = 50;

/// What the APIs show of a script (fields.md 3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptFacts {
    /// `transaction_steps`: its `step` elements.
    pub steps: usize,
    /// `transaction_events`: the acts in them.
    pub events: usize,
    /// Names of its protected variables, in their order.
    pub protected: Vec<String>,
}

impl ScriptFacts {
    /// Of the script `text`.
    ///
    /// # Errors
    /// Where and why it cannot be read: a check of it ends with status 96.
    pub fn read(text: &str) -> Result<Self, ScriptFault> {
        let script = read::read(text)?;
        let protected = script.variables.into_iter().filter(|variable| variable.protected);
        Ok(Self {
            steps: script.steps,
            events: script.events,
            protected: protected.map(|variable| variable.name).collect(),
        })
    }

    /// `is_transaction`: it has several steps.
    #[must_use]
    pub fn is_transaction(&self) -> bool {
        self.steps > 1
    }
}

/// Something that is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", place.line, place.column)]
pub struct ScriptFault {
    /// Where in its text.
    pub place: Place,
    /// What is wrong there, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ScriptFault {
    fn new(position: roxmltree::TextPos, message: impl Into<String>) -> Self {
        Self {
            place: Place { line: position.row, column: position.col },
            message: message.into(),
            hint: None,
        }
    }
}
