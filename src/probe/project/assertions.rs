//! The assertions on a response.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use super::resolver::CaseResolver;
use super::run_state::{RunState, StoredResponse};
use super::step_budget::StepBudget;
use crate::domain::{Failure, FailureKind, Phase, StepTest, StepTestOutcome};
use crate::evaluate::json_value::{read_json, value_count, value_text};
use crate::evaluate::xml_query::{ContentComparison, has_soap_fault, is_similar, match_content};
use crate::evaluate::{PatternCache, SearchBudget};
use crate::net::Deadline;
use crate::project::model::{AssertionRule, CaseIndex, ResponseAssertion, StepAction, XmlComparison};
use crate::syntax::path_expression::parse_xpath_with_prolog;
use crate::syntax::pattern::HaystackKind;

/// What assertions know of a response beside its body.
#[derive(Clone)]
pub(super) struct ResponseFacts {
    pub(super) status: u16,
    pub(super) elapsed: Duration,
    /// Assertions are checked until then: beyond it nobody reads the result.
    pub(super) deadline: Deadline,
    /// Compiled patterns of the account.
    pub(super) patterns: Arc<PatternCache>,
}

/// Checks the assertions of a step on its stored response. Returns each of them with its outcome, and a timeout when
/// it left some out.
pub(super) fn check_assertions(
    state: &RunState,
    case: CaseIndex,
    step: usize,
    facts: &ResponseFacts,
    budget: &StepBudget,
) -> (Vec<StepTest>, Option<Failure>) {
    let StepAction::Request(request) = &state.project.case(case).steps[step].action else {
        return (Vec::new(), None);
    };
    let Some(response) = state.step(case, step).and_then(|step| step.response.as_ref()) else {
        return (Vec::new(), None);
    };
    let resolver = CaseResolver::new(state, case, budget);
    // A quarter of the time is kept back: a search takes longer than estimated while others run.
    let reserve = facts.deadline.timeout / 4;
    let remaining = || facts.deadline.remaining().saturating_sub(reserve);
    let search_budget = SearchBudget::with_remaining_time(remaining);
    let check = AssertionCheck { resolver, response, facts, search_budget };
    let assertions = request.assertions.iter().take_while(|_| !facts.deadline.is_expired());
    let to_test = |assertion: &ResponseAssertion| {
        let reason = check.holds(&assertion.rule).err();
        if reason.is_some() && (budget.is_used_up() || check.search_budget.is_exhausted()) {
            return None;
        }
        let outcome = if reason.is_some() { StepTestOutcome::Failed } else { StepTestOutcome::Passed };
        Some(StepTest { name: assertion.name.clone(), outcome, reason })
    };
    let tests: Vec<StepTest> = assertions.map_while(to_test).collect();
    let unchecked = request.assertions.len() - tests.len();
    let timeout = (unchecked > 0).then(|| {
        let (count, timeout) = (request.assertions.len(), facts.deadline.timeout);
        if budget.nodes.get() == 0 {
            let detail =
                format!("{unchecked} of {count} assertions were not checked: their paths visit too much");
            return Failure::new(Phase::Validate, FailureKind::Internal, detail);
        }
        let detail = format!("{unchecked} of {count} assertions were not checked within {timeout:?}");
        Failure::new(Phase::Validate, FailureKind::TimedOut, detail)
    });
    (tests, timeout)
}

struct AssertionCheck<'s> {
    resolver: CaseResolver<'s>,
    response: &'s StoredResponse,
    facts: &'s ResponseFacts,
    /// Limits the searches of regular expressions.
    search_budget: SearchBudget<'s>,
}

