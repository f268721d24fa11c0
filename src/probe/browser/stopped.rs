//! How an act ended that did not pass.

use super::budget::{LimitKind, TimeBudget};
use super::window::WindowContext;
use crate::browser::Trouble;
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
    trouble: Trouble,
    bound: LimitKind,
) -> ActError {
    let of = |kind, detail: String| Failure::new(Phase::Play, kind, detail);
    ActError::Failed(match trouble {
        Trouble::Dialog(text) => return ActError::DialogOpen(text),
        Trouble::Late | Trouble::ScriptLate => budget.timeout_failure(bound, "it"),
        Trouble::PageLate => budget.timeout_failure(budget.page_limit_kind(), "the page load"),
        Trouble::ErrorPage(word) => window.error_page_failure(&word),
        Trouble::NoDialog => of(FailureKind::BrowserEventMissing, "no dialog is open".to_owned()),
        Trouble::NotThere(why) => of(FailureKind::ElementMissing, why),
        Trouble::Stale | Trouble::Unloaded => {
            of(FailureKind::ElementMissing, "the page changed under it".to_owned())
        }
        Trouble::NotUsable(why) => of(FailureKind::BrowserEventTimedOut, why),
        Trouble::Selector(why) => of(FailureKind::ScriptInvalid, why),
        Trouble::Script(why) => of(FailureKind::ScriptFailed, why),
        Trouble::Gone(why) | Trouble::Refused(why) => of(FailureKind::BrowserFailed, why),
    })
}
