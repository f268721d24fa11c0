//! What an act may use of the page that the script is at.

use serde_json::json;

use super::act_error::{ActError, to_act_error};
use super::describe;
use super::dom::{DomError, LocatorArgs};
use super::time_budget::{LimitKind, TimeBudget, WaitLimit};
use super::window_context::WindowContext;
use crate::browser::{BrowserSession, WebDriverError};
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{EscapeContext, Template, Variables};
use crate::script::language::ElementTarget;

/// The page that a script is at, the time that is left for it, and the values of variables.
#[derive(Clone, Copy)]
pub(super) struct PageAccess<'p> {
    pub(super) window: &'p WindowContext<'p>,
    pub(super) budget: &'p TimeBudget,
    pub(super) variables: &'p Variables,
}

impl<'p> PageAccess<'p> {
    /// The session that the page is asked by.
    pub(super) const fn session(&self) -> &'p BrowserSession {
        &self.window.session
    }

    /// What `trouble` means for an act that had to end at `bound`.
    pub(super) fn act_error(&self, error: WebDriverError, bound: LimitKind) -> ActError {
        to_act_error(self.window, self.budget, error, bound)
    }

    /// What a question means that the page did not answer in `time`.
    pub(super) fn dom_failure(&self, why: DomError, time: WaitLimit) -> ActError {
        match why {
            DomError::Driver(error) => self.act_error(error, time.ending),
            DomError::InvalidLocator(why) => {
                Failure::new(Phase::Play, FailureKind::ScriptInvalid, format!("the browser refuses {why}"))
                    .into()
            }
        }
    }

    /// `text` with the values of its placeholders.
    pub(super) fn fill(&self, text: &str, escape: EscapeContext) -> Result<String, Failure> {
        Template::new(text, escape).render(self.variables)
    }

    /// The locators of `target`, filled in.
    pub(super) fn locator_args(&self, target: &ElementTarget) -> Result<LocatorArgs, Failure> {
        let one = |locator| {
            let (by, text) = describe::locator_parts(locator);
            Ok(json!({ "by": by, "value": self.fill(text, EscapeContext::Value)? }))
        };
        target.locators.iter().map(one).collect()
    }
}
