//! One attempt at a collection: runs its requests in order, once for each row of data.

use serde_json::Value;
use tokio::time::Instant;

use super::options::CollectionOptions;
use super::request_spec::build_spec;
use super::script_context::{ScriptInfo, response_json, script_context};
use crate::collection::{
    ProtocolBehavior, RenderContext, RenderedRequest, RequestItem, ScopeKind, Script, VariableScopes,
    dynamic_value, render_request,
};
use crate::domain::{Failure, FailureKind, Observation, Phase, StepTest, StepTestOutcome, truncate};
use crate::probe::probe_trait::ProbeContext;
use crate::probe::random::random_u128;
use crate::probe::request_steps::{RequestOptions, StepInProgress, StepResponse, StepRunner};
use crate::protocol::http::BodyRetention;
use crate::protocol::http::client::CookieJar;
use crate::redaction::sensitive_names::{is_sensitive_header, is_sensitive_variable};
use crate::sandbox::{Operation, ScriptOutcome, ScriptSandbox};

/// Most requests of a run, those of scripts included.
const MAX_REQUESTS: usize = 500;
/// Most tests of a step in a result.
const MAX_TESTS: usize = 200;
/// Longest name of a test and longest reason in a result, in characters.
const MAX_TEST_CHARS: usize = 300;

pub(super) struct CollectionAttempt<'a> {
    options: &'a CollectionOptions,
    pub(super) runner: StepRunner<'a>,
    scopes: VariableScopes,
    /// Started at the first script.
    pub(super) sandbox: Option<ScriptSandbox>,
    /// What the script in progress asked for and is not answered yet.
    pub(super) open_operations: Vec<Operation>,
    request_count: usize,
    boundary: String,
    /// The first failure of a step; the run goes on after it, as the collection's own tool does.
    first_failure: Option<Failure>,
}

/// Where the run continues.
enum NextRequest {
    Following,
    At(usize),
    End,
}

impl<'a> CollectionAttempt<'a> {
    pub(super) fn new(options: &'a CollectionOptions, cx: ProbeContext<'a>, started: Instant) -> Self {
        let request_options = RequestOptions {
            connect_options: &options.connect_options,
            max_body_bytes: options.max_body_bytes,
        };
        let mut runner = StepRunner::new(cx, request_options, started);
        runner.add_secrets(options.secrets());
        let mut scopes = VariableScopes::default();
        scopes.set_entries(ScopeKind::Collection, options.collection.variables.clone());
        scopes.set_entries(ScopeKind::Globals, options.globals.variables.clone());
        let mut environment = options.environment.variables.clone();
        for (name, value) in &options.preset_variables {
            environment.retain(|(other, _)| other != name);
            environment.push((name.clone(), value.clone()));
        }
        scopes.set_entries(ScopeKind::Environment, environment);
        Self {
            options,
            runner,
            scopes,
            sandbox: None,
            open_operations: Vec::new(),
            request_count: 0,
            boundary: format!("--------------------------{:024}", random_u128() % 10_u128.pow(24)),
            first_failure: None,
        }
    }

    /// Returns the observation, complete up to the point where the attempt stopped.
    pub(super) fn into_observation(self) -> Observation {
        let mut observation = self.runner.observation;
        if let Some(failure) = self.first_failure {
            observation.record_failure(failure.into_project_step_failure());
        }
        observation
    }

