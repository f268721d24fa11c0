//! One run of a case: its steps in order, with gotos and calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::options::ProjectOptions;
use super::resolver::CaseResolver;
use super::run_state::{MAX_KEPT_BYTES, RunState};
use super::step_budget::StepBudget;
use super::transfers::run_transfers;
use crate::domain::{Failure, FailureKind, Observation, Phase, WarningKind, truncate};
use crate::evaluate::xml_query::is_condition_true;
use crate::net::Deadline;
use crate::probe::blocking_pool::run_blocking;
use crate::probe::probe_trait::ProbeContext;
use crate::probe::request_steps::{RequestOptions, StepInProgress, StepRunner, TestLimit};
use crate::project::model::{CaseIndex, GotoCondition, StepAction, TestCase};
use crate::syntax::path_expression::parse_xpath_with_prolog;

/// Size of all responses and properties up to which paths are evaluated on the async thread, in bytes.
const INLINE_BYTES: usize = 4 * 1024;
/// Maximum number of steps of a run, with repeated ones.
const MAX_EXECUTED_STEPS: u32 = 10_000;
/// Maximum number of failed steps without a request in a result.
const MAX_FAILED_STEPS: u32 = 500;
/// Longest reason of such a step, in characters.
const MAX_DETAIL_CHARS: usize = 1000;

/// One run of a case, with those that it calls.
pub(super) struct ProjectRun<'a> {
    pub(super) options: &'a ProjectOptions,
    pub(super) runner: StepRunner<'a>,
    pub(super) state: RunState,
    /// The cases that are running: the first one, and those that it calls.
    pub(super) running_cases: Vec<CaseIndex>,
    pub(super) request_count: u32,
    executed_steps: u32,
    /// Number of failed steps without a request.
    failed_steps: u32,
    pub(super) test_limit: TestLimit,
    /// Number of the last step of the result.
    step_number: u32,
    /// Whether the running case keeps its cookies.
    pub(super) keeps_session: bool,
}

impl<'a> ProjectRun<'a> {
    pub(super) fn new(options: &'a ProjectOptions, cx: ProbeContext<'a>, started: Instant) -> Self {
        let request_options = RequestOptions {
            connect_options: &options.connect_options,
            max_body_bytes: options.max_body_bytes,
        };
        Self {
            options,
            runner: StepRunner::new(cx, request_options, started),
            state: RunState::new(Arc::clone(&options.project)),
            running_cases: Vec::new(),
            request_count: 0,
            executed_steps: 0,
            failed_steps: 0,
            test_limit: TestLimit::default(),
            step_number: 0,
            keeps_session: false,
        }
    }

    /// Returns the observation, complete up to the point where the run stopped. A value may have become a secret after
    /// steps that show it, so that all is masked once more.
    pub(super) fn into_observation(mut self) -> Observation {
        let left_out = self.failed_steps.saturating_sub(MAX_FAILED_STEPS);
        if left_out > 0 {
            let text = format!("{left_out} more failed steps are left out of the result");
            self.runner.observation.record_warning(WarningKind::Informational, text);
        }
        self.learn_secrets();
        self.runner.into_redacted_observation()
    }

    /// Runs the case of the monitor. The failure is recorded in the observation.
    pub(super) async fn run(&mut self) {
        let case = self.options.case;
        self.state.ensure_case(case);
        for (name, value) in &*self.options.preset_properties {
            self.state.project_properties.set(name, value.clone());
        }
        self.learn_secrets();
        let failure = match self.run_case(case, false).await {
            Ok(None) => return,
            Ok(Some(failure)) => failure.into_project_step_failure(),
            Err(failure) => failure,
        };
        self.runner.observation.record_failure(failure);
    }

    /// Tells the runner the values of sensitive properties, so that no result shows them.
    pub(super) fn learn_secrets(&mut self) {
        let secrets = self.state.take_secret_values();
        self.runner.add_secrets(secrets);
    }

