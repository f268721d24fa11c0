//! Runs the steps of a script, action by action, each within its limits, and handles their failures.

use tokio::time::Instant;

use super::action_error::ActionError;
use super::capture::{capture_moment, run_screenshot_action};
use super::capture_rule::CaptureMoment;
use super::current_page::CurrentPage;
use super::interactions::{Interaction, interact};
use super::options::BrowserScriptOptions;
use super::page_inspection::replace_with_page_failure;
use super::script_browser::ScriptBrowser;
use super::step_recorder::StepRecorder;
use super::step_results::{PageResultOptions, record_failed_page, record_step_end};
use super::time_budget::TimeBudget;
use super::{actions, descriptions, page_reads, wait, windows};
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{EscapeContext, Variables};
use crate::redaction::redactor::Redactor;
use crate::script::language::{Action, ActionKind, ElementTarget, Script, ScriptStep};

/// Runs one script.
pub(super) struct ScriptRunner<'a> {
    options: &'a BrowserScriptOptions,
    script: &'a Script,
    variables: Variables,
    time_budget: TimeBudget,
    /// Number of optional actions that were skipped.
    skipped_actions: u32,
    /// The first failure of a soft action; the check fails with it at its end.
    soft_failure: Option<Failure>,
    /// The same of the current step.
    step_soft_failure: Option<Failure>,
    pub(super) browser: ScriptBrowser<'a>,
    pub(super) recorder: StepRecorder<'a>,
}

impl<'a> ScriptRunner<'a> {
    /// Creates the runner of the script of `options`; `variables` have their initial values.
    pub(super) fn new(
        options: &'a BrowserScriptOptions,
        variables: Variables,
        browser: ScriptBrowser<'a>,
        recorder: StepRecorder<'a>,
    ) -> Self {
        let script = &options.script;
        let budget = TimeBudget::new(options.script_limits, script);
        Self {
            options,
            script,
            variables,
            time_budget: budget,
            skipped_actions: 0,
            soft_failure: None,
            step_soft_failure: None,
            browser,
            recorder,
        }
    }

