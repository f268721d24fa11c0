//! The overview of a script for the APIs.

use super::script_error::ScriptError;
use super::script_parser;

/// Default of the maximum number of steps (fields.md 3, `transaction_steps_allowed`).
pub const DEFAULT_MAX_STEPS: i64 = 50;

/// The overview of a script for the APIs (fields.md 3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptOverview {
    /// `transaction_steps`: the number of its `step` elements.
    pub step_count: usize,
    /// `transaction_events`: the number of their actions.
    pub action_count: usize,
    /// Names of its protected variables, in order.
    pub protected_variables: Vec<String>,
}

impl ScriptOverview {
    /// Creates the overview of the script `text`.
    ///
    /// # Errors
    /// Returns position and reason if the script cannot be parsed; its checks then end with status 96.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let outline = script_parser::parse_outline(text)?;
        let protected = outline.variables.into_iter().filter(|variable| variable.protected);
        Ok(Self {
            step_count: outline.step_count,
            action_count: outline.action_count,
            protected_variables: protected.map(|variable| variable.name).collect(),
        })
    }

    /// `is_transaction`: whether it has several steps.
    #[must_use]
    pub fn is_transaction(&self) -> bool {
        self.step_count > 1
    }
}
