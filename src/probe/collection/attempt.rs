//! One attempt at a collection: runs its requests in order, once for each row of data.

use std::collections::HashMap;

use serde_json::Value;
use tokio::time::Instant;

use super::options::{CollectionOptions, TURN_RESERVE};
use super::request_spec::build_spec;
use super::script_context::{ScriptInfo, response_json, script_context};
use super::script_process::ScriptProcess;

use crate::collection::{
    ProtocolBehavior, RenderContext, RenderedRequest, RequestItem, ScopeKind, Script, VariableScopes,
    render_request,
};
use crate::domain::{
    Failure, FailureKind, Observation, Phase, StepTest, StepTestOutcome, WarningKind, truncate,
};
use crate::probe::probe_trait::ProbeContext;
use crate::probe::random::random_u128;
use crate::probe::request_steps::{RequestOptions, StepInProgress, StepResponse, StepRunner, TestLimit};
use crate::protocol::http::BodyRetention;
use crate::redaction::sensitive_names::{is_sensitive_header, token_after_scheme};
use crate::sandbox::{NextRequest, Operation, ScriptOutcome};

/// Most requests of a run, those of scripts included.
const MAX_REQUESTS: usize = 500;
/// Most variables of a scope.
const MAX_VARIABLES: usize = 5_000;
/// Most names of variables that a step shows.
const MAX_VARIABLE_NAMES: usize = 100;
/// Most files that are kept as evidence.
const MAX_CAPTURES: usize = 50;
/// Most bytes of the console of a step.
const MAX_CONSOLE_BYTES: usize = 512 * 1024;
/// Longest name of a variable in a result, in characters.
const MAX_NAME_CHARS: usize = 300;
/// Longest description of a script that failed, in characters.
const MAX_DETAIL_CHARS: usize = 600;

pub(super) struct CollectionAttempt<'a> {
    pub(super) options: &'a CollectionOptions,
    pub(super) runner: StepRunner<'a>,
    scopes: VariableScopes,
    /// Started at the first script.
    pub(super) script_process: Option<ScriptProcess>,
    /// What the script in progress asked for and is not answered yet.
    pub(super) open_operations: Vec<Operation>,
    request_count: usize,
    test_limit: TestLimit,
    /// What the scripts of the step in progress wrote to the console.
    console: String,
    boundary: String,
    /// The first failure of a step; the run goes on after it, as the collection's own tool does.
    first_failure: Option<Failure>,
}

