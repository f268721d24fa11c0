//! One attempt at an API monitor: runs the steps in order until one fails.

use std::sync::Arc;

use http::StatusCode;
use tokio::time::Instant;

use super::evaluate::{Evaluation, EvaluationInput};
use super::options::ApiStepsOptions;
use super::step_plan::StepPlan;
use crate::domain::{Failure, FailureKind, Observation, Phase};
use crate::evaluate::assertion::AssertionTemplate;
use crate::evaluate::template::Variables;
use crate::probe::probe_trait::ProbeContext;
use crate::probe::request_steps::{RequestOptions, StepInProgress, StepResponse, StepRunner};
use crate::protocol::http::client::{
    RequestSpec, captures, content_type, describe_status, display_url, unfollowed_redirect_note,
};
use crate::protocol::http::{BodyRetention, ResponseHead};

pub(super) struct ApiStepsAttempt<'a> {
    options: &'a ApiStepsOptions,
    runner: StepRunner<'a>,
    variables: Arc<Variables>,
}

impl<'a> ApiStepsAttempt<'a> {
    pub(super) fn new(options: &'a ApiStepsOptions, cx: ProbeContext<'a>, started: Instant) -> Self {
        let mut variables = Variables::new(cx.clock.now(), crate::probe::random::random_u128());
        for (name, value) in &*options.preset_variables {
            variables.set(name, value.clone());
        }
        let request_options = RequestOptions {
            connect_options: &options.connect_options,
            max_body_bytes: options.max_body_bytes,
        };
        let mut runner = StepRunner::new(cx, request_options, started);
        runner.observation.details.trace_id = options.trace_requests.then(|| cx.trace_id.to_string());
        Self { options, runner, variables: Arc::new(variables) }
    }

    /// Returns the observation, complete up to the point where the attempt stopped.
    pub(super) fn into_observation(self) -> Observation {
        self.runner.observation
    }

    /// Runs the steps. Failures are recorded in the observation.
    pub(super) async fn run_steps(&mut self) {
        let steps = Arc::clone(&self.options.step_plans);
        for index in 0..steps.len() {
            if !self.run_step(&steps, index).await {
                return;
            }
        }
    }

    /// Runs one step and returns whether it passed.
    async fn run_step(&mut self, steps: &Arc<[StepPlan]>, index: usize) -> bool {
        let plan = &steps[index];
        let mut step = self.runner.begin_step(plan.number, &plan.name);
        match plan.build_request(&self.options.user_agent, &self.variables) {
            Ok((mut request, secrets)) => {
                request.trace_id = self.options.trace_requests.then_some(self.runner.cx.trace_id);
                self.runner.add_secrets(secrets);
                self.send_request(&mut step, steps, index, &request).await;
            }
            Err(failure) => step.result.failures.push(failure),
        }
        let failure = self.runner.finish_step(step, self.variables.secret_values());
        let passed = failure.is_none();
        if let Some(failure) = failure {
            self.runner.observation.record_failure(failure);
        }
        passed
    }

    /// Sends the request and evaluates its last response.
    async fn send_request(
        &mut self,
        step: &mut StepInProgress,
        steps: &Arc<[StepPlan]>,
        index: usize,
        request: &RequestSpec,
    ) {
        let retention = if steps[index].reads_body() {
            BodyRetention::All
        } else {
            BodyRetention::Prefix(captures::MAX_CAPTURED_BODY_BYTES)
        };
        let Some(response) = self.runner.send(step, request, retention).await else { return };
        let evaluation = self.evaluate_response(step, steps, index, &response).await;
        step.result.failures.extend(evaluation.failures);
        for (name, value) in evaluation.variables {
            Arc::make_mut(&mut self.variables).set(&name, value);
            self.runner.forget_redactor();
            step.result.variable_names.push(name);
        }
    }

    async fn evaluate_response(
        &self,
        step: &mut StepInProgress,
        steps: &Arc<[StepPlan]>,
        index: usize,
        response: &StepResponse,
    ) -> Evaluation {
        let (plan, head) = (&steps[index], &response.head);
        let status_failure = status_failure(step, plan, response);
        let evaluation_input = EvaluationInput {
            step_plans: Arc::clone(steps),
            step_index: index,
            status: head.status,
            elapsed: response.elapsed,
            headers: if plan.reads_headers() { header_pairs(head) } else { Vec::new() },
            content_type: content_type(&head.headers).unwrap_or_default().to_owned(),
            body: Arc::clone(&response.body),
            variables: Arc::clone(&self.variables),
            patterns: Arc::clone(&self.options.patterns),
            has_status_failure: status_failure.is_some(),
        };
        let started = Instant::now();
        let mut evaluation = evaluation_input.evaluate(self.runner.cx.deadline).await;
        evaluation.failures.splice(0..0, status_failure);
        step.record_validation(started.elapsed());
        if !evaluation.failures.is_empty() {
            step.capture_response(response);
        }
        evaluation
    }
}

/// Returns the failure of a status that fails the step by itself. An assertion on the status replaces this rule
/// (fields.md 4). For a redirect that is not followed, sets the warning of `step` and returns `None`.
fn status_failure(step: &mut StepInProgress, plan: &StepPlan, response: &StepResponse) -> Option<Failure> {
    let head = &response.head;
    if plan.assertions.iter().any(AssertionTemplate::checks_status) {
        return None;
    }
    let (kind, text) = match head.status {
        StatusCode::UNAUTHORIZED if response.sent_credentials => {
            (FailureKind::LoginRejected, " after user name and password were sent")
        }
        status if status.as_u16() >= 400 => (FailureKind::HttpErrorStatus, ""),
        status if status.is_informational() => (FailureKind::ResponseInvalid, ", which was not requested"),
        status => {
            let redirected = status.is_redirection();
            step.redirect_warning = redirected.then(|| unfollowed_redirect_note(head, &response.url));
            return None;
        }
    };
    let detail = format!("{} from `{}`{text}", describe_status(head), display_url(&response.url));
    Some(Failure::new(Phase::Validate, kind, detail))
}

/// Returns the header fields in the form that assertions read.
fn header_pairs(head: &ResponseHead) -> Vec<(String, String)> {
    let to_text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), to_text(value))).collect()
}
