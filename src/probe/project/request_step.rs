//! Runs a step that sends a request.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::assertions::{ResponseFacts, check_assertions};
use super::project_run::{ProjectRun, earlier};
use super::request_builder::{BuiltRequest, build_request};
use super::resolver::CaseResolver;
use super::run_state::StoredResponse;
use crate::domain::{Failure, FailureKind, Phase, StepTest};
use crate::evaluate::charset;
use crate::net::Deadline;
use crate::probe::request_steps::{StepInProgress, StepResponse};
use crate::project::model::{CaseIndex, RequestStep};
use crate::project::property_owner::PropertyOwner;
use crate::protocol::http::BodyRetention;
use crate::protocol::http::client::{CookieJar, content_type};
use crate::syntax::escape::escape_expansions;

/// Maximum number of requests of a run.
const MAX_REQUESTS: u32 = 500;

impl ProjectRun<'_> {
    /// Sends the request of a step and checks the response. Returns the failure of the step; an error ends the run.
    pub(super) async fn run_request(
        &mut self,
        case: CaseIndex,
        step: usize,
        request: &RequestStep,
    ) -> Result<Option<Failure>, Failure> {
        self.request_count += 1;
        if self.request_count > MAX_REQUESTS {
            let detail = format!("it sends more than {MAX_REQUESTS} requests");
            return Err(Failure::new(Phase::Prepare, FailureKind::ProjectFailed, detail));
        }
        if !self.keeps_session {
            self.runner.cookie_jar = CookieJar::default();
        }
        let mut in_progress = self.begin_step(case, step);
        let result = self.build_and_exchange(&mut in_progress, case, step, request).await;
        in_progress.result.failures.extend(result.as_ref().err().cloned());
        let failure = self.finish_step(in_progress);
        result.map(|()| failure)
    }

    async fn build_and_exchange(
        &mut self,
        in_progress: &mut StepInProgress,
        case: CaseIndex,
        step: usize,
        request: &RequestStep,
    ) -> Result<(), Failure> {
        let (user_agent, own_request) = (self.options.user_agent.clone(), request.clone());
        let budget = self.step_budget();
        let built = self
            .compute(0, move |state| {
                build_request(&CaseResolver::new(state, case, &budget), step, &own_request, &user_agent)
            })
            .await?;
        match built {
            Ok(built) => self.exchange(in_progress, case, step, request, built).await,
            Err(reason) => {
                let failure = Failure::new(Phase::Prepare, FailureKind::VariableInvalid, reason);
                in_progress.result.failures.push(failure);
                Ok(())
            }
        }
    }

    /// Sends the request, stores the response and checks the assertions.
    async fn exchange(
        &mut self,
        in_progress: &mut StepInProgress,
        case: CaseIndex,
        step: usize,
        request: &RequestStep,
        built: BuiltRequest,
    ) -> Result<(), Failure> {
        self.runner.add_secrets(built.secrets);
        self.state.set_response(case, step, None);
        let raw_request = escape_expansions(built.body_text.into()).into_owned();
        self.state.set_property(case, PropertyOwner::Step(step), "RawRequest", (raw_request, true));
        self.check_memory()?;
        let run_deadline = self.runner.cx.deadline;
        if let Some(timeout_ms) = built.timeout_ms {
            self.runner.cx.deadline =
                earlier(run_deadline, Deadline::within(Duration::from_millis(timeout_ms)));
        }
        let response = self.runner.send(in_progress, &built.spec, BodyRetention::All).await;
        self.runner.cx.deadline = run_deadline;
        let Some(response) = response else { return Ok(()) };
        let started = Instant::now();
        let (tests, timeout) = self.check_response(case, step, request, &response).await?;
        self.test_limit.add_tests(in_progress, tests, "assertion ");
        in_progress.result.failures.extend(timeout);
        in_progress.record_validation(started.elapsed());
        if !in_progress.result.failures.is_empty() || self.options.captures.every_step {
            in_progress.capture_response(&response);
        }
        Ok(())
    }

    async fn check_response(
        &mut self,
        case: CaseIndex,
        step: usize,
        request: &RequestStep,
        response: &StepResponse,
    ) -> Result<(Vec<StepTest>, Option<Failure>), Failure> {
        let content_type = content_type(&response.head.headers).unwrap_or_default().to_owned();
        let status = response.head.status;
        let facts = ResponseFacts {
            status: status.as_u16(),
            elapsed: response.elapsed,
            deadline: self.runner.cx.deadline,
            patterns: Arc::clone(&self.options.patterns),
        };
        let (body, is_error) = (Arc::clone(&response.body), status.as_u16() >= 400);
        let xml_namespace = xml_namespace(request, &response.url);
        let budget = self.response_budget(response.body.len());
        self.compute(response.body.len(), move |state| {
            let text = charset::decode_body(&body, Some(&content_type));
            let stored = StoredResponse {
                body: Arc::from(&*text),
                content_type,
                xml_root: if is_error { "Fault" } else { "Response" },
                xml_namespace,
            };
            state.set_response(case, step, Some(stored));
            check_assertions(state, case, step, &facts, &budget)
        })
        .await
    }
}

/// Returns the namespace that SoapUI gives to JSON as XML.
fn xml_namespace(request: &RequestStep, url: &url::Url) -> String {
    match request.original_uri.trim() {
        "" => format!("{}://{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path()),
        original if original.contains('{') => {
            format!("{}://{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
        }
        original => original.to_owned(),
    }
}
