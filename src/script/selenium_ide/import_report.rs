//! A test of a project as a script, and what was lost.

use std::fmt;

use crate::script::language::Script;

/// A test of a project as a script.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportReport {
    /// The script; `None` when nothing of the test can be played.
    pub script: Option<Script>,
    /// What is not in the script, or differs from it.
    pub issues: Vec<ImportIssue>,
    /// What else its author should know, one sentence each.
    pub notes: Vec<String>,
}

/// A command that could not be carried over as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportIssue {
    /// Name of the test that it stands in.
    pub test: String,
    /// Its place in there, from 1.
    pub number: usize,
    /// What it is called.
    pub command: String,
    /// Why, and what the script has instead.
    pub reason: String,
}

impl fmt::Display for ImportIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = crate::syntax::truncate_value;
        write!(f, "test `{}`, command {}", shown(&self.test), self.number)?;
        write!(f, " `{}`: {}", shown(&self.command), self.reason)
    }
}
