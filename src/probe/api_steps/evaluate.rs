//! Evaluates the assertions of a step on its response, and extracts its variables.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::step_plan::StepPlan;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::PatternCache;
use crate::evaluate::assertion::{Assertion, ParsedResponse};
use crate::evaluate::template::Variables;
use crate::evaluate::{LazyPageXml, SearchBudget, charset};
use crate::net::Deadline;
use crate::probe::blocking_pool::run_blocking;

/// Largest body that is evaluated on the async thread, in bytes.
const INLINE_BODY_BYTES: usize = 32 * 1024;

/// A response with the rules to evaluate it by. Sent to another thread when the evaluation takes long.
pub(super) struct EvaluationInput {
    pub(super) step_plans: Arc<[StepPlan]>,
    /// Index of the step in `step_plans`.
    pub(super) step_index: usize,
    pub(super) status: StatusCode,
    pub(super) elapsed: Duration,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content_type: String,
    pub(super) body: Arc<Vec<u8>>,
    pub(super) variables: Arc<Variables>,
    /// Compiled patterns of the account.
    pub(super) patterns: Arc<PatternCache>,
    /// Whether the status failed the response already; variables are then not extracted.
    pub(super) has_status_failure: bool,
}

/// The result of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Evaluation {
    /// All failures, in the order of the document.
    pub(super) failures: Vec<Failure>,
    /// The variables that were extracted, as name and value.
    pub(super) variables: Vec<(String, String)>,
}

impl EvaluationInput {
    /// Evaluates the response, until `deadline` at most. The target has responded by then, so exceeding it is an error
    /// of Vigie.
    pub(super) async fn evaluate(self, deadline: Deadline) -> Evaluation {
        let plan = &self.step_plans[self.step_index];
        if self.body.len() <= INLINE_BODY_BYTES && !plan.is_slow_to_evaluate(&self.content_type) {
            let text = charset::decode_body(&self.body, Some(&self.content_type));
            let page = LazyPageXml::default();
            let response = self.parse_response(&text, &page).with_inline_node_budget();
            let evaluation = self.evaluate_response(&response);
            if !response.is_node_budget_exhausted() {
                return evaluation;
            }
        }
        let with_failure = |failure| Evaluation { failures: vec![failure], ..Evaluation::default() };
        let evaluate = move || {
            let text = charset::decode_body(&self.body, Some(&self.content_type));
            let page = LazyPageXml::default();
            let response = self
                .parse_response(&text, &page)
                .with_search_budget(SearchBudget::with_remaining_time(|| deadline.remaining()));
            let evaluation = self.evaluate_response(&response);
            if response.is_search_budget_exhausted() {
                let detail = format!(
                    "searching {} bytes would take longer than the timeout; simplify the regular expressions",
                    text.len()
                );
                return with_failure(Failure::new(Phase::Validate, FailureKind::Internal, detail));
            }
            evaluation
        };
        run_blocking("evaluating the assertions", deadline, evaluate).await.unwrap_or_else(with_failure)
    }

    /// Prepares the response with the decoded body `text`; `page` keeps the parsed document if it is HTML.
    fn parse_response<'a>(&'a self, text: &'a str, page: &'a LazyPageXml) -> ParsedResponse<'a> {
        let response = ParsedResponse::new(self.status.as_u16(), self.elapsed, &self.headers, text);
        let media_type = self.content_type.split(';').next().unwrap_or_default().trim();
        if media_type.eq_ignore_ascii_case("text/html") { response.with_html(page) } else { response }
    }

    fn evaluate_response(&self, response: &ParsedResponse<'_>) -> Evaluation {
        let plan = &self.step_plans[self.step_index];
        let mut evaluation = Evaluation::default();
        for template in &plan.assertions {
            let failure = template
                .resolve(&self.variables, &self.patterns)
                .map(|assertion| Assertion::evaluate(&assertion, response));
            evaluation.failures.extend(failure.unwrap_or_else(Some));
        }
        if self.has_status_failure || !evaluation.failures.is_empty() {
            return evaluation;
        }
        for variable in &plan.variable_extractors {
            match variable.extract(response, &self.content_type, &self.patterns) {
                Ok(value) => evaluation.variables.push((variable.name().to_owned(), value)),
                Err(failure) => evaluation.failures.push(failure),
            }
        }
        evaluation
    }
}
