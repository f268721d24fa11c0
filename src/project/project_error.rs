//! Why a project cannot be read, and what of it cannot be run.

use crate::script::ScriptError;

/// An error of a file that is not a project.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ProjectError {
    /// Line in the file, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong, without a full stop.
    pub message: String,
}

impl From<ScriptError> for ProjectError {
    fn from(error: ScriptError) -> Self {
        Self { line: error.position.line, column: error.position.column, message: error.message }
    }
}

/// An enabled item of a project that Vigie cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct UnsupportedItem {
    /// Line in the file, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Its place (suite, case, step) and why it cannot be run.
    pub what: String,
}
