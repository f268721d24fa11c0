//! How an act ended that did not pass.

use super::time_budget::{LimitKind, TimeBudget};
use super::window_context::WindowContext;
use crate::browser::WebDriverError;
use crate::domain::{Failure, FailureKind, Phase};

/// How an act ended that did not pass.
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

/// What `trouble` means for an act that had to end at `bound`.
pub(super) fn to_act_error(
    window: &WindowContext<'_>,
    budget: &TimeBudget,
    error: WebDriverError,
    bound: LimitKind,
) -> ActError {
    let of = |kind, detail: String| Failure::new(Phase::Play, kind, detail);
    ActError::Failed(match error {
        WebDriverError::DialogOpen(text) => return ActError::DialogOpen(text),
        WebDriverError::TimedOut | WebDriverError::ScriptTimedOut => budget.timeout_failure(bound, "it"),
        WebDriverError::PageTimedOut => budget.timeout_failure(budget.page_limit_kind(), "the page load"),
        WebDriverError::ErrorPage(word) => window.error_page_failure(&word),
        WebDriverError::NoDialog => of(FailureKind::BrowserEventMissing, "no dialog is open".to_owned()),
        WebDriverError::NotFound(reason) => of(FailureKind::ElementMissing, reason),
        WebDriverError::StaleElement | WebDriverError::Unloaded => {
            of(FailureKind::ElementMissing, "the page changed under it".to_owned())
        }
        WebDriverError::NotInteractable(reason) => of(FailureKind::BrowserEventTimedOut, reason),
        WebDriverError::InvalidSelector(reason) => of(FailureKind::ScriptInvalid, reason),
        WebDriverError::JavaScript(reason) => of(FailureKind::ScriptFailed, reason),
        WebDriverError::SessionLost(reason) | WebDriverError::Refused(reason) => {
            of(FailureKind::BrowserFailed, reason)
        }
    })
}