    /// Runs the script.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        self.browser.enter_first_window().await?;
        // Start-up of the browser does not count as time of the script.
        self.time_budget = TimeBudget::new(self.options.script_limits, self.script);
        self.run_steps().await
    }

    /// Waits until the driver has finished a command that timed out, as long as the step has time.
    pub(super) async fn wait_until_driver_idle(&self) {
        self.browser.wait_until_driver_idle(&self.time_budget).await;
    }

    /// Runs the steps in order. Stops at the first failure, except for timeouts where the monitor continues on those.
    async fn run_steps(&mut self) -> Result<(), Failure> {
        let script = self.script;
        let mut first_timeout = None;
        for (index, step) in script.steps.iter().enumerate() {
            if let Err(failure) = self.run_step(index, step).await {
                let continues = self.options.continue_on_timeout
                    && matches!(failure.kind, FailureKind::StepTimedOut | FailureKind::PageTooSlow);
                if !continues {
                    return Err(first_timeout.or(self.soft_failure.take()).unwrap_or(failure));
                }
                first_timeout.get_or_insert(failure);
            }
        }
        first_timeout.or(self.soft_failure.take()).map_or(Ok(()), Err)
    }

    async fn run_step(&mut self, index: usize, step: &ScriptStep) -> Result<(), Failure> {
        let started = Instant::now();
        self.time_budget.begin_step(step);
        self.recorder.begin_step(index, step, started);
        let step_result = match self.run_actions(index, step).await {
            Ok(()) => self.end_step(index).await,
            failed => failed,
        };
        // Texts of the page and of the script may contain values of protected variables.
        let redactor = self.redactor();
        let step_result = step_result
            .map_err(|failure| Failure { detail: redactor.redact(&failure.detail).into_owned(), ..failure });
        let soft_failure = self
            .step_soft_failure
            .take()
            .map(|failure| Failure { detail: redactor.redact(&failure.detail).into_owned(), ..failure });
        self.recorder.finish_step(step_result.as_ref().err().or(soft_failure.as_ref()));
        if let Some(soft_failure) = soft_failure {
            self.soft_failure.get_or_insert(soft_failure);
        }
        step_result
    }

    /// Ends a step whose actions passed.
    async fn end_step(&mut self, index: usize) -> Result<(), Failure> {
        self.wait_until_driver_idle().await;
        let mut end_result = self.reset_driver_timeouts(index).await;
        if end_result.is_ok() {
            let next_action = self.script.steps.get(index + 1).and_then(|step| step.actions.first());
            let (redactor, result_options) = (self.redactor(), self.page_result_options());
            let Self { recorder, browser: script_browser, time_budget: budget, .. } = self;
            end_result = record_step_end(
                recorder,
                script_browser,
                budget,
                &redactor,
                result_options,
                next_action.is_some_and(answers_dialog),
            )
            .await;
        }
        if end_result.is_ok() && index + 1 == self.script.steps.len() {
            self.wait_until_driver_idle().await;
            end_result = self.check_keyword().await;
        }
        let moment = if end_result.is_ok() { CaptureMoment::StepEnd } else { CaptureMoment::Failure };
        self.capture(moment, &capture_name_prefix(index, None)).await;
        end_result
    }

    /// Resets the driver's timeouts to the rest of the step, after an action that set its own.
    async fn reset_driver_timeouts(&mut self, index: usize) -> Result<(), Failure> {
        let last_action = self.script.steps[index].actions.last();
        if last_action
            .is_some_and(|action| action.timeout.is_some() || matches!(action.kind, ActionKind::RunJs { .. }))
            && let Err(ActionError::Failed(failure)) =
                actions::set_driver_timeouts(&mut self.browser, &mut self.time_budget, None).await
        {
            return Err(failure);
        }
        Ok(())
    }

    /// Searches the last page for the monitor's keyword, once or until it is found.
    async fn check_keyword(&self) -> Result<(), Failure> {
        let Some((keyword_search, wait_for_match)) = &self.options.keyword_search else { return Ok(()) };
        let wait_limit = self.time_budget.action_wait_limit(None, None);
        match page_reads::wait_for_keyword(
            self.current_page(),
            keyword_search,
            if *wait_for_match { wait_limit } else { wait_limit.without_wait() },
        )
        .await
        {
            Ok(()) => Ok(()),
            Err(ActionError::Failed(failure)) => Err(failure),
            Err(ActionError::DialogOpen(text)) => {
                Err(self.browser.dismiss_unexpected_dialog("the keyword", &text).await)
            }
        }
    }

    async fn run_actions(&mut self, index: usize, step: &ScriptStep) -> Result<(), Failure> {
        for (action_index, action) in step.actions.iter().enumerate() {
            let started = Instant::now();
            let next_action = step
                .actions
                .get(action_index + 1)
                .or_else(|| self.script.steps.get(index + 1)?.actions.first());
            let mut action_result = self.run_action(action, next_action).await;
            let mut skipped = false;
            if let Err(failure) = &action_result
                && action.optional
                && is_skippable(failure)
                && self.time_budget.exceeded_limit().is_none()
            {
                action_result = self.skip_action(failure);
                skipped = action_result.is_ok();
            }
            self.recorder.record_action(
                action_index,
                action.kind.name(),
                started,
                skipped,
                action_result.as_ref().err(),
            );
            match action_result {
                Err(failure)
                    if action.soft
                        && is_about_page(&failure)
                        && self.time_budget.exceeded_limit().is_none() =>
                {
                    self.capture(CaptureMoment::Failure, &capture_name_prefix(index, Some(action_index)))
                        .await;
                    self.step_soft_failure.get_or_insert(failure);
                }
                Err(failure) => {
                    let (redactor, result_options) = (self.redactor(), self.page_result_options());
                    let Self { recorder, browser: script_browser, time_budget: budget, .. } = self;
                    record_failed_page(recorder, script_browser, budget, &redactor, result_options, &failure)
                        .await;
                    self.capture(CaptureMoment::Failure, &capture_name_prefix(index, Some(action_index)))
                        .await;
                    return Err(failure);
                }
                // An open dialog hides the page until it is answered.
                Ok(()) if skipped || next_action.is_some_and(answers_dialog) => {}
                Ok(()) => {
                    self.capture(CaptureMoment::ActionEnd, &capture_name_prefix(index, Some(action_index)))
                        .await;
                }
            }
        }
        Ok(())
    }

    /// Runs one action and waits for its expected effect.
    async fn run_action(&mut self, action: &Action, next_action: Option<&Action>) -> Result<(), Failure> {
        let action_name = descriptions::describe_action(action);
        if let Some(limit_kind) = self.time_budget.exceeded_limit() {
            return Err(self.time_budget.timeout_failure(limit_kind, &action_name));
        }
        match self.perform_and_wait_for_effect(action).await {
            Ok(()) => match self.time_budget.exceeded_limit() {
                Some(limit_kind) => Err(self.time_budget.timeout_failure(limit_kind, &action_name)),
                None => Ok(()),
            },
            // The next action answers the dialog.
            Err(ActionError::DialogOpen(_))
                if next_action.is_some_and(answers_dialog) && !answers_dialog(action) =>
            {
                Ok(())
            }
            Err(ActionError::DialogOpen(text)) => {
                Err(self.browser.dismiss_unexpected_dialog(&action_name, &text).await)
            }
            Err(ActionError::Failed(failure)) => {
                // The failure does not name the action yet.
                let failure = Failure { detail: format!("{action_name}: {}", failure.detail), ..failure };
                Err(replace_with_page_failure(&mut self.browser, failure).await)
            }
        }
    }

    async fn perform_and_wait_for_effect(&mut self, action: &Action) -> Result<(), ActionError> {
        self.wait_until_driver_idle().await;
        actions::set_driver_timeouts(&mut self.browser, &mut self.time_budget, Some(action)).await?;
        let awaited_effect = match &action.expected_effect {
            Some(expected) => {
                Some(wait::prepare_awaited_effect(self.current_page(), expected, action).await?)
            }
            None => None,
        };
        // If the action opens a dialog, this or the wait fails with `DialogOpen`; the effect is then not waited for.
        self.perform_action(action).await?;
        match awaited_effect {
            Some(awaited_effect) => wait::wait_for_effect(self.current_page(), &awaited_effect, action).await,
            None => Ok(()),
        }
    }

    async fn perform_action(&mut self, action: &Action) -> Result<(), ActionError> {
        match &action.kind {
            ActionKind::Open { url } => self.open(url, action).await,
            ActionKind::Click { target, double: false } => {
                self.interact(target, Interaction::Click, action).await
            }
            ActionKind::Click { target, double: true } => {
                self.interact(target, Interaction::MoveAndClick(2), action).await
            }
            ActionKind::Hover { target } => self.interact(target, Interaction::MoveAndClick(0), action).await,
            ActionKind::Type { target: into, text } => {
                let text = self.current_page().render(text, EscapeContext::Value)?;
                self.interact(into, Interaction::Type(text), action).await
            }
            ActionKind::Clear { target } => self.interact(target, Interaction::Clear, action).await,
            ActionKind::Select { target, option } => {
                let (option_key, value) = actions::option_key_and_value(self.current_page(), option)?;
                self.interact(target, Interaction::SelectOption(option_key, value), action).await
            }
            ActionKind::SetChecked { target, checked } => {
                self.interact(target, Interaction::SetChecked(*checked), action).await
            }
            ActionKind::Press { key, target } => {
                actions::press_key(self.current_page(), key, target.as_ref(), action).await
            }
            ActionKind::Scroll { target: to, x, y } => {
                actions::scroll(self.current_page(), to.as_ref(), (*x, *y), action).await
            }
            ActionKind::SwitchFrame(frame) => {
                windows::switch_frame(&mut self.browser, &self.time_budget, &self.variables, frame, action)
                    .await
            }
            ActionKind::SwitchWindow(window) => {
                windows::switch_window(&mut self.browser, &self.time_budget, &self.variables, window, action)
                    .await
            }
            ActionKind::CloseWindow => windows::close_window(&mut self.browser, &self.time_budget).await,
            ActionKind::Dialog(response) => {
                actions::answer_dialog(self.current_page(), response, action).await
            }
            ActionKind::WaitFor(condition) => wait::wait_for(self.current_page(), condition, action).await,
            ActionKind::Extract { into_variable: into, property: from, pattern } => {
                let value =
                    page_reads::extract_value(self.current_page(), into, from, pattern.as_ref(), action)
                        .await?;
                self.set_variable(into, value);
                Ok(())
            }
            ActionKind::RunJs { code, into_variable: into } => {
                let value = actions::run_js(self.current_page(), code, action).await?;
                if let Some(name) = into {
                    self.set_variable(name, value);
                }
                Ok(())
            }
            ActionKind::Screenshot { name } => {
                let rule = &self.options.capture_rule;
                run_screenshot_action(&mut self.recorder, &self.browser.session, rule, name).await;
                Ok(())
            }
            ActionKind::Assert { property, matcher } => {
                page_reads::assert_text(self.current_page(), property, matcher, action).await
            }
            ActionKind::AssertElement { target: element, state } => {
                page_reads::assert_element(self.current_page(), element, *state, action).await
            }
            ActionKind::Keyword { text, regex, invert, wait } => {
                page_reads::assert_keyword(self.current_page(), text, *regex, *invert, *wait, action).await
            }
        }
    }

    async fn open(&mut self, url: &str, action: &Action) -> Result<(), ActionError> {
        let url = self
            .options
            .resolve_url(&self.current_page().render(url, EscapeContext::Url)?, &self.variables)?;
        self.browser.record_navigation(&url);
        if let Some(site) = self.options.site_under_test(&url, &self.variables) {
            self.browser.set_trace_site(&site);
        }
        actions::open_url(&mut self.browser, &self.time_budget, &url, action).await
    }

    async fn interact(
        &self,
        target: &ElementTarget,
        interaction: Interaction,
        action: &Action,
    ) -> Result<(), ActionError> {
        interact(self.current_page(), target, &interaction, action).await.map(drop)
    }

    /// Sets a variable, and records its name in the result.
    fn set_variable(&mut self, name: &str, value: String) {
        self.variables.set(name, value);
        self.recorder.record_variable(name);
    }

    /// Skips an optional action that failed, unless too many were skipped.
    fn skip_action(&mut self, failure: &Failure) -> Result<(), Failure> {
        self.skipped_actions += 1;
        if self.skipped_actions <= self.script.max_skipped_actions {
            return Ok(());
        }
        let detail = format!(
            "more than {} acts were skipped; the last one: {}",
            self.script.max_skipped_actions, failure.detail
        );
        Err(Failure::new(Phase::RunScript, FailureKind::TooManyActionsSkipped, detail))
    }

    async fn capture(&mut self, moment: CaptureMoment, name: &str) {
        let redactor = self.redactor();
        let Self { recorder, browser: script_browser, time_budget: budget, options, .. } = self;
        capture_moment(recorder, script_browser, budget, &options.capture_rule, &redactor, (moment, name))
            .await;
    }

    fn current_page(&self) -> CurrentPage<'_> {
        CurrentPage { browser: &self.browser, budget: &self.time_budget, variables: &self.variables }
    }

    fn page_result_options(&self) -> PageResultOptions {
        let BrowserScriptOptions {
            user_experience: experience,
            third_party_document_errors: third_party_documents,
            ..
        } = *self.options;
        PageResultOptions { user_experience: experience, third_party_document_errors: third_party_documents }
    }

    /// Returns the redactor of the values of protected variables.
    fn redactor(&self) -> Redactor {
        Redactor::from_secrets(self.variables.secret_values())
    }
}

