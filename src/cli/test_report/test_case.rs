//! One monitor as a test case.

use crate::domain::{CheckResult, Outcome};

/// A monitor, and how its test ended.
#[derive(Clone, Debug)]
pub(in crate::cli) struct TestCase {
    /// Name of the monitor.
    pub(in crate::cli) name: String,
    /// What it stands under in a report: its file or its type.
    pub(in crate::cli) group: String,
    pub(in crate::cli) outcome: TestOutcome,
}

/// Returns the deciding reason of `result`; without any, the text of its status.
pub(super) fn message(result: &CheckResult) -> &str {
    result.reasons.first().unwrap_or(&result.status_text)
}

/// How a test ended.
#[derive(Clone, Debug)]
pub(in crate::cli) enum TestOutcome {
    /// Its last try has a result.
    Finished { result: Box<CheckResult>, tries: u32 },
    /// It was left out, for this reason.
    Skipped(&'static str),
    /// The command was interrupted before it had a result.
    NotRun,
}

/// The word for how a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum TestVerdict {
    Passed,
    /// The target failed.
    Failed,
    /// Vigie could not check the target.
    Broken,
    Skipped,
    NotRun,
}

impl TestOutcome {
    /// Returns the word for it. A warning passes.
    pub(in crate::cli) fn verdict(&self) -> TestVerdict {
        match self {
            Self::Skipped(_) => TestVerdict::Skipped,
            Self::NotRun => TestVerdict::NotRun,
            Self::Finished { result, .. } => match result.outcome {
                Outcome::Ok | Outcome::Warning => TestVerdict::Passed,
                Outcome::Error => TestVerdict::Failed,
                Outcome::Unknown | Outcome::Missed | Outcome::Blackout => TestVerdict::Broken,
            },
        }
    }

    /// Returns the duration of its last try, in seconds; 0 without a result.
    pub(in crate::cli) fn seconds(&self) -> f64 {
        match self {
            Self::Finished { result, .. } => result.duration_us as f64 / 1e6,
            Self::Skipped(_) | Self::NotRun => 0.0,
        }
    }
}