    /// Runs a case. Returns the failure of the step that failed it; an error ends the run.
    pub(super) async fn run_case(
        &mut self,
        index: CaseIndex,
        inherits_session: bool,
    ) -> Result<Option<Failure>, Failure> {
        let project = Arc::clone(&self.state.project);
        let case = project.case(index);
        let run_deadline = self.runner.cx.deadline;
        if case.timeout_ms > 0 {
            let case_deadline = Deadline::within(Duration::from_millis(case.timeout_ms));
            self.runner.cx.deadline = earlier(run_deadline, case_deadline);
        }
        self.keeps_session = case.keep_session || inherits_session;
        self.running_cases.push(index);
        let result = self.run_steps(index, case).await;
        self.running_cases.pop();
        self.runner.cx.deadline = run_deadline;
        result
    }

    async fn run_steps(&mut self, index: CaseIndex, case: &TestCase) -> Result<Option<Failure>, Failure> {
        let (mut position, mut first_failure) = (0, None);
        while let Some(step) = case.steps.get(position) {
            let current = position;
            position += 1;
            if step.disabled {
                continue;
            }
            self.check_limits(case)?;
            let failure = match &step.action {
                StepAction::Request(request) => self.run_request(index, current, request).await?,
                StepAction::Call(call) => self.run_call(index, current, call).await?,
                StepAction::Transfer(_) => {
                    let budget = self.step_budget();
                    let failed =
                        self.compute(0, move |state| run_transfers(state, index, current, &budget)).await?;
                    self.learn_secrets();
                    failed.map(|(kind, reason)| self.fail_step(index, current, kind, &reason))
                }
                StepAction::Delay(delay) => self.run_delay(index, current, delay).await?,
                StepAction::Goto(conditions) => {
                    match self.find_goto_target(index, case, current, conditions).await? {
                        Ok(Some(target)) => {
                            position = target;
                            None
                        }
                        Ok(None) => None,
                        Err(reason) => {
                            Some(self.fail_step(index, current, FailureKind::ProjectFailed, &reason))
                        }
                    }
                }
                StepAction::Properties(_) | StepAction::Unsupported => None,
            };
            if failure.is_some() && case.fail_on_error {
                return Ok(failure);
            }
            first_failure = first_failure.or(failure);
        }
        Ok(first_failure.filter(|_| case.fail_on_failed_steps))
    }

    /// Fails when the run has had too many steps, or the time of the case is over.
    fn check_limits(&mut self, case: &TestCase) -> Result<(), Failure> {
        self.check_memory()?;
        self.executed_steps += 1;
        let detail = if self.executed_steps > MAX_EXECUTED_STEPS {
            format!("it runs more than {MAX_EXECUTED_STEPS} steps")
        } else if self.runner.cx.deadline.is_expired() {
            let name = crate::syntax::truncate_value(&case.name);
            format!("case `{name}` did not end within {:?}", self.runner.cx.deadline.timeout)
        } else {
            return Ok(());
        };
        Err(Failure::new(Phase::Prepare, FailureKind::ProjectFailed, detail))
    }

    /// Fails when the responses and properties of the run are too large.
    pub(super) fn check_memory(&self) -> Result<(), Failure> {
        if !self.state.is_full() {
            return Ok(());
        }
        let max_mib = MAX_KEPT_BYTES >> 20;
        let detail = format!("its responses and properties have more than {max_mib} MiB");
        Err(Failure::new(Phase::Prepare, FailureKind::ProjectFailed, detail))
    }

    async fn run_delay(
        &mut self,
        case: CaseIndex,
        step: usize,
        delay: &str,
    ) -> Result<Option<Failure>, Failure> {
        let (delay, budget) = (delay.to_owned(), self.step_budget());
        let expanded =
            self.compute(0, move |state| CaseResolver::new(state, case, &budget).expand(&delay)).await?;
        let pause = expanded.and_then(|text| {
            text.trim().parse::<u64>().map_err(|_| "the delay is no number of milliseconds".to_owned())
        });
        let pause = match pause {
            Ok(pause) => Duration::from_millis(pause),
            Err(reason) => {
                return Ok(Some(self.fail_step(case, step, FailureKind::VariableInvalid, &reason)));
            }
        };
        let deadline = self.runner.cx.deadline;
        if deadline.enforce(Phase::Prepare, sleep(pause)).await.is_err() {
            let detail = format!("a delay of {pause:?} did not end within {:?}", deadline.timeout);
            return Err(Failure::new(Phase::Prepare, FailureKind::ProjectFailed, detail));
        }
        Ok(None)
    }