/// Whether `action` answers a dialog.
const fn answers_dialog(action: &Action) -> bool {
    matches!(action.kind, ActionKind::Dialog(_))
}

/// Whether an optional action with this failure may be skipped: what it needs is not on the page.
fn is_skippable(failure: &Failure) -> bool {
    matches!(
        failure.kind,
        FailureKind::ElementMissing
            | FailureKind::ElementAmbiguous
            | FailureKind::ExpectedEventMissing
            | FailureKind::LocationChangeMissing
            | FailureKind::PageUpdateMissing
            | FailureKind::NetworkNotIdle
            | FailureKind::StepTimedOut
    )
}

/// Whether a soft action with this failure lets the script go on: the page is not as expected.
fn is_about_page(failure: &Failure) -> bool {
    is_skippable(failure)
        || matches!(
            failure.kind,
            FailureKind::AssertionFailed
                | FailureKind::KeywordMissing
                | FailureKind::ForbiddenKeywordFound
                | FailureKind::ScriptFailed
                | FailureKind::VariableNotExtracted
        )
}

/// Returns the file name prefix of a moment: `step-02-act-03`, or `step-02` at the end of a step.
fn capture_name_prefix(step_index: usize, action_index: Option<usize>) -> String {
    match action_index {
        Some(action_index) => format!("step-{:02}-act-{:02}", step_index + 1, action_index + 1),
        None => format!("step-{:02}", step_index + 1),
    }
}
