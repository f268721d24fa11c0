//! One attempt at an API monitor: runs the steps in order until one fails.

use std::borrow::Cow;
use std::sync::Arc;

use http::StatusCode;
use tokio::time::Instant;

use super::evaluate::{Evaluation, EvaluationInput};
use super::options::ApiStepsOptions;
use super::step_plan::StepPlan;
use crate::domain::{
    CapturedFile, Excerpt, Failure, FailureKind, HttpExchange, HttpFacts, Observation, Phase, Status,
    StepResult, WarningKind, duration_micros,
};
use crate::evaluate::template::Variables;
use crate::probe::probe_trait::ProbeContext;
use crate::protocol::http::client::{
    ChainTrace, CookieJar, ExchangeRecord, RequestChain, RequestContext, RequestSpec, captures, content_type,
    describe_status, display_url, truncate_for_result, unfollowed_redirect_note, version_name,
};
use crate::protocol::http::{BodyContent, BodyRetention, ResponseBody, ResponseHead};
use crate::redaction::named_values::redact_named_values;
use crate::redaction::redactor::Redactor;

/// Longest excerpt of each response body in a result, in bytes.
const MAX_EXCERPT_BYTES: usize = 2 * 1024;
/// Longest failure detail of a step with several failures, in characters.
const MAX_DETAIL_CHARS: usize = 1000;

pub(super) struct ApiStepsAttempt<'a> {
    options: &'a ApiStepsOptions,
    cx: ProbeContext<'a>,
    started: Instant,
    cookie_jar: CookieJar,
    variables: Arc<Variables>,
    /// Credentials sent in requests. They are redacted everywhere.
    request_secrets: Vec<String>,
    /// Redacts the credentials and the secret variables; `None` when it must be rebuilt since a secret was added.
    redactor: Option<Redactor>,
    observation: Observation,
}

/// The state of the step in progress.
struct StepState {
    result: StepResult,
    started: Instant,
    /// Status, headers and other facts of the last response.
    http_facts: Option<HttpFacts>,
    redirect_warning: Option<String>,
    /// Remarks that leave the outcome as it is.
    notes: Vec<String>,
    captures: Vec<CapturedFile>,
    chain_trace: ChainTrace,
}

impl<'a> ApiStepsAttempt<'a> {
    pub(super) fn new(options: &'a ApiStepsOptions, cx: ProbeContext<'a>, started: Instant) -> Self {
        let observation = Observation::default();
        let mut variables = Variables::new(cx.clock.now(), crate::probe::random::random_u128());
        for (name, value) in &*options.preset_variables {
            variables.set(name, value.clone());
        }
        let (cookie_jar, secrets, variables) = (CookieJar::default(), Vec::new(), Arc::new(variables));
        Self {
            options,
            cx,
            started,
            cookie_jar,
            variables,
            request_secrets: secrets,
            redactor: None,
            observation,
        }
    }

    /// Returns the observation, complete up to the point where the attempt stopped.
    pub(super) fn into_observation(self) -> Observation {
        self.observation
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
        let mut step = StepState {
            result: StepResult {
                number: plan.number,
                name: plan.name.to_string(),
                status: Status::OK,
                start_offset_us: duration_micros(self.started.elapsed()),
                duration_us: 0,
                phases: crate::domain::Phases::default(),
                failures: Vec::new(),
                exchanges: Vec::new(),
                variable_names: Vec::new(),
                browser_step: None,
            },
            started: Instant::now(),
            http_facts: None,
            redirect_warning: None,
            notes: Vec::new(),
            captures: Vec::new(),
            chain_trace: ChainTrace::default(),
        };
        match plan.build_request(&self.options.user_agent, &self.variables) {
            Ok((request, secrets)) => {
                for secret in secrets {
                    if !self.request_secrets.contains(&secret) {
                        self.request_secrets.push(secret);
                        self.redactor = None;
                    }
                }
                self.send_request(&mut step, steps, index, &request).await;
            }
            Err(failure) => step.result.failures.push(failure),
        }
        self.finish_step(step)
    }

