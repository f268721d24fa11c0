//! The errors of actions.

use super::script_browser::ScriptBrowser;
use super::time_budget::{LimitKind, TimeBudget};
use crate::browser::WebDriverError;
use crate::domain::{Failure, FailureKind, Phase};

/// Why an action did not pass.
#[derive(Debug)]
pub(super) enum ActionError {
    /// It failed.
    Failed(Failure),
    /// A dialog is open, with this text.
    DialogOpen(String),
}

impl From<Failure> for ActionError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Converts `error` of an action that was limited by `limit_kind`.
pub(super) fn action_error(
    browser: &ScriptBrowser<'_>,
    budget: &TimeBudget,
    error: WebDriverError,
    limit_kind: LimitKind,
) -> ActionError {
    let failure = |kind, detail: String| Failure::new(Phase::RunScript, kind, detail);
    ActionError::Failed(match error {
        WebDriverError::DialogOpen(text) => return ActionError::DialogOpen(text),
        WebDriverError::TimedOut | WebDriverError::ScriptTimedOut => budget.timeout_failure(limit_kind, "it"),
        WebDriverError::PageTimedOut => {
            budget.timeout_failure(budget.page_load_limit_kind(), "the page load")
        }
        WebDriverError::ErrorPage(error_name) => browser.error_page_failure(&error_name),
        WebDriverError::NoDialog => {
            failure(FailureKind::ExpectedEventMissing, "no dialog is open".to_owned())
        }
        WebDriverError::NotFound(reason) => failure(FailureKind::ElementMissing, reason),
        WebDriverError::StaleElement | WebDriverError::PageUnloaded => {
            failure(FailureKind::ElementMissing, "the page changed meanwhile".to_owned())
        }
        WebDriverError::NotInteractable(reason) => failure(FailureKind::StepTimedOut, reason),
        WebDriverError::InvalidSelector(reason) => failure(FailureKind::ScriptInvalid, reason),
        WebDriverError::JavaScript(reason) => failure(FailureKind::ScriptFailed, reason),
        WebDriverError::SessionLost(reason) | WebDriverError::Other(reason) => {
            failure(FailureKind::BrowserFailed, reason)
        }
    })
}