impl AssertionCheck<'_> {
    /// Fails with the reason when `rule` does not hold.
    fn holds(&self, rule: &AssertionRule) -> Result<(), String> {
        match rule {
            AssertionRule::Status { codes, negated } => self.check_status(codes, *negated),
            AssertionRule::Contains { token, ignore_case, is_regex, negated } => {
                let is_found = self.contains(token, *ignore_case, *is_regex)?;
                match (is_found, negated) {
                    // Nothing to search for is right both ways.
                    (None, _) | (Some(true), false) | (Some(false), true) => Ok(()),
                    (Some(false), false) => Err("the response does not contain the text".to_owned()),
                    (Some(true), true) => Err("the response contains the text".to_owned()),
                }
            }
            AssertionRule::XPath { path, content, comparison } => {
                self.check_xpath(path, content, *comparison)
            }
            AssertionRule::JsonEquals { path, content, allow_wildcards } => {
                let content = self.resolver.expand(content)?;
                let found = self.read_json(path)?.ok_or("the JSONPath selects nothing")?;
                let text = value_text(&found);
                if text == content || *allow_wildcards && is_similar(&content, &text) {
                    Ok(())
                } else {
                    Err(format!("the value is {}", excerpt(&text)))
                }
            }
            AssertionRule::JsonCount { path, content } => {
                let count = self.read_json(path)?.map_or(0, |value| value_count(&value));
                self.check_equal(&count.to_string(), content, "the JSONPath selects")
            }
            AssertionRule::JsonExists { path, content } => {
                let found = self.read_json(path)?;
                let exists = found.is_some_and(|value| {
                    !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty())
                });
                self.check_equal(&exists.to_string(), content, "the value exists:")
            }
            AssertionRule::JsonMatches { path, pattern, content } => {
                let text = self.read_json(path)?.map(|value| value_text(&value));
                let matches = match text {
                    Some(text) => self.matches_whole(pattern, &text)?,
                    None => false,
                };
                self.check_equal(&matches.to_string(), content, "the value matches:")
            }
            AssertionRule::ResponseTime { limit_ms } => self.check_response_time(limit_ms),
            AssertionRule::SoapResponse => has_soap_fault(&self.response.body).map(drop),
            AssertionRule::SoapFault => {
                if has_soap_fault(&self.response.body)? {
                    Ok(())
                } else {
                    Err("the response is not a fault".to_owned())
                }
            }
            AssertionRule::NoSoapFault => {
                if has_soap_fault(&self.response.body)? {
                    Err("the response is a fault".to_owned())
                } else {
                    Ok(())
                }
            }
        }
    }

    fn check_status(&self, codes: &str, negated: bool) -> Result<(), String> {
        let codes = self.resolver.expand(codes)?;
        let status = self.facts.status.to_string();
        let is_listed = codes.split(',').any(|code| code.trim() == status);
        match (is_listed, negated) {
            (true, false) | (false, true) => Ok(()),
            (false, false) => Err(format!("the status {status} is none of {}", excerpt(&codes))),
            (true, true) => Err(format!("the status {status} is one of {}", excerpt(&codes))),
        }
    }

    /// Whether the body contains `token`; `None` for an empty token. A regular expression must match all of it.
    fn contains(&self, token: &str, ignore_case: bool, is_regex: bool) -> Result<Option<bool>, String> {
        let token = self.resolver.expand(token)?.replace("\r\n", "\n");
        if token.is_empty() {
            return Ok(None);
        }
        let body = self.response.body.replace("\r\n", "\n");
        Ok(Some(match (is_regex, ignore_case) {
            (true, _) => self.matches_whole(&token, &body)?,
            (false, true) => body.to_uppercase().contains(&token.to_uppercase()),
            (false, false) => body.contains(&token),
        }))
    }

    fn matches_whole(&self, pattern: &str, text: &str) -> Result<bool, String> {
        let pattern = format!("\\A(?:{pattern})\\z");
        let compiled = self.facts.patterns.compile(&pattern, HaystackKind::Text);
        let compiled = compiled.map_err(|error| format!("the regular expression cannot be used: {error}"))?;
        Ok(self.search_budget.is_match(&compiled, text))
    }

    fn check_xpath(&self, path: &str, content: &str, comparison: XmlComparison) -> Result<(), String> {
        let (path, content) = (self.resolver.expand(path)?, self.resolver.expand(content)?);
        let xpath = parse_xpath_with_prolog(&path)
            .map_err(|error| format!("the XPath is not one of version 1.0: {error}"))?;
        let comparison = ContentComparison {
            allow_wildcards: comparison.allow_wildcards,
            ignore_namespaces: comparison.ignore_namespaces,
            ignore_comments: comparison.ignore_comments,
        };
        let compares_elements = !path.trim_end().ends_with("text()");
        match_content(&self.response.as_xml()?, &xpath, &content, compares_elements, comparison, self.nodes())
    }

    fn read_json(&self, path: &str) -> Result<Option<serde_json::Value>, String> {
        read_json(&self.response.body, &self.resolver.expand(path)?, self.nodes())
    }

    const fn nodes(&self) -> &Cell<u64> {
        &self.resolver.budget.nodes
    }

    fn check_equal(&self, found: &str, expected: &str, what: &str) -> Result<(), String> {
        let expected = self.resolver.expand(expected)?;
        if found == expected.trim() {
            Ok(())
        } else {
            Err(format!("{what} {found}, and not {}", excerpt(&expected)))
        }
    }

    fn check_response_time(&self, limit_ms: &str) -> Result<(), String> {
        let limit = self.resolver.expand(limit_ms)?;
        let Ok(limit) = limit.trim().parse::<u64>() else {
            return Err(format!("the limit {} is no number of milliseconds", excerpt(&limit)));
        };
        let elapsed = self.facts.elapsed.as_millis();
        if elapsed <= u128::from(limit) {
            Ok(())
        } else {
            Err(format!("the response took {elapsed} ms, more than {limit} ms"))
        }
    }
}

fn excerpt(text: &str) -> String {
    format!("`{}`", crate::syntax::truncate_value(text))
}