/// Where the run continues after a request.
enum Continuation {
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
            script_process: None,
            open_operations: Vec::new(),
            request_count: 0,
            test_limit: TestLimit::default(),
            console: String::new(),
            boundary: format!("--------------------------{:024}", random_u128() % 10_u128.pow(24)),
            first_failure: None,
        }
    }

    /// Returns the observation, complete up to the point where the attempt stopped: with `run_failure`, which ended it, or
    /// else with the first failure of a step.
    pub(super) fn into_observation(self, run_failure: Option<Failure>) -> Observation {
        if let Some(process) = self.script_process {
            process.release();
        }
        let mut observation = self.runner.observation;
        let step_failure = self.first_failure.map(Failure::into_project_step_failure);
        if let Some(failure) = run_failure.or(step_failure) {
            observation.record_failure(failure);
        }
        observation
    }

    /// Runs all iterations.
    ///
    /// # Errors
    /// Fails when the run cannot go on; failures of steps are kept apart.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        for (iteration, row) in self.options.rows.iter().enumerate() {
            self.set_variables(ScopeKind::Data, row.clone());
            let mut index = 0;
            while let Some(item) = self.options.collection.requests.get(index) {
                let next = self.run_item(item, iteration).await?;
                if self.runner.cx.deadline.remaining().is_zero() {
                    self.note(format!("the timeout ended the run after {} requests", self.request_count));
                    return Ok(());
                }
                match next {
                    Continuation::Following => index += 1,
                    Continuation::At(next) => index = next,
                    Continuation::End => break,
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, text: String) {
        self.runner.observation.record_warning(WarningKind::Informational, text);
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

    async fn run_item(&mut self, item: &RequestItem, iteration: usize) -> Result<Continuation, Failure> {
        self.count_request()?;
        let number = u32::try_from(self.runner.observation.details.steps.len() + 1).unwrap_or(u32::MAX);
        let mut step = self.runner.begin_step(number, &step_name(item));
        let mut next = NextRequest::Following;
        let result = self.run_step(&mut step, item, iteration, &mut next).await;
        if let Err(failure) = result {
            step.result.failures.push(failure);
        }
        let console = std::mem::take(&mut self.console);
        let keeps_console = !step.result.failures.is_empty() || self.runner.cx.record_exchanges;
        if keeps_console && !console.is_empty() {
            step.capture_text("console.txt", &console);
        }
        let failure = self.runner.finish_step(step, self.scopes.secret_values());
        self.runner.observation.captures.truncate(MAX_CAPTURES);
        if let Some(failure) = failure {
            self.first_failure.get_or_insert(failure);
        }
        self.next_request(next)
    }

    fn next_request(&self, next: NextRequest) -> Result<Continuation, Failure> {
        let name = match next {
            NextRequest::Following => return Ok(Continuation::Following),
            NextRequest::End => return Ok(Continuation::End),
            NextRequest::Named(name) => name,
        };
        let requests = &self.options.collection.requests;
        let position = requests.iter().position(|item| item.id == name).or_else(|| {
            // Of several with one name the last one is meant.
            requests.iter().rposition(|item| item.name == name)
        });
        position.map(Continuation::At).ok_or_else(|| {
            let name = self.runner.redact(&truncate(&name, 100));
            let detail = format!("`setNextRequest` names `{name}`, which is no request of the collection");
            Failure::new(Phase::Validate, FailureKind::ProjectFailed, detail)
        })
    }

    async fn run_step(
        &mut self,
        step: &mut StepInProgress,
        item: &RequestItem,
        iteration: usize,
        next: &mut NextRequest,
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
            let is_skipped = outcome.is_skipped;
            if !outcome.request.is_null() {
                request.clone_from(&outcome.request);
            }
            self.apply(step, script, outcome, next);
            if is_skipped {
                step.notes.push("its script skipped the request".to_owned());
                return Ok(());
            }
        }
        let auth = request.get("auth").filter(|auth| !auth.is_null()).or(item.auth.as_deref()).cloned();
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
                self.apply(step, script, outcome, next);
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
        next: &mut NextRequest,
    ) {
        self.open_operations.clear();
        for line in outcome.console {
            if self.console.len() + line.level.len() + line.text.len() > MAX_CONSOLE_BYTES {
                break;
            }
            self.console.extend([line.level.as_str(), ": ", line.text.as_str(), "\n"]);
        }
        if outcome.next != NextRequest::Following {
            *next = outcome.next;
        }
        let tests = outcome.tests.into_iter().map(|test| StepTest {
            name: test.name,
            outcome: match (test.skipped, test.passed) {
                (true, _) => StepTestOutcome::Skipped,
                (false, true) => StepTestOutcome::Passed,
                (false, false) => StepTestOutcome::Failed,
            },
            reason: test.error.map(|error| error.message),
        });
        self.test_limit.add_tests(step, tests, "");
        if let Some(error) = outcome.error {
            let is_timeout = error.is_timeout && self.runner.cx.deadline.remaining() <= TURN_RESERVE;
            let kind = if is_timeout { FailureKind::TimedOut } else { FailureKind::ScriptFailed };
            let detail = truncate(&format!("script of `{}`: {error}", script.owner), MAX_DETAIL_CHARS);
            step.result.failures.push(Failure::new(Phase::Validate, kind, detail));
        }
        let Some(scopes) = outcome.scopes else { return };
        for (kind, entries) in [
            (ScopeKind::Local, scopes.local),
            (ScopeKind::Environment, scopes.environment),
            (ScopeKind::Collection, scopes.collection),
            (ScopeKind::Globals, scopes.globals),
        ] {
            if entries.len() > MAX_VARIABLES {
                let detail = format!("script of `{}`: more than {MAX_VARIABLES} variables", script.owner);
                step.result.failures.push(Failure::new(Phase::Validate, FailureKind::ScriptFailed, detail));
                continue;
            }
            let old: HashMap<&str, &Value> =
                self.scopes.entries(kind).iter().map(|(name, value)| (name.as_str(), value)).collect();
            let changed = entries.iter().filter(|(name, value)| old.get(name.as_str()) != Some(&value));
            for (name, _) in changed {
                let name = truncate(name, MAX_NAME_CHARS);
                let names = &mut step.result.variable_names;
                if names.len() < MAX_VARIABLE_NAMES && !names.contains(&name) {
                    names.push(name);
                }
            }
            self.set_variables(kind, entries);
        }
    }

    fn set_variables(&mut self, kind: ScopeKind, entries: Vec<(String, Value)>) {
        if self.scopes.entries(kind) != entries {
            self.scopes.set_entries(kind, entries);
            self.runner.forget_redactor();
        }
    }

    /// Fills in the placeholders of `request`.
    pub(super) fn render(
        &self,
        request: &Value,
        auth: Option<&Value>,
        behavior: &ProtocolBehavior,
    ) -> Result<RenderedRequest, String> {
        render_request(request, auth, behavior, self.render_context())
    }

    pub(super) fn render_context(&self) -> RenderContext<'_> {
        RenderContext {
            scopes: &self.scopes,
            files: &self.options.files,
            boundary: &self.boundary,
            now: self.runner.cx.clock.now(),
        }
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
                std::iter::once(value.clone()).chain(token_after_scheme(value).map(str::to_owned))
            });
        // A login in the URL is sent as one of the request.
        let url_password =
            url::Url::parse(&rendered.url).ok().and_then(|url| url.password().map(str::to_owned));
        let url_password = url_password.into_iter().flat_map(|password| {
            let decoded = percent_encoding::percent_decode_str(&password).decode_utf8_lossy().into_owned();
            [decoded, password]
        });
        self.runner.add_secrets(url_password);
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
        let url = url::Url::parse(&self.render_context().render_url(request)).ok();
        url.map(|url| self.runner.cookie_jar.cookies_for(&url)).unwrap_or_default()
    }
}

fn step_name(item: &RequestItem) -> String {
    let names: Vec<&str> = item.folders.iter().chain([&item.name]).map(String::as_str).collect();
    truncate(&names.join(" / "), 250)
}