    /// Sends the request, follows redirects and authentication, and evaluates the last response.
    async fn send_request(
        &mut self,
        step: &mut StepState,
        steps: &Arc<[StepPlan]>,
        index: usize,
        request: &RequestSpec,
    ) {
        let ProbeContext { net, deadline, .. } = self.cx;
        let request_context = RequestContext {
            net,
            connect_options: &self.options.connect_options,
            deadline,
            started: self.started,
            record_exchanges: true,
        };
        let mut cookie_jar = std::mem::take(&mut self.cookie_jar);
        let mut chain = RequestChain::new(request_context, request, &mut cookie_jar);
        let evaluation = loop {
            let (head, body) = match chain.send().await {
                Ok(response) => response,
                Err(failure) => {
                    step.record_exchange(
                        &mut chain,
                        &ExchangeRecord { failure: Some(&failure), ..ExchangeRecord::default() },
                    );
                    break Evaluation { failures: vec![failure], ..Evaluation::default() };
                }
            };
            step.record_facts(&chain, &head);
            let record = ExchangeRecord {
                head: Some(&head),
                max_body_bytes: MAX_EXCERPT_BYTES,
                ..ExchangeRecord::default()
            };
            let redirect_exchange =
                chain.needs_next_request(&head).then(|| chain.build_http_exchange(&record));
            match chain.prepare_next_request(&head) {
                Ok(true) => step.result.exchanges.extend(redirect_exchange),
                Ok(false) => {
                    break self.evaluate_response(step, steps, index, &mut chain, &head, body).await;
                }
                Err(failure) => {
                    step.record_exchange(
                        &mut chain,
                        &ExchangeRecord {
                            head: Some(&head),
                            failure: Some(&failure),
                            ..ExchangeRecord::default()
                        },
                    );
                    step.captures.push(captures::head_capture(&head));
                    break Evaluation { failures: vec![failure], ..Evaluation::default() };
                }
            }
        };
        step.chain_trace = chain.finish();
        self.cookie_jar = cookie_jar;
        step.result.failures.extend(evaluation.failures);
        for (name, value) in evaluation.variables {
            Arc::make_mut(&mut self.variables).set(&name, value);
            self.redactor = None;
            step.result.variable_names.push(name);
        }
    }

    async fn evaluate_response(
        &self,
        step: &mut StepState,
        steps: &Arc<[StepPlan]>,
        index: usize,
        chain: &mut RequestChain<'_>,
        head: &ResponseHead,
        body: ResponseBody,
    ) -> Evaluation {
        let plan = &steps[index];
        let retention = if plan.reads_body() {
            BodyRetention::All
        } else {
            BodyRetention::Prefix(captures::MAX_CAPTURED_BODY_BYTES)
        };
        let (max_body_bytes, deadline) = (self.options.max_body_bytes, self.cx.deadline);
        let content = body.read(retention, max_body_bytes, deadline, &mut chain.exchange_trace.phases).await;
        let elapsed = step.started.elapsed();
        let BodyContent { bytes, wire_bytes, body_bytes, unknown_coding_note, failure } = content;
        step.notes.extend(unknown_coding_note);
        if let Some(facts) = &mut step.http_facts {
            (facts.body_wire_bytes, facts.body_bytes) = (wire_bytes, body_bytes);
        }
        let bytes = Arc::new(bytes);
        let mut evaluation = Evaluation::default();
        if let Some(failure) = &failure {
            evaluation.failures.push(failure.clone());
        } else {
            let status_failure = step.evaluate_status(plan, chain, head);
            let evaluation_input = EvaluationInput {
                step_plans: Arc::clone(steps),
                step_index: index,
                status: head.status,
                elapsed,
                headers: if plan.reads_headers() { header_pairs(head) } else { Vec::new() },
                content_type: content_type(&head.headers).unwrap_or_default().to_owned(),
                body: Arc::clone(&bytes),
                variables: Arc::clone(&self.variables),
                patterns: Arc::clone(&self.options.patterns),
                has_status_failure: status_failure.is_some(),
            };
            let started = Instant::now();
            evaluation = evaluation_input.evaluate(deadline).await;
            evaluation.failures.splice(0..0, status_failure);
            chain.exchange_trace.phases.set(Phase::Validate, started.elapsed());
        }
        let max_recorded_bytes =
            if self.cx.record_exchanges { captures::MAX_CAPTURED_BODY_BYTES } else { MAX_EXCERPT_BYTES };
        let failure = failure.as_ref();
        step.record_exchange(
            chain,
            &ExchangeRecord {
                head: Some(head),
                body: &bytes,
                wire_bytes,
                body_bytes,
                failure,
                max_body_bytes: max_recorded_bytes,
            },
        );
        if !evaluation.failures.is_empty() {
            step.captures.push(captures::head_capture(head));
            step.captures.extend(captures::body_capture(&bytes, content_type(&head.headers)));
        }
        evaluation
    }

