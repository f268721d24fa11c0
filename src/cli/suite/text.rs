//! A suite as lines for people.

use std::fmt::Write;
use std::time::Duration;

use crate::cli::render::escape_controls;
use crate::cli::style::Style;
use crate::cli::test_report::{TestCase, TestOutcome, TestVerdict};
use crate::domain::{CheckResult, Outcome};
use crate::service::result_view::{format_duration, status_description};

/// Renders the lines of one test: its outcome, and the reasons unless it is ok.
pub(super) fn render_case(case: &TestCase, style: Style) -> String {
    let name = style.bold(&format!("`{}`", escape_controls(&case.name)));
    match &case.outcome {
        TestOutcome::Skipped(reason) => format!("skipped  {name}: {reason}\n"),
        TestOutcome::NotRun => format!("not run  {name}\n"),
        TestOutcome::Finished { result, tries } => render_result(result, *tries, &name, style),
    }
}

fn render_result(result: &CheckResult, tries: u32, name: &str, style: Style) -> String {
    let outcome = style.in_outcome_color(result.outcome, &format!("{:<7}", result.outcome.name()));
    let duration = format_duration(result.duration_us);
    let status = Some(status_description(result)).filter(|text| !text.is_empty());
    let status = status.map_or(String::new(), |text| format!(", {text}"));
    let tries = if tries == 1 { String::new() } else { format!(", try {tries}") };
    let mut out = format!("{outcome}  {name} ({}) in {duration}{status}{tries}\n", result.monitor_type);
    if result.outcome != Outcome::Ok {
        for reason in &result.reasons {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "         {}", escape_controls(reason));
        }
    }
    out
}

/// Renders the counts of `cases`, which took `duration`.
pub(super) fn render_summary(cases: &[TestCase], duration: Duration) -> String {
    let count =
        |wanted: &[TestVerdict]| cases.iter().filter(|case| wanted.contains(&case.outcome.verdict())).count();
    let mut parts = vec![
        format!("{} passed", count(&[TestVerdict::Passed])),
        format!("{} failed", count(&[TestVerdict::Failed, TestVerdict::Broken])),
    ];
    for (verdict, word) in [(TestVerdict::Skipped, "skipped"), (TestVerdict::NotRun, "not run")] {
        let number = count(&[verdict]);
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    format!("\n{} in {}\n", parts.join(", "), format_duration(micros))
}
