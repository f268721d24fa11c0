//! Test cases in the Test Anything Protocol, version 14 (<https://testanything.org/tap-version-14-specification.html>).

use std::fmt::Write;

use super::test_case::{TestCase, TestOutcome, TestVerdict, message};
use crate::cli::render::escape_controls;
use crate::domain::CheckResult;

/// Renders `cases`. The first one that was not run ends the report, as an interruption does.
pub(in crate::cli) fn render_tap(cases: &[TestCase]) -> String {
    let mut out = format!("TAP version 14\n1..{}\n", cases.len());
    for (number, case) in (1..).zip(cases) {
        let name = description(&case.name);
        // Writing to a string cannot fail.
        let _ = match (&case.outcome, case.outcome.verdict()) {
            (TestOutcome::NotRun, _) => continue,
            (TestOutcome::Skipped(reason), _) => writeln!(out, "ok {number} - {name} # SKIP {reason}"),
            (_, TestVerdict::Passed) => writeln!(out, "ok {number} - {name}"),
            _ => writeln!(out, "not ok {number} - {name}"),
        };
        if let TestOutcome::Finished { result, tries } = &case.outcome
            && (case.outcome.verdict() != TestVerdict::Passed || !result.reasons.is_empty())
        {
            render_diagnostic(&mut out, result, *tries);
        }
    }
    if cases.iter().any(|case| matches!(case.outcome, TestOutcome::NotRun)) {
        out.push_str("Bail out! interrupted\n");
    }
    out
}

/// Renders the block of YAML below a test. Texts are JSON, which is YAML too.
fn render_diagnostic(out: &mut String, result: &CheckResult, tries: u32) {
    let quote = |text: &str| serde_json::Value::from(escape_controls(text)).to_string();
    let reasons: Vec<String> = result.reasons.iter().map(|reason| quote(reason)).collect();
    let _ = write!(
        out,
        "  ---\n  message: {}\n  severity: {}\n  type: {}\n  status: {}\n  tries: {tries}\n  duration_ms: {:.3}\n  reasons: [{}]\n  ...\n",
        quote(message(result)),
        result.outcome,
        result.monitor_type,
        result.status,
        result.duration_us as f64 / 1e3,
        reasons.join(", ")
    );
}

/// Escapes `text` for the line of a test, where `#` begins a directive.
fn description(text: &str) -> String {
    escape_controls(text).replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Outcome;
    use crate::service::result_view::sample_result::sample_result;

    fn case(name: &str, outcome: Option<Outcome>) -> TestCase {
        let outcome = outcome.map_or(TestOutcome::NotRun, |outcome| {
            let mut result = CheckResult { outcome, ..sample_result() };
            result.reasons = if outcome == Outcome::Ok { vec![] } else { vec!["no \"a\" # b".to_owned()] };
            TestOutcome::Finished { result: Box::new(result), tries: 2 }
        });
        TestCase { name: name.to_owned(), group: "g".to_owned(), outcome }
    }

    #[test]
    fn a_name_cannot_become_a_directive_or_a_line() {
        let skipped = TestCase { outcome: TestOutcome::Skipped("disabled"), ..case("c", None) };
        let cases = [case("a # TODO\nok 9", Some(Outcome::Ok)), case("b \\", Some(Outcome::Error)), skipped];
        let text = render_tap(&cases);
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with(' ')).collect();
        let expected = [
            "TAP version 14",
            "1..3",
            "ok 1 - a \\# TODO\\\\nok 9",
            "not ok 2 - b \\\\",
            "ok 3 - c # SKIP disabled",
        ];
        assert_eq!(lines, expected);
        assert!(text.contains("\n  severity: error\n") && text.contains("\n  tries: 2\n"), "{text}");
        assert!(text.contains("\n  reasons: [\"no \\\"a\\\" # b\"]\n  ...\n"), "{text}");
    }

    #[test]
    fn an_interruption_bails_out() {
        let text = render_tap(&[case("a", Some(Outcome::Ok)), case("b", None)]);
        assert_eq!(text, "TAP version 14\n1..2\nok 1 - a\nBail out! interrupted\n");
    }
}
