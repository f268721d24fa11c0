//! Runs one script of a collection and answers what it asks for.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use url::Url;

use super::attempt::CollectionAttempt;
use super::options::{CollectionOptions, TURN_RESERVE};
use super::script_context::response_json;
use super::script_process::ScriptProcess;
use crate::collection::{ProtocolBehavior, Script, add_scheme};
use crate::domain::{Failure, FailureKind, Phase};
use crate::probe::request_steps::StepInProgress;
use crate::sandbox::{CookieAction, HostRequest, Operation, OperationKind, ScriptOutcome, Turn};

/// Most requests and questions of a script that wait for their answers.
const MAX_OPEN_OPERATIONS: usize = 1000;

impl CollectionAttempt<'_> {
    /// Runs `script` to its end. Requests that it sends are exchanges of `step`.
    pub(super) async fn run_script(
        &mut self,
        step: &mut StepInProgress,
        script: &Script,
        context: String,
    ) -> Result<ScriptOutcome, Failure> {
        let started = Instant::now();
        let code = script.code.to_string();
        let mut turn = self.turn(|most_us| HostRequest::Begin { code, context, most_us }).await?;
        loop {
            let (operations, timer_due_ms) = match turn {
                Turn::Done(outcome) => return Ok(*outcome),
                Turn::Waiting { operations, timer_due_ms } => (operations, timer_due_ms),
            };
            self.open_operations.extend(operations);
            if self.open_operations.len() > MAX_OPEN_OPERATIONS {
                let detail = format!("more than {MAX_OPEN_OPERATIONS} requests of a script wait");
                return Err(Failure::new(Phase::Validate, FailureKind::ScriptFailed, detail));
            }
            // In their order: one connection at a time is what the check's own requests use, too.
            if !self.open_operations.is_empty() {
                let operation = self.open_operations.remove(0);
                let id = operation.id;
                let answer = self.answer(step, operation).await?.to_string();
                let now_ms = millis(started);
                turn = self.turn(|most_us| HostRequest::Answer { id, answer, now_ms, most_us }).await?;
            } else if let Some(due) = timer_due_ms {
                let wait = Duration::try_from_secs_f64((due / 1000.0).max(0.0)).unwrap_or(Duration::MAX);
                let wake_at = started.checked_add(wait);
                let sleep = async {
                    match wake_at {
                        Some(at) => sleep_until(at).await,
                        None => std::future::pending().await,
                    }
                };
                self.runner.cx.deadline.enforce(Phase::Validate, sleep).await?;
                let now_ms = millis(started).max(due);
                turn = self.turn(|most_us| HostRequest::Tick { now_ms, most_us }).await?;
            } else {
                let detail = format!("the script of `{}` waits for nothing", script.owner);
                return Err(Failure::new(Phase::Validate, FailureKind::Internal, detail));
            }
        }
    }

    /// Runs a turn of the script in its process, which is started when there is none.
    async fn turn(&mut self, request: impl FnOnce(u64) -> HostRequest) -> Result<Turn, Failure> {
        let deadline = self.runner.cx.deadline;
        let process = if let Some(process) = self.script_process.take() {
            process
        } else {
            let CollectionOptions { script_program, customer_id, .. } = self.options;
            ScriptProcess::open(script_program, *customer_id, self.runner.cx.clock.now(), deadline).await?
        };
        let most = deadline.remaining().saturating_sub(TURN_RESERVE);
        let request = request(u64::try_from(most.as_micros()).unwrap_or(u64::MAX));
        let (turn, process) = process.turn(request, most).await?;
        self.script_process = process;
        Ok(turn)
    }

    async fn answer(&mut self, step: &mut StepInProgress, operation: Operation) -> Result<Value, Failure> {
        Ok(match operation.kind {
            OperationKind::Request { request } => self.send_for_script(step, &request).await?,
            OperationKind::Cookie { action, url, name, value } => self.cookie(action, &url, name, value),
        })
    }

    /// Sends a request of `pm.sendRequest`. Its failure is one of the script, which may handle it.
    async fn send_for_script(
        &mut self,
        step: &mut StepInProgress,
        request: &Value,
    ) -> Result<Value, Failure> {
        self.count_request()?;
        let auth = request.get("auth").filter(|auth| !auth.is_null()).cloned();
        let behavior = ProtocolBehavior::default();
        let error = |text: String| json!({"error": text});
        let rendered = match self.render(request, auth.as_ref(), &behavior) {
            Ok(rendered) => rendered,
            Err(reason) => return Ok(error(reason)),
        };
        let failures_before = step.result.failures.len();
        let response = self.send_rendered(step, &rendered, &behavior).await;
        if let Some(response) = response {
            let cookies = self.runner.cookie_jar.cookies_for(&response.url);
            return Ok(json!({"response": response_json(&response, &cookies)}));
        }
        let failures = step.result.failures.split_off(failures_before);
        Ok(error(failures.first().map_or_else(|| "it failed".to_owned(), ToString::to_string)))
    }

    fn cookie(
        &mut self,
        action: CookieAction,
        url: &str,
        name: Option<String>,
        value: Option<String>,
    ) -> Value {
        let Ok(url) = Url::parse(&add_scheme(self.render_context().replace_in(url))) else {
            return json!({"error": "the URL of the cookie cannot be used"});
        };
        let jar = &mut self.runner.cookie_jar;
        let name = name.unwrap_or_default();
        let cookies = jar.cookies_for(&url);
        match action {
            CookieAction::Get => {
                json!({"value": cookies.into_iter().find(|(other, _)| *other == name).map(|(_, value)| value)})
            }
            CookieAction::GetAll => {
                let list: Vec<Value> =
                    cookies.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
                json!({"value": list})
            }
            CookieAction::Set => {
                let value = value.unwrap_or_default();
                jar.set(&url, &name, &value);
                json!({"value": {"name": name, "value": value}})
            }
            CookieAction::Unset => {
                jar.remove(&url, Some(&name));
                json!({"value": null})
            }
            CookieAction::Clear => {
                jar.remove(&url, None);
                json!({"value": null})
            }
        }
    }
}

fn millis(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1000.0
}
