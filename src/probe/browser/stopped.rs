//! How an act ended that did not pass.

use super::budget::{Bound, Budget};
use super::window::WindowContext;
use crate::browser::Trouble;
use crate::domain::{Failure, FailureKind, Phase};

/// How an act ended that did not pass.
#[derive(Debug)]
pub(super) enum Stopped {
    /// It failed.
    Failed(Failure),
    /// A dialog is open, with this text.
    Dialog(String),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// What `trouble` means for an act that had to end at `bound`.
pub(super) fn stopped(
    window: &WindowContext<'_>,
    budget: &Budget,
    trouble: Trouble,
    bound: Bound,
) -> Stopped {
    let of = |kind, detail: String| Failure::new(Phase::Play, kind, detail);
    Stopped::Failed(match trouble {
        Trouble::Dialog(text) => return Stopped::Dialog(text),
        Trouble::Late | Trouble::ScriptLate => budget.passed(bound, "it"),
        Trouble::PageLate => budget.passed(budget.page_bound(), "the page load"),
        Trouble::ErrorPage(word) => window.error_page(&word),
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
