//! What the APIs show of a script.

use super::outline;
use super::script_error::ScriptError;

/// Steps that a script may have where its monitor says nothing (fields.md 3, `transaction_steps_allowed`).
pub const DEFAULT_MAX_STEPS: i64 = 50;

/// What the APIs show of a script (fields.md 3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptSummary {
    /// `transaction_steps`: its `step` elements.
    pub steps: usize,
    /// `transaction_events`: the acts in them.
    pub events: usize,
    /// Names of its protected variables, in their order.
    pub protected_variables: Vec<String>,
}

impl ScriptSummary {
    /// Of the script `text`.
    ///
    /// # Errors
    /// Where and why it cannot be read: a check of it ends with status 96.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script = outline::parse_outline(text)?;
        let protected = script.variables.into_iter().filter(|variable| variable.protected);
        Ok(Self {
            steps: script.steps,
            events: script.events,
            protected_variables: protected.map(|variable| variable.name).collect(),
        })
    }

    /// `is_transaction`: it has several steps.
    #[must_use]
    pub fn is_transaction(&self) -> bool {
        self.steps > 1
    }
}