    /// Runs all iterations.
    ///
    /// # Errors
    /// Fails when the run cannot go on; failures of steps are kept apart.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        for (iteration, row) in self.options.rows.iter().enumerate() {
            self.scopes.set_entries(ScopeKind::Data, row.clone());
            let mut index = 0;
            while let Some(item) = self.options.collection.requests.get(index) {
                match self.run_item(item, iteration).await? {
                    NextRequest::Following => index += 1,
                    NextRequest::At(next) => index = next,
                    NextRequest::End => break,
                }
            }
        }
        Ok(())
    }

    /// Counts a request that is about to be sent.
    pub(super) fn count_request(&mut self) -> Result<(), Failure> {
        self.request_count += 1;
        if self.request_count > MAX_REQUESTS {
            let detail =
                format!("more than {MAX_REQUESTS} requests; a loop of `setNextRequest` may have no end");
            return Err(Failure::new(Phase::Prepare, FailureKind::ProjectFailed, detail));
        }
        Ok(())
    }

    async fn run_item(&mut self, item: &RequestItem, iteration: usize) -> Result<NextRequest, Failure> {
        self.count_request()?;
        let number = u32::try_from(self.runner.observation.details.steps.len() + 1).unwrap_or(u32::MAX);
        let mut step = self.runner.begin_step(number, &step_name(item));
        let mut next = None;
        let result = self.run_step(&mut step, item, iteration, &mut next).await;
        if let Err(failure) = result {
            step.result.failures.push(failure);
        }
        let secrets: Vec<String> = self.variable_secrets().collect();
        self.runner.forget_redactor();
        let failure = self.runner.finish_step(step, secrets.iter().map(String::as_str));
        let is_timeout = failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::TimedOut)
            && self.runner.cx.deadline.remaining().is_zero();
        if let Some(failure) = failure {
            self.first_failure.get_or_insert(failure);
        }
        if is_timeout {
            return Ok(NextRequest::End);
        }
        self.next_request(next)
    }

    fn next_request(&self, next: Option<Option<String>>) -> Result<NextRequest, Failure> {
        let name = match next {
            None => return Ok(NextRequest::Following),
            Some(None) => return Ok(NextRequest::End),
            Some(Some(name)) => name,
        };
        let requests = &self.options.collection.requests;
        let position = requests.iter().position(|item| item.id == name).or_else(|| {
            // Of several with one name the last one is meant.
            requests.iter().rposition(|item| item.name == name)
        });
        position.map(NextRequest::At).ok_or_else(|| {
            let name = truncate(&name, 100);
            let detail = format!("`setNextRequest` names `{name}`, which is no request of the collection");
            Failure::new(Phase::Validate, FailureKind::ProjectFailed, detail)
        })
    }

    async fn run_step(
        &mut self,
        step: &mut StepInProgress,
        item: &RequestItem,
        iteration: usize,
        next: &mut Option<Option<String>>,
    ) -> Result<(), Failure> {
        let mut location = vec![self.options.collection.name.clone()];
        location.extend(item.folders.iter().cloned());
        location.push(item.name.clone());
        let info = ScriptInfo {
            event: "prerequest",
            iteration,
            iteration_count: self.options.rows.len(),
            request_name: &item.name,
            request_id: &item.id,
            location: &location,
            environment_name: &self.options.environment.name,
        };
        let mut request = item.request.clone();
        for script in &item.prerequest_scripts {
            let context = script_context(info, &self.scopes, &request, None, &self.request_cookies(&request));
            let outcome = self.run_script(step, script, context).await?;
            let has_error = outcome.error.is_some();
            let is_skipped = outcome.is_skipped;
            if !has_error && !outcome.request.is_null() {
                request = outcome.request.clone();
            }
            self.apply(step, script, outcome, next)?;
            if is_skipped {
                step.notes.push("its script skipped the request".to_owned());
                return Ok(());
            }
            if has_error {
                return Ok(());
            }
        }
        let auth = request.get("auth").filter(|auth| !auth.is_null()).or(item.auth.as_ref()).cloned();
        let rendered = self
            .render(&request, auth.as_ref(), &item.behavior)
            .map_err(|reason| Failure::new(Phase::Prepare, FailureKind::VariableInvalid, reason))?;
        let Some(response) = self.send_rendered(step, &rendered, &item.behavior).await else { return Ok(()) };
        let failures_before = step.result.failures.len();
        let started = Instant::now();
        if !item.test_scripts.is_empty() {
            let cookies = self.runner.cookie_jar.cookies_for(&response.url);
            let response = response_json(&response, &cookies);
            let sent = rendered.to_script_json(&request);
            let info = ScriptInfo { event: "test", ..info };
            for script in &item.test_scripts {
                let context = script_context(info, &self.scopes, &sent, Some(&response), &cookies);
                let outcome = self.run_script(step, script, context).await?;
                self.apply(step, script, outcome, next)?;
            }
        }
        step.record_validation(started.elapsed());
        if step.result.failures.len() > failures_before {
            step.capture_response(&response);
        }
        Ok(())
    }

    /// Takes over what a script left: variables, tests, an error.
    fn apply(
        &mut self,
        step: &mut StepInProgress,
        script: &Script,
        outcome: ScriptOutcome,
        next: &mut Option<Option<String>>,
    ) -> Result<(), Failure> {
        self.open_operations.clear();
        if outcome.next.is_some() {
            *next = outcome.next;
        }
        for test in outcome.tests {
            let name = truncate(&test.name, MAX_TEST_CHARS);
            let reason = test.error.as_ref().map(|error| truncate(&error.message, MAX_TEST_CHARS));
            let test_outcome = match (test.skipped, test.passed) {
                (true, _) => StepTestOutcome::Skipped,
                (false, true) => StepTestOutcome::Passed,
                (false, false) => StepTestOutcome::Failed,
            };
            if test_outcome == StepTestOutcome::Failed {
                let detail = format!("`{name}`: {}", reason.as_deref().unwrap_or("it failed"));
                step.result.failures.push(Failure::new(
                    Phase::Validate,
                    FailureKind::AssertionFailed,
                    detail,
                ));
            }
            if step.result.tests.len() < MAX_TESTS {
                step.result.tests.push(StepTest { name, outcome: test_outcome, reason });
            }
        }
        if let Some(error) = outcome.error {
            let detail = truncate(&format!("script of `{}`: {error}", script.owner), 2 * MAX_TEST_CHARS);
            step.result.failures.push(Failure::new(Phase::Validate, FailureKind::ScriptFailed, detail));
            return Ok(());
        }
        let scopes = outcome.scopes;
        for (kind, entries) in [
            (ScopeKind::Local, scopes.local),
            (ScopeKind::Environment, scopes.environment),
            (ScopeKind::Collection, scopes.collection),
            (ScopeKind::Globals, scopes.globals),
        ] {
            for (name, value) in &entries {
                let is_new =
                    self.scopes.entries(kind).iter().all(|(other, old)| other != name || old != value);
                if is_new && !step.result.variable_names.contains(name) {
                    step.result.variable_names.push(truncate(name, MAX_TEST_CHARS));
                }
            }
            self.scopes.set_entries(kind, entries);
        }
        Ok(())
    }

    /// Fills in the placeholders of `request`.
    pub(super) fn render(
        &self,
        request: &Value,
        auth: Option<&Value>,
        behavior: &ProtocolBehavior,
    ) -> Result<RenderedRequest, String> {
        let now = self.runner.cx.clock.now();
        let timestamp = now.to_string().split('.').next().unwrap_or_default().replace(['-', ':'], "");
        let timestamp = format!("{}Z", timestamp.trim_end_matches('Z'));
        let cx = RenderContext {
            scopes: &self.scopes,
            dynamic: &|name| dynamic_value(name, now),
            files: &self.options.files,
            boundary: &self.boundary,
            timestamp: &timestamp,
        };
        render_request(request, auth, behavior, cx)
    }

    pub(super) fn replace(&self, text: &str) -> String {
        let now = self.runner.cx.clock.now();
        self.scopes.replace_in(text, &|name| dynamic_value(name, now)).into_owned()
    }

    /// Sends a request; `None` after a failure, which is then one of the step's.
    pub(super) async fn send_rendered(
        &mut self,
        step: &mut StepInProgress,
        rendered: &RenderedRequest,
        behavior: &ProtocolBehavior,
    ) -> Option<StepResponse> {
        let spec = match build_spec(rendered, behavior, &self.options.user_agent) {
            Ok(spec) => spec,
            Err(failure) => {
                step.result.failures.push(failure);
                return None;
            }
        };
        let header_secrets =
            rendered.headers.iter().filter(|(name, _)| is_sensitive_header(name)).flat_map(|(_, value)| {
                let token = value.split_once(' ').map(|(_, token)| token.to_owned());
                std::iter::once(value.clone()).chain(token)
            });
        self.runner.add_secrets(
            rendered.secrets.iter().cloned().chain(header_secrets).filter(|text| !text.is_empty()),
        );
        self.runner.request_options.connect_options = if behavior.verify_certificates == Some(false) {
            &self.options.unverified_options
        } else {
            &self.options.connect_options
        };
        let kept_jar = behavior.disable_cookies.then(|| std::mem::take(&mut self.runner.cookie_jar));
        let response = self.runner.send(step, &spec, BodyRetention::All).await;
        if let Some(kept) = kept_jar {
            self.runner.cookie_jar = kept;
        }
        response
    }

    /// The cookies that the request of an item would send.
    fn request_cookies(&self, request: &Value) -> Vec<(String, String)> {
        let rendered = self.render(request, None, &ProtocolBehavior::default()).ok();
        let url = rendered.and_then(|rendered| url::Url::parse(&rendered.url).ok());
        url.map(|url| CookieJar::cookies_for(&self.runner.cookie_jar, &url)).unwrap_or_default()
    }

    /// The values of variables whose names suggest credentials.
    fn variable_secrets(&self) -> impl Iterator<Item = String> + '_ {
        let entries = ScopeKind::ALL.into_iter().flat_map(|kind| self.scopes.entries(kind));
        entries
            .filter(|(name, _)| is_sensitive_variable(name))
            .filter_map(|(_, value)| value.as_str().map(str::to_owned))
            .filter(|value| !value.is_empty())
    }
}

fn step_name(item: &RequestItem) -> String {
    let names: Vec<&str> = item.folders.iter().chain([&item.name]).map(String::as_str).collect();
    truncate(&names.join(" / "), 250)
}
