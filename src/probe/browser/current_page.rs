//! The page that an action works on.

use serde_json::json;

use super::action_error::{ActionError, action_error};
use super::descriptions;
use super::dom::{DomError, LocatorArgs};
use super::script_browser::ScriptBrowser;
use super::time_budget::{LimitKind, TimeBudget, WaitLimit};
use crate::browser::{BrowserSession, WebDriverError};
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{EscapeContext, Template, Variables};
use crate::script::language::{ElementTarget, RegexPattern};
use crate::syntax::pattern::{CompiledPattern, HaystackKind};
use crate::syntax::truncate_value;

/// What an action needs to work on the current page: the browser, the remaining time and the variables.
#[derive(Clone, Copy)]
pub(super) struct CurrentPage<'p> {
    pub(super) browser: &'p ScriptBrowser<'p>,
    pub(super) budget: &'p TimeBudget,
    pub(super) variables: &'p Variables,
}

impl<'p> CurrentPage<'p> {
    /// Returns the session to query the page with.
    pub(super) const fn session(&self) -> &'p BrowserSession {
        &self.browser.session
    }

    /// Compiles a regular expression of the script.
    ///
    /// # Errors
    /// [`FailureKind::ScriptInvalid`] when it cannot be used, although the script was parsed.
    pub(super) fn compile(&self, pattern: &RegexPattern) -> Result<CompiledPattern, Failure> {
        self.browser.patterns.compile(&pattern.0, HaystackKind::Text).map_err(|error| {
            let detail = format!("`{}` cannot be used: {error}", truncate_value(&pattern.0));
            Failure::new(Phase::RunScript, FailureKind::ScriptInvalid, detail)
        })
    }

    /// Converts `error` of an action that was limited by `limit_kind`.
    pub(super) fn action_error(&self, error: WebDriverError, limit_kind: LimitKind) -> ActionError {
        action_error(self.browser, self.budget, error, limit_kind)
    }

    /// Converts the error of a query that was limited by `wait_limit`.
    pub(super) fn dom_error_to_action_error(&self, error: DomError, wait_limit: WaitLimit) -> ActionError {
        match error {
            DomError::Driver(error) => self.action_error(error, wait_limit.response_limit_kind),
            DomError::InvalidLocator(error) => Failure::new(
                Phase::RunScript,
                FailureKind::ScriptInvalid,
                format!("the browser refuses {error}"),
            )
            .into(),
        }
    }

    /// Fills in the placeholders of `text`.
    pub(super) fn render(&self, text: &str, context: EscapeContext) -> Result<String, Failure> {
        Template::new(text, context).render(self.variables)
    }

    /// Returns the locators of `target`, filled in.
    pub(super) fn render_locators(&self, target: &ElementTarget) -> Result<LocatorArgs, Failure> {
        let render_locator = |locator| {
            let (locator_name, text) = descriptions::locator_name_and_text(locator);
            Ok(json!({ "by": locator_name, "value": self.render(text, EscapeContext::Value)? }))
        };
        target.locators.iter().map(render_locator).collect()
    }
}