    /// Adds the step to the observation and returns whether it passed.
    fn finish_step(&mut self, mut step: StepState) -> bool {
        step.result.duration_us = duration_micros(step.started.elapsed());
        step.result.phases = step.chain_trace.phases;
        self.redact_step(&mut step);
        let StepState {
            result,
            http_facts: facts,
            redirect_warning: warning,
            notes,
            captures,
            chain_trace,
            ..
        } = step;
        let observation = &mut self.observation;
        observation.phases.merge(&chain_trace.phases);
        observation.address = chain_trace.last_exchange.peer_address.or(observation.address);
        if !chain_trace.last_exchange.resolved_addresses.is_empty() {
            observation.facts.resolved_addresses = chain_trace.last_exchange.resolved_addresses;
        }
        if let Some(facts) = chain_trace.last_exchange.tls_facts {
            observation.record_tls_warnings(&facts);
            observation.facts.tls = Some(facts);
        }
        if let Some(mut facts) = facts {
            facts.redirects = chain_trace.redirects;
            observation.facts.http = Some(Box::new(facts));
        }
        if let Some(message) = warning {
            observation.record_warning(WarningKind::RedirectNotFollowed, with_step_prefix(&result, &message));
        }
        for note in notes {
            observation.record_warning(WarningKind::CapabilityDowngrade, with_step_prefix(&result, &note));
        }
        observation.captures.extend(captures);
        let failure = result.failures.first().map(|first| attempt_failure(first, &result));
        let mut result = result;
        result.status = failure.as_ref().map_or(Status::OK, Failure::status);
        observation.details.steps.push(result);
        let passed = failure.is_none();
        if let Some(failure) = failure {
            observation.record_failure(failure);
        }
        passed
    }

    /// Returns the credentials and secret variable values to redact.
    fn all_secrets(&self) -> impl Iterator<Item = &str> {
        self.request_secrets.iter().map(String::as_str).chain(self.variables.secret_values())
    }

