//! The errors of actions.

use super::time_budget::{LimitKind, TimeBudget};
use super::window_context::WindowContext;
use crate::browser::WebDriverError;
use crate::domain::{Failure, FailureKind, Phase};

/// Why an action did not pass.
#[derive(Debug)]
pub(super) enum ActError {
    /// It failed.
    Failed(Failure),
    /// A dialog is open, with this text.
    DialogOpen(String),
}

impl From<Failure> for ActError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Converts `error` of an action that was limited by `limit_kind`.
pub(super) fn to_act_error(
    window: &WindowContext<'_>,
    budget: &TimeBudget,
    error: WebDriverError,
    bound: LimitKind,
) -> ActError {
    let failure = |kind, detail: String| Failure::new(Phase::Play, kind, detail);
    ActError::Failed(match error {
        WebDriverError::DialogOpen(text) => return ActError::DialogOpen(text),
        WebDriverError::TimedOut | WebDriverError::ScriptTimedOut => budget.timeout_failure(bound, "it"),
        WebDriverError::PageTimedOut => budget.timeout_failure(budget.page_limit_kind(), "the page load"),
        WebDriverError::ErrorPage(error_name) => window.error_page_failure(&error_name),
        WebDriverError::NoDialog => failure(FailureKind::BrowserEventMissing, "no dialog is open".to_owned()),
        WebDriverError::NotFound(reason) => failure(FailureKind::ElementMissing, reason),
        WebDriverError::StaleElement | WebDriverError::Unloaded => {
            failure(FailureKind::ElementMissing, "the page changed meanwhile".to_owned())
        }
        WebDriverError::NotInteractable(reason) => failure(FailureKind::BrowserEventTimedOut, reason),
        WebDriverError::InvalidSelector(reason) => failure(FailureKind::ScriptInvalid, reason),
        WebDriverError::JavaScript(reason) => failure(FailureKind::ScriptFailed, reason),
        WebDriverError::SessionLost(reason) | WebDriverError::Refused(reason) => {
            failure(FailureKind::BrowserFailed, reason)
        }
    })
}
