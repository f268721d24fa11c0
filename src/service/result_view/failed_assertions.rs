//! The assertions of a check that did not hold, with what they expected and what was found. Those that held are not kept.

use crate::domain::{CheckResult, Failure, FailureKind};

/// Texts between what an assertion expected and what was found: of API steps, then of browser scripts.
const SEPARATORS: [(&str, &str); 2] = [(": found ", ""), (", but it ", "it ")];

/// An assertion that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAssertion<'a> {
    /// Number and name of its step; `None` for an assertion of the whole check.
    pub step: Option<(u32, &'a str)>,
    /// What it expected.
    pub expected: &'a str,
    /// What was found; empty where the text does not say.
    pub found: String,
}

/// Returns the assertions of the last attempt that did not hold, in their order.
#[must_use]
pub fn failed_assertions(result: &CheckResult) -> Vec<FailedAssertion<'_>> {
    let of_steps = result.details.steps.iter().flat_map(|step| {
        let place = Some((step.number, step.name.as_str()));
        step.failures.iter().map(move |failure| (place, failure))
    });
    let mut failed: Vec<_> = of_steps.filter_map(|(step, failure)| failed_assertion(step, failure)).collect();
    let of_check = result.attempts.last().and_then(|attempt| attempt.failure.as_ref());
    if let Some(assertion) = of_check.and_then(|failure| failed_assertion(None, failure)) {
        let is_of_step = failed.iter().any(|of_step| of_step.expected == assertion.expected);
        if !is_of_step {
            failed.push(assertion);
        }
    }
    failed
}

fn failed_assertion<'a>(step: Option<(u32, &'a str)>, failure: &'a Failure) -> Option<FailedAssertion<'a>> {
    if failure.kind != FailureKind::AssertionFailed {
        return None;
    }
    let split = |(separator, prefix): (&str, &str)| {
        let (expected, found) = failure.detail.split_once(separator)?;
        Some((expected, format!("{prefix}{found}")))
    };
    let (expected, found) =
        SEPARATORS.into_iter().find_map(split).unwrap_or((failure.detail.as_str(), String::new()));
    Some(FailedAssertion { step, expected, found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Phase;
    use crate::service::result_view::sample_result;

    #[test]
    fn what_was_expected_and_what_was_found_are_told_apart() {
        let mut result = sample_result::sample_result();
        assert_eq!(failed_assertions(&result), []);
        let details = [
            "JSON Response `$.a` equals `1`: found `2`",
            "the title must be `A`, but it is `B`",
            "the element `#x` must be visible",
        ];
        let to_failure = |detail: &str| Failure::new(Phase::Validate, FailureKind::AssertionFailed, detail);
        result.details.steps[1].failures = details.map(to_failure).to_vec();
        result.attempts[1].failure = Some(to_failure(details[0]));
        let failed = failed_assertions(&result);
        let rows: Vec<_> = failed.iter().map(|row| (row.expected, row.found.as_str())).collect();
        assert_eq!(
            rows,
            [
                ("JSON Response `$.a` equals `1`", "`2`"),
                ("the title must be `A`", "it is `B`"),
                ("the element `#x` must be visible", ""),
            ]
        );
        assert_eq!(failed[0].step, Some((2, "list")));
    }
}
