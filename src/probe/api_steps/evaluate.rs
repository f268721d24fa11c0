//! What the answer to a step means: its status, its assertions, its variables.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::step_plan::StepPlan;
use crate::domain::{Failure, FailureKind, Phase};
use crate::evaluate::assertion::{Assertion, ParsedResponse};
use crate::evaluate::template::Variables;
use crate::evaluate::{SearchBudget, charset};
use crate::net::Deadline;
use crate::probe::blocking_pool::run_blocking;

/// Bytes of a body that are looked at in passing.
const LONG_BODY: usize = 32 * 1024;

/// An answer, and by what it is judged; goes to another thread when that takes more than a moment.
pub(super) struct EvaluationInput {
    pub(super) steps: Arc<[StepPlan]>,
    /// Which one of them.
    pub(super) index: usize,
    pub(super) status: StatusCode,
    pub(super) elapsed: Duration,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content_type: String,
    pub(super) body: Arc<Vec<u8>>,
    pub(super) variables: Arc<Variables>,
    /// What is wrong with it already; variables are then not looked for.
    pub(super) failed: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Evaluation {
    /// Everything that is wrong, in the order of the document.
    pub(super) failures: Vec<Failure>,
    /// The variables that were set.
    pub(super) variables: Vec<(String, String)>,
}

impl EvaluationInput {
    /// Judges it, not longer than until `deadline`. The target has delivered by then, so that taking longer is no
    /// fault of its.
    pub(super) async fn evaluate(self, deadline: Deadline) -> Evaluation {
        let plan = &self.steps[self.index];
        if self.body.len() <= LONG_BODY && !plan.has_regex(&self.content_type) {
            let text = charset::decode(&self.body, Some(&self.content_type));
            let answer = self.to_answer(&text).with_inline_fuel();
            let evaluation = self.evaluate_response(&answer);
            if !answer.is_fuel_exhausted() {
                return evaluation;
            }
        }
        let internal = |failure| Evaluation { failures: vec![failure], ..Evaluation::default() };
        let judge = move || {
            let text = charset::decode(&self.body, Some(&self.content_type));
            let answer = self
                .to_answer(&text)
                .with_search_budget(SearchBudget::with_remaining(|| deadline.remaining()));
            let evaluation = self.evaluate_response(&answer);
            if answer.is_search_budget_exhausted() {
                let words = format!(
                    "searching {} bytes would take longer than the timeout; simplify the regular expressions",
                    text.len()
                );
                return internal(Failure::new(Phase::Validate, FailureKind::Internal, words));
            }
            evaluation
        };
        run_blocking("judging the assertions", deadline, judge).await.unwrap_or_else(internal)
    }

    fn to_answer<'a>(&'a self, text: &'a str) -> ParsedResponse<'a> {
        ParsedResponse::new(self.status.as_u16(), self.elapsed, &self.headers, text)
    }

    fn evaluate_response(&self, answer: &ParsedResponse<'_>) -> Evaluation {
        let plan = &self.steps[self.index];
        let mut evaluation = Evaluation::default();
        for template in &plan.assertions {
            let judged =
                template.resolve(&self.variables).map(|assertion| Assertion::evaluate(&assertion, answer));
            evaluation.failures.extend(judged.unwrap_or_else(Some));
        }
        if self.failed || !evaluation.failures.is_empty() {
            return evaluation;
        }
        for variable in &plan.variables {
            match variable.extract(answer, &self.content_type) {
                Ok(value) => evaluation.variables.push((variable.name().to_owned(), value)),
                Err(failure) => evaluation.failures.push(failure),
            }
        }
        evaluation
    }
}