    /// Returns the step to go to: that of the first condition which is true for the response to the request before.
    async fn find_goto_target(
        &mut self,
        index: CaseIndex,
        case: &TestCase,
        step: usize,
        conditions: &[GotoCondition],
    ) -> Result<Result<Option<usize>, String>, Failure> {
        // Loops without a request would never let others run.
        tokio::task::yield_now().await;
        let is_request = |position: &usize| matches!(case.steps[*position].action, StepAction::Request(_));
        let Some(request) = (0..step).rev().find(is_request) else {
            return Ok(Err("there is no request before it".to_owned()));
        };
        let (conditions, budget) = (conditions.to_vec(), self.step_budget());
        let target = self
            .compute(0, move |state| {
                let response = state.step(index, request).and_then(|step| step.response.as_ref());
                let response = response.ok_or("the request before it has no response")?;
                let xml = response.as_xml()?;
                let resolver = CaseResolver::new(state, index, &budget);
                for condition in &conditions {
                    budget.check_time()?;
                    let expression = resolver.expand(&condition.expression)?;
                    let path = parse_xpath_with_prolog(&expression)
                        .map_err(|error| format!("the XPath is not one of version 1.0: {error}"))?;
                    if is_condition_true(&xml, &path, &budget.nodes)? {
                        return Ok(Some(condition.target_step.clone()));
                    }
                }
                Ok(None)
            })
            .await?;
        Ok(target.map(|target| target.and_then(|target| case.find_step(&target))))
    }

    /// Runs `work` on the state: on another thread when it may take long, which grows with the state and `new_bytes` of a new
    /// response. An error when the state has grown too large ends the run.
    pub(super) async fn compute<T: Send + 'static>(
        &mut self,
        new_bytes: usize,
        work: impl FnOnce(&mut RunState) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        if self.state.kept_bytes() + new_bytes <= INLINE_BYTES {
            let result = work(&mut self.state);
            return self.check_memory().map(|()| result);
        }
        let mut state = std::mem::take(&mut self.state);
        let with_state = move || {
            let result = work(&mut state);
            (state, result)
        };
        let (state, result) =
            run_blocking("evaluating the project", self.runner.cx.deadline, with_state).await?;
        self.state = state;
        self.check_memory().map(|()| result)
    }

    /// Returns what the next step may compute.
    pub(super) const fn step_budget(&self) -> StepBudget {
        self.response_budget(0)
    }

    /// Returns what may be computed on a new response of `new_bytes`.
    pub(super) const fn response_budget(&self, new_bytes: usize) -> StepBudget {
        if self.state.kept_bytes() + new_bytes <= INLINE_BYTES {
            StepBudget::inline(self.runner.cx.deadline)
        } else {
            StepBudget::new(self.runner.cx.deadline)
        }
    }

    /// Begins the next step of the result.
    pub(super) fn begin_step(&mut self, case: CaseIndex, step: usize) -> StepInProgress {
        self.step_number += 1;
        let name = &self.options.project.case(case).steps[step].name;
        self.runner.begin_step(self.step_number, &crate::syntax::truncate_value(name))
    }

    /// Adds a step to the result and returns its failure.
    pub(super) fn finish_step(&mut self, step: StepInProgress) -> Option<Failure> {
        self.learn_secrets();
        let captures_before = self.runner.observation.captures.len();
        let failure = self.runner.finish_step(step, std::iter::empty());
        let captures = &mut self.runner.observation.captures;
        self.options.captures.apply(captures, captures_before, failure.is_some());
        failure
    }

    /// Adds a step without a request that failed, and returns its failure.
    pub(super) fn fail_step(
        &mut self,
        case: CaseIndex,
        step: usize,
        kind: FailureKind,
        reason: &str,
    ) -> Failure {
        let failure = Failure::new(Phase::Prepare, kind, truncate(reason, MAX_DETAIL_CHARS));
        self.failed_steps += 1;
        if self.failed_steps > MAX_FAILED_STEPS {
            return failure;
        }
        let mut in_progress = self.begin_step(case, step);
        in_progress.result.failures.push(failure.clone());
        self.finish_step(in_progress).unwrap_or(failure)
    }
}

/// Returns the deadline that comes first.
pub(super) fn earlier(one: Deadline, other: Deadline) -> Deadline {
    if one.at <= other.at { one } else { other }
}
