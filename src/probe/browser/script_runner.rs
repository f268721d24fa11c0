//! Runs the steps of a script, action by action, each within its limits, and handles their failures.

use tokio::time::Instant;

use super::act_error::ActError;
use super::capture::{capture, screenshot};
use super::capture_rule::CaptureMoment;
use super::inspect::explain_failure;
use super::interactions::{Interaction, interact};
use super::options::Options;
use super::page_access::PageAccess;
use super::step_end::{PageRules, end_of_step, record_evidence};
use super::step_recorder::StepRecorder;
use super::time_budget::TimeBudget;
use super::window_context::WindowContext;
use super::{actions, describe, page_reads, wait, windows};
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::template::{EscapeContext, Variables};
use crate::redaction::redactor::Redactor;
use crate::script::language::{Action, ActionKind, ElementTarget, Script, ScriptStep};

/// Runs one script.
pub(super) struct ScriptRunner<'a> {
    options: &'a Options,
    script: &'a Script,
    variables: Variables,
    budget: TimeBudget,
    /// Number of optional actions that were skipped.
    skipped_acts: u32,
    pub(super) window: WindowContext<'a>,
    pub(super) recorder: StepRecorder<'a>,
}

impl<'a> ScriptRunner<'a> {
    /// Creates the runner of the script of `options`; `variables` have their initial values.
    pub(super) fn new(
        options: &'a Options,
        variables: Variables,
        window: WindowContext<'a>,
        recorder: StepRecorder<'a>,
    ) -> Self {
        let script = &options.script;
        let budget = TimeBudget::new(options.limits, script);
        Self { options, script, variables, budget, skipped_acts: 0, window, recorder }
    }

