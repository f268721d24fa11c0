//! The page that an action works on.

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

/// What an action needs to work on the current page: the browser, the remaining time and the variables.
#[derive(Clone, Copy)]
pub(super) struct PageAccess<'p> {
    pub(super) window: &'p WindowContext<'p>,
    pub(super) budget: &'p TimeBudget,
    pub(super) variables: &'p Variables,
}

impl<'p> PageAccess<'p> {
    /// Returns the session to query the page with.
    pub(super) const fn session(&self) -> &'p BrowserSession {
        &self.window.session
    }

    /// Converts `error` of an action that was limited by `limit_kind`.
    pub(super) fn act_error(&self, error: WebDriverError, bound: LimitKind) -> ActError {
        to_act_error(self.window, self.budget, error, bound)
    }

    /// Converts the error of a query that was limited by `time`.
    pub(super) fn dom_failure(&self, error: DomError, time: WaitLimit) -> ActError {
        match error {
            DomError::Driver(error) => self.act_error(error, time.latest_kind),
            DomError::InvalidLocator(error) => {
                Failure::new(Phase::Play, FailureKind::ScriptInvalid, format!("the browser refuses {error}"))
                    .into()
            }
        }
    }

    /// Fills in the placeholders of `text`.
    pub(super) fn fill(&self, text: &str, escape: EscapeContext) -> Result<String, Failure> {
        Template::new(text, escape).render(self.variables)
    }

    /// Returns the locators of `target`, filled in.
    pub(super) fn locator_args(&self, target: &ElementTarget) -> Result<LocatorArgs, Failure> {
        let one = |locator| {
            let (by, text) = describe::locator_parts(locator);
            Ok(json!({ "by": by, "value": self.fill(text, EscapeContext::Value)? }))
        };
        target.locators.iter().map(one).collect()
    }
}
