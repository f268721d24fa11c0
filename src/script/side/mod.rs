//! Projects of Selenium IDE (`.side`, versions 1 to 3) as scripts of the dialect, with a list of all that could not
//! be carried over.

mod carry;
mod commands;
mod locate;
mod project;
mod texts;

use std::fmt;

use super::dialect::Script;

pub use project::{Project, SideError};

/// A test of a project as a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The script; `None` when nothing of the test can be played.
    pub script: Option<Script>,
    /// What is not in the script, or differs from it.
    pub losses: Vec<Loss>,
    /// What else its author should know, one sentence each.
    pub notes: Vec<String>,
}

/// A command that could not be carried over as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Name of the test that it stands in.
    pub test: String,
    /// Its place in there, from 1.
    pub number: usize,
    /// What it is called.
    pub command: String,
    /// Why, and what the script has instead.
    pub reason: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = crate::syntax::shortened;
        write!(f, "test `{}`, command {}", shown(&self.test), self.number)?;
        write!(f, " `{}`: {}", shown(&self.command), self.reason)
    }
}

impl Project {
    /// The script of the test at `index` of [`Project::tests`].
    #[must_use]
    pub fn import(&self, index: usize) -> Imported {
        carry::carry(self, index)
    }
}