    /// Redacts credentials in everything that is kept of the step.
    fn redact_step(&mut self, step: &mut StepState) {
        let redactor = self.redactor.take().unwrap_or_else(|| Redactor::from_secrets(self.all_secrets()));
        let redact_secrets = |text: &mut String| {
            if let Cow::Owned(redacted) = redactor.redact(text) {
                *text = redacted;
            }
        };
        // URLs and bodies: also values whose parameter names mark them as secret.
        let redact_secrets_and_named_values = |text: &mut String| {
            if let Cow::Owned(redacted) = redact_named_values(text) {
                *text = redacted;
            }
            redact_secrets(text);
        };
        step.result.failures.iter_mut().for_each(|failure| redact_secrets(&mut failure.detail));
        step.redirect_warning.iter_mut().for_each(redact_secrets);
        step.http_facts.iter_mut().for_each(|facts| redact_secrets_and_named_values(&mut facts.url));
        step.chain_trace.redirects.iter_mut().for_each(|hop| redact_secrets_and_named_values(&mut hop.url));
        for HttpExchange {
            url,
            request_headers,
            request_body,
            response_headers,
            response_body,
            failure,
            ..
        } in &mut step.result.exchanges
        {
            redact_secrets_and_named_values(url);
            request_headers.map_values(|text| redactor.redact(text));
            response_headers.map_values(|text| redactor.redact(text));
            let bodies = request_body.iter_mut().chain(response_body);
            bodies.for_each(|Excerpt { text, .. }| redact_secrets_and_named_values(text));
            if let Some(failure) = failure {
                redact_secrets(&mut failure.detail);
            }
        }
        for capture in &mut step.captures {
            let Some(text) = capture.content.as_deref().and_then(|content| std::str::from_utf8(content).ok())
            else {
                continue;
            };
            let mut redacted = text.to_owned();
            redact_secrets_and_named_values(&mut redacted);
            if redacted != text {
                *capture = CapturedFile::new(&capture.name, &*capture.media_type, redacted.as_bytes());
            }
        }
        self.redactor = Some(redactor);
    }
}

impl StepState {
    fn record_exchange(&mut self, chain: &mut RequestChain<'_>, record: &ExchangeRecord<'_>) {
        self.result.exchanges.push(chain.build_http_exchange(record));
    }

    fn record_facts(&mut self, chain: &RequestChain<'_>, head: &ResponseHead) {
        self.http_facts = Some(HttpFacts {
            http_status: head.status.as_u16(),
            http_version: version_name(head.version).to_owned(),
            http_reason: head.reason_phrase.as_deref().map(truncate_for_result),
            content_type: content_type(&head.headers).map(truncate_for_result),
            url: chain.url().as_str().to_owned(),
            ..HttpFacts::default()
        });
    }

    /// Returns the failure of a status that fails the step by itself. An assertion on the status replaces this rule
    /// (fields.md 4). For a redirect that is not followed, sets `redirect_warning` and returns `None`.
    fn evaluate_status(
        &mut self,
        plan: &StepPlan,
        chain: &RequestChain<'_>,
        head: &ResponseHead,
    ) -> Option<Failure> {
        if plan.assertions.iter().any(crate::evaluate::assertion::AssertionTemplate::checks_status) {
            return None;
        }
        let (kind, text) = match head.status {
            StatusCode::UNAUTHORIZED if chain.sent_credentials() => {
                (FailureKind::LoginRejected, " after user name and password were sent")
            }
            status if status.as_u16() >= 400 => (FailureKind::HttpErrorStatus, ""),
            status if status.is_informational() => {
                (FailureKind::ResponseInvalid, ", which was not requested")
            }
            status => {
                let redirected = status.is_redirection();
                self.redirect_warning = redirected.then(|| unfollowed_redirect_note(head, chain.url()));
                return None;
            }
        };
        let detail = format!("{} from `{}`{text}", describe_status(head), display_url(chain.url()));
        Some(Failure::new(Phase::Validate, kind, detail))
    }
}

/// Returns the failure of the attempt: the step's first, with the step's name and all its details.
fn attempt_failure(first: &Failure, result: &StepResult) -> Failure {
    let details: Vec<&str> = result.failures.iter().map(|failure| failure.detail.as_str()).collect();
    let mut detail = with_step_prefix(result, &details.join("; "));
    if let Some((end, _)) = detail.char_indices().nth(MAX_DETAIL_CHARS) {
        detail.truncate(end);
        detail.push('…');
    }
    Failure { detail, ..first.clone() }
}

fn with_step_prefix(result: &StepResult, text: &str) -> String {
    format!("step {} `{}`: {text}", result.number, result.name)
}

/// Returns the header fields in the form that assertions read.
fn header_pairs(head: &ResponseHead) -> Vec<(String, String)> {
    let to_text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), to_text(value))).collect()
}
