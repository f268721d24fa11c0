//! Adds tests to steps, within the bounds of a result.

use super::step_in_progress::StepInProgress;
use crate::domain::{Failure, FailureKind, Phase, StepTest, StepTestOutcome, truncate};

/// Most tests of a step in a result.
const MAX_TESTS: usize = 200;
/// Most tests in the result of a run.
const MAX_TESTS_OF_RUN: usize = 5_000;
/// Most failures of a step.
const MAX_FAILURES: usize = 50;
/// Longest name of a test and longest reason in a result, in characters.
const MAX_TEST_CHARS: usize = 300;

/// Counts the tests in the result of a run.
#[derive(Debug, Default)]
pub(in crate::probe) struct TestLimit {
    test_count: usize,
}

impl TestLimit {
    /// Adds `tests` to the result of `step`, with a failure for each that failed. Of very many, failed ones are kept rather
    /// than others; a note says how many are left out. Failures call them `label` and their names.
    pub(in crate::probe) fn add_tests(
        &mut self,
        step: &mut StepInProgress,
        tests: impl IntoIterator<Item = StepTest>,
        label: &str,
    ) {
        let mut left_out = 0_usize;
        for mut test in tests {
            test.name = truncate(&test.name, MAX_TEST_CHARS);
            test.reason = test.reason.map(|reason| truncate(&reason, MAX_TEST_CHARS));
            let is_failed = test.outcome == StepTestOutcome::Failed;
            let failures = &mut step.result.failures;
            if is_failed && failures.len() < MAX_FAILURES {
                let reason = test.reason.as_deref().unwrap_or("it failed");
                let detail = format!("{label}`{}`: {reason}", test.name);
                failures.push(Failure::new(Phase::Validate, FailureKind::AssertionFailed, detail));
            }
            let max_tests = if is_failed { MAX_TESTS + MAX_FAILURES } else { MAX_TESTS };
            if step.result.tests.len() < max_tests && self.test_count < MAX_TESTS_OF_RUN {
                self.test_count += 1;
                step.result.tests.push(test);
            } else {
                left_out += 1;
            }
        }
        if left_out > 0 {
            step.notes.push(format!("{left_out} more tests are left out of the result"));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[test]
    fn of_very_many_tests_failed_ones_are_kept() {
        let test = |outcome| StepTest { name: "n".repeat(1000), outcome, reason: Some("r".repeat(1000)) };
        let mut step = StepInProgress::new(1, "step".to_owned(), Instant::now());
        let mut limit = TestLimit::default();
        limit.add_tests(&mut step, std::iter::repeat_n(test(StepTestOutcome::Passed), 300), "");
        limit.add_tests(&mut step, std::iter::repeat_n(test(StepTestOutcome::Failed), 100), "assertion ");
        let result = &step.result;
        assert_eq!((result.tests.len(), result.failures.len()), (MAX_TESTS + MAX_FAILURES, MAX_FAILURES));
        assert!(result.failures[0].detail.starts_with("assertion `nnn"));
        assert!(result.tests.iter().all(|test| test.name.chars().count() <= MAX_TEST_CHARS + 1));
        assert_eq!(
            step.notes,
            ["100 more tests are left out of the result", "50 more tests are left out of the result"]
        );
        for number in 2..30 {
            let mut step = StepInProgress::new(number, "step".to_owned(), Instant::now());
            limit.add_tests(&mut step, std::iter::repeat_n(test(StepTestOutcome::Passed), 200), "");
        }
        assert_eq!(limit.test_count, MAX_TESTS_OF_RUN);
    }
}
