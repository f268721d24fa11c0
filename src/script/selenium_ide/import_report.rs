//! The result of importing a test: the script, and what was lost.

use std::fmt;

use crate::script::language::Script;

/// The result of importing a test.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportReport {
    /// The script; `None` when no command could be converted.
    pub script: Option<Script>,
    /// Commands that are missing in the script, or differ.
    pub issues: Vec<ImportIssue>,
    /// Further notes for the author, one sentence each.
    pub notes: Vec<String>,
}

/// A command that could not be converted unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportIssue {
    /// The name of its test.
    pub test_name: String,
    /// Its position in the test, from 1.
    pub command_number: usize,
    /// The name of the command.
    pub command_name: String,
    /// The reason, and what the script contains instead.
    pub reason: String,
}

impl fmt::Display for ImportIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let truncate = crate::syntax::truncate_value;
        write!(f, "test `{}`, command {}", truncate(&self.test_name), self.command_number)?;
        write!(f, " `{}`: {}", truncate(&self.command_name), self.reason)
    }
}