    /// Runs the script.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        self.window.enter_first_window().await?;
        // Start-up of the browser does not count as time of the script.
        self.budget = TimeBudget::new(self.options.limits, self.script);
        self.steps().await
    }

    /// Waits until the driver has finished a command that timed out, as long as the step has time.
    pub(super) async fn recover(&self) {
        self.window.recover(&self.budget).await;
    }

    /// Runs the steps in order. Stops at the first failure, except for timeouts where the monitor continues on those.
    async fn steps(&mut self) -> Result<(), Failure> {
        let script = self.script;
        let mut late = None;
        for (index, step) in script.steps.iter().enumerate() {
            if let Err(failure) = self.step(index, step).await {
                let continues = self.options.continue_on_timeout
                    && matches!(failure.kind, FailureKind::BrowserEventTimedOut | FailureKind::PageTooSlow);
                if !continues {
                    return Err(late.unwrap_or(failure));
                }
                late.get_or_insert(failure);
            }
        }
        late.map_or(Ok(()), Err)
    }

    async fn step(&mut self, index: usize, step: &ScriptStep) -> Result<(), Failure> {
        let started = Instant::now();
        self.budget.begin_step(step);
        self.recorder.begin_step(index, step, started);
        let outcome = match self.run_acts(index, step).await {
            Ok(()) => self.end_step(index).await,
            failed => failed,
        };
        // Texts of the page and of the script may contain values of protected variables.
        let redactor = self.redactor();
        let outcome = outcome
            .map_err(|failure| Failure { detail: redactor.redact(&failure.detail).into_owned(), ..failure });
        self.recorder.finish_step(outcome.as_ref().err());
        outcome
    }

    /// Ends a step whose actions passed.
    async fn end_step(&mut self, index: usize) -> Result<(), Failure> {
        self.recover().await;
        let mut outcome = self.reset_driver_timeouts(index).await;
        if outcome.is_ok() {
            let next = self.script.steps.get(index + 1).and_then(|step| step.actions.first());
            let (redactor, rules) = (self.redactor(), self.page_rules());
            let Self { recorder, window, budget, .. } = self;
            outcome =
                end_of_step(recorder, window, budget, &redactor, rules, next.is_some_and(answers_dialog))
                    .await;
        }
        if outcome.is_ok() && index + 1 == self.script.steps.len() {
            self.recover().await;
            outcome = self.check_keyword().await;
        }
        let when = if outcome.is_ok() { CaptureMoment::Action } else { CaptureMoment::Failure };
        self.capture(when, &capture_name(index, None)).await;
        outcome
    }

    /// Resets the driver's timeouts to the rest of the step, after an action that set its own.
    async fn reset_driver_timeouts(&mut self, index: usize) -> Result<(), Failure> {
        let last = self.script.steps[index].actions.last();
        if last
            .is_some_and(|action| action.timeout.is_some() || matches!(action.kind, ActionKind::RunJs { .. }))
            && let Err(ActError::Failed(failure)) =
                actions::set_driver_timeouts(&mut self.window, &mut self.budget, None).await
        {
            return Err(failure);
        }
        Ok(())
    }

    /// Searches the last page for the monitor's keyword, once or until it is found.
    async fn check_keyword(&self) -> Result<(), Failure> {
        let Some((rule, waits)) = &self.options.keyword else { return Ok(()) };
        let time = self.budget.wait_limit(None, None);
        match page_reads::wait_for_keyword(self.page(), rule, if *waits { time } else { time.without_wait() })
            .await
        {
            Ok(()) => Ok(()),
            Err(ActError::Failed(failure)) => Err(failure),
            Err(ActError::DialogOpen(text)) => Err(self.window.dismiss_dialog("the keyword", &text).await),
        }
    }

    async fn run_acts(&mut self, index: usize, step: &ScriptStep) -> Result<(), Failure> {
        for (number, action) in step.actions.iter().enumerate() {
            let started = Instant::now();
            let next =
                step.actions.get(number + 1).or_else(|| self.script.steps.get(index + 1)?.actions.first());
            let mut outcome = self.run_act(action, next).await;
            let mut skipped = false;
            if let Err(failure) = &outcome
                && action.optional
                && is_skippable(failure)
                && self.budget.exceeded().is_none()
            {
                outcome = self.skip(failure);
                skipped = outcome.is_ok();
            }
            self.recorder.record_act(number, action.kind.name(), started, skipped, outcome.as_ref().err());
            match outcome {
                Err(failure) => {
                    let (redactor, rules) = (self.redactor(), self.page_rules());
                    let Self { recorder, window, budget, .. } = self;
                    record_evidence(recorder, window, budget, &redactor, rules, &failure).await;
                    self.capture(CaptureMoment::Failure, &capture_name(index, Some(number))).await;
                    return Err(failure);
                }
                // An open dialog hides the page until it is answered.
                Ok(()) if skipped || next.is_some_and(answers_dialog) => {}
                Ok(()) => self.capture(CaptureMoment::Event, &capture_name(index, Some(number))).await,
            }
        }
        Ok(())
    }

    /// Runs one action and waits for its expected effect.
    async fn run_act(&mut self, action: &Action, next: Option<&Action>) -> Result<(), Failure> {
        let what = describe::describe_act(action);
        if let Some(bound) = self.budget.exceeded() {
            return Err(self.budget.timeout_failure(bound, &what));
        }
        match self.perform_and_wait(action).await {
            Ok(()) => match self.budget.exceeded() {
                Some(bound) => Err(self.budget.timeout_failure(bound, &what)),
                None => Ok(()),
            },
            // The next action answers the dialog.
            Err(ActError::DialogOpen(_)) if next.is_some_and(answers_dialog) && !answers_dialog(action) => {
                Ok(())
            }
            Err(ActError::DialogOpen(text)) => Err(self.window.dismiss_dialog(&what, &text).await),
            Err(ActError::Failed(failure)) => {
                // The failure does not name the action yet.
                let failure = Failure { detail: format!("{what}: {}", failure.detail), ..failure };
                Err(explain_failure(&mut self.window, failure).await)
            }
        }
    }

    async fn perform_and_wait(&mut self, action: &Action) -> Result<(), ActError> {
        self.recover().await;
        actions::set_driver_timeouts(&mut self.window, &mut self.budget, Some(action)).await?;
        let awaited = match &action.expected {
            Some(expected) => Some(wait::prepare_wait(self.page(), expected, action).await?),
            None => None,
        };
        // If the action opens a dialog, this or the wait fails with `DialogOpen`; the effect is then not waited for.
        self.perform(action).await?;
        match awaited {
            Some(awaited) => wait::wait_for_effect(self.page(), &awaited, action).await,
            None => Ok(()),
        }
    }

    async fn perform(&mut self, action: &Action) -> Result<(), ActError> {
        match &action.kind {
            ActionKind::Open { url } => self.open(url, action).await,
            ActionKind::Click { target, double: false } => {
                self.interact(target, Interaction::Click, action).await
            }
            ActionKind::Click { target, double: true } => {
                self.interact(target, Interaction::Pointer(2), action).await
            }
            ActionKind::Hover { target } => self.interact(target, Interaction::Pointer(0), action).await,
            ActionKind::Type { target: into, text } => {
                let text = self.page().fill(text, EscapeContext::Value)?;
                self.interact(into, Interaction::Type(text), action).await
            }
            ActionKind::Clear { target } => self.interact(target, Interaction::Clear, action).await,
            ActionKind::Select { target, option } => {
                let (by, value) = actions::option_argument(self.page(), option)?;
                self.interact(target, Interaction::SelectOption(by, value), action).await
            }
            ActionKind::SetChecked { target, checked } => {
                self.interact(target, Interaction::Check(*checked), action).await
            }
            ActionKind::Press { key, target } => {
                actions::press(self.page(), key, target.as_ref(), action).await
            }
            ActionKind::Scroll { target: to, x, y } => {
                actions::scroll(self.page(), to.as_ref(), (*x, *y), action).await
            }
            ActionKind::SwitchFrame(frame) => {
                windows::switch_frame(&mut self.window, &self.budget, &self.variables, frame, action).await
            }
            ActionKind::SwitchWindow(window) => {
                windows::switch_window(&mut self.window, &self.budget, &self.variables, window, action).await
            }
            ActionKind::CloseWindow => windows::close_window(&mut self.window, &self.budget).await,
            ActionKind::Dialog(response) => actions::answer_dialog(self.page(), response, action).await,
            ActionKind::WaitFor(condition) => wait::wait_for(self.page(), condition, action).await,
            ActionKind::Extract { into_variable: into, property: from, pattern } => {
                let value = page_reads::extract(self.page(), into, from, pattern.as_ref(), action).await?;
                self.set(into, value);
                Ok(())
            }
            ActionKind::RunJs { code, into_variable: into } => {
                let value = actions::run_js(self.page(), code, action).await?;
                if let Some(name) = into {
                    self.set(name, value);
                }
                Ok(())
            }
            ActionKind::Screenshot { name } => {
                let rule = &self.options.capture;
                screenshot(&mut self.recorder, &self.window.session, rule, name).await;
                Ok(())
            }
            ActionKind::Assert { property, matcher } => {
                page_reads::assert_text(self.page(), property, matcher, action).await
            }
            ActionKind::AssertElement { target: element, state } => {
                page_reads::assert_element(self.page(), element, *state, action).await
            }
            ActionKind::Keyword { text, regex, invert, wait } => {
                page_reads::assert_keyword(self.page(), text, *regex, *invert, *wait, action).await
            }
        }
    }

    async fn open(&mut self, url: &str, action: &Action) -> Result<(), ActError> {
        let url = self.options.resolve_url(&self.page().fill(url, EscapeContext::Url)?, &self.variables)?;
        self.window.start_navigation(&url);
        if let Some(site) = self.options.site(&url, &self.variables) {
            self.window.set_traced_site(&site);
        }
        actions::open(&mut self.window, &self.budget, &url, action).await
    }

    async fn interact(
        &self,
        target: &ElementTarget,
        interaction: Interaction,
        action: &Action,
    ) -> Result<(), ActError> {
        interact(self.page(), target, &interaction, action).await.map(drop)
    }

    /// Sets a variable, and records its name in the result.
    fn set(&mut self, name: &str, value: String) {
        self.variables.set(name, value);
        self.recorder.set_variable(name);
    }

    /// Skips an optional action that failed, unless too many were skipped.
    fn skip(&mut self, failure: &Failure) -> Result<(), Failure> {
        self.skipped_acts += 1;
        if self.skipped_acts <= self.script.max_skipped {
            return Ok(());
        }
        let detail = format!(
            "more than {} acts were skipped; the last one: {}",
            self.script.max_skipped, failure.detail
        );
        Err(Failure::new(Phase::Play, FailureKind::EventsSkipped, detail))
    }

    async fn capture(&mut self, moment: CaptureMoment, name: &str) {
        let redactor = self.redactor();
        let Self { recorder, window, budget, options, .. } = self;
        capture(recorder, &window.session, budget, &options.capture, &redactor, (moment, name)).await;
    }

    fn page(&self) -> PageAccess<'_> {
        PageAccess { window: &self.window, budget: &self.budget, variables: &self.variables }
    }

    fn page_rules(&self) -> PageRules {
        let Options { experience, third_party_document_errors: third_party_documents, .. } = *self.options;
        PageRules { experience, third_party_document_errors: third_party_documents }
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
            | FailureKind::ElementWeak
            | FailureKind::BrowserEventMissing
            | FailureKind::LocationChangeMissing
            | FailureKind::PageUpdateMissing
            | FailureKind::NetworkNotQuiet
            | FailureKind::BrowserEventTimedOut
    )
}

/// Returns the file name prefix of a moment: `step-02-act-03`, or `step-02` at the end of a step.
fn capture_name(step: usize, act: Option<usize>) -> String {
    match act {
        Some(act) => format!("step-{:02}-act-{:02}", step + 1, act + 1),
        None => format!("step-{:02}", step + 1),
    }
}
