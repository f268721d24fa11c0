//! A suite as JSON.

use serde_json::{Value, json};

use crate::cli::test_report::{TestCase, TestOutcome, TestVerdict};
use crate::schema::monitor_file::FileMonitor;

/// Returns an array with an object for each of `cases`, which are those of `monitors`.
pub(super) fn to_json(monitors: &[FileMonitor], cases: &[TestCase]) -> Value {
    let entry = |(monitor, case): (&FileMonitor, &TestCase)| {
        let (tries, result) = match &case.outcome {
            TestOutcome::Finished { result, tries } => (*tries, Some(result)),
            TestOutcome::Skipped(_) | TestOutcome::NotRun => (0, None),
        };
        json!({
            "key": monitor.key,
            "name": case.name,
            "type": monitor.document.monitor_type(),
            "file": case.group,
            "verdict": verdict_name(case.outcome.verdict()),
            "tries": tries,
            "result": result,
        })
    };
    Value::Array(monitors.iter().zip(cases).map(entry).collect())
}

/// Returns the stable name of `verdict`. A check that Vigie could not make has failed too.
const fn verdict_name(verdict: TestVerdict) -> &'static str {
    match verdict {
        TestVerdict::Passed => "passed",
        TestVerdict::Failed | TestVerdict::Broken => "failed",
        TestVerdict::Skipped => "skipped",
        TestVerdict::NotRun => "not_run",
    }
}
