//! Test cases as XML of JUnit.

use std::fmt::Write;

use super::test_case::{TestCase, TestOutcome, TestVerdict, message};
use crate::cli::render::{escape_controls, render_check};
use crate::cli::style::Style;
use crate::domain::{CheckResult, Outcome, escape_html};

/// Renders `cases`, a suite for each run of cases with the same group.
pub(in crate::cli) fn render_junit(cases: &[TestCase]) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<testsuites name=\"vigie\" {}>", counts(cases));
    for suite in cases.chunk_by(|left, right| left.group == right.group) {
        let name = attribute(&suite[0].group);
        let _ = writeln!(out, "  <testsuite name=\"{name}\" {}>", counts(suite));
        for case in suite {
            render_case(&mut out, case);
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn counts(cases: &[TestCase]) -> String {
    let count =
        |wanted: &[TestVerdict]| cases.iter().filter(|case| wanted.contains(&case.outcome.verdict())).count();
    let (failures, errors) = (count(&[TestVerdict::Failed]), count(&[TestVerdict::Broken]));
    let skipped = count(&[TestVerdict::Skipped, TestVerdict::NotRun]);
    let seconds: f64 = cases.iter().map(|case| case.outcome.seconds()).sum();
    let tests = cases.len();
    format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\""
    )
}

fn render_case(out: &mut String, case: &TestCase) {
    let (name, group) = (attribute(&case.name), attribute(&case.group));
    let seconds = case.outcome.seconds();
    let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{group}\" time=\"{seconds:.3}\"");
    let content = match &case.outcome {
        TestOutcome::Skipped(reason) => format!("      <skipped message=\"{}\"/>\n", attribute(reason)),
        TestOutcome::NotRun => "      <skipped message=\"interrupted\"/>\n".to_owned(),
        TestOutcome::Finished { result, .. } => result_content(result, case.outcome.verdict()),
    };
    if content.is_empty() {
        out.push_str("/>\n");
    } else {
        let _ = writeln!(out, ">\n{content}    </testcase>");
    }
}

/// Returns the elements for a result: its failure, and all that was seen unless it is simply ok.
fn result_content(result: &CheckResult, verdict: TestVerdict) -> String {
    let mut content = String::new();
    let element = match verdict {
        TestVerdict::Failed => Some("failure"),
        TestVerdict::Broken => Some("error"),
        TestVerdict::Passed | TestVerdict::Skipped | TestVerdict::NotRun => None,
    };
    if let Some(element) = element {
        let (kind, message) = (attribute(&result.status_text), attribute(message(result)));
        let reasons = element_text(&result.reasons.join("\n"));
        let _ =
            writeln!(content, "      <{element} type=\"{kind}\" message=\"{message}\">{reasons}</{element}>");
    }
    if result.outcome != Outcome::Ok {
        let seen = element_text(&render_check(result, Style::PLAIN));
        let _ = writeln!(content, "      <system-out>{seen}</system-out>");
    }
    content
}

fn attribute(text: &str) -> String {
    escape_html(&without_noncharacters(&escape_controls(text))).into_owned()
}

/// Escapes `text` for an element, where line breaks stay.
fn element_text(text: &str) -> String {
    text.lines().map(attribute).collect::<Vec<_>>().join("\n")
}

/// Replaces the two characters that are no control characters, and that XML does not allow either (XML 1.0, 2.2).
fn without_noncharacters(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::result_view::sample_result::sample_result;

    #[test]
    fn what_xml_does_not_allow_is_replaced() {
        assert_eq!(attribute("a\u{ffff}\u{0}<\n\""), "a\u{fffd}\\u{0}&lt;\\n&quot;");
        assert_eq!(element_text("a\r\n  b\u{1b}"), "a\n  b\\u{1b}");
    }

    #[test]
    fn each_outcome_has_its_element_and_counts() {
        let finished = |outcome| {
            let mut result = CheckResult { outcome, ..sample_result() };
            result.duration_us = 1_500_000;
            TestOutcome::Finished { result: Box::new(result), tries: 1 }
        };
        let outcomes = [
            finished(Outcome::Ok),
            finished(Outcome::Error),
            finished(Outcome::Unknown),
            TestOutcome::Skipped("disabled"),
            TestOutcome::NotRun,
        ];
        let cases =
            outcomes.map(|outcome| TestCase { name: "a".to_owned(), group: "f.yaml".to_owned(), outcome });
        let xml = render_junit(&cases);
        let counts = "tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"2\" time=\"4.500\"";
        assert_eq!(xml.matches(counts).count(), 2, "{xml}");
        for (element, count) in [("<failure ", 1), ("<error ", 1), ("<skipped ", 2), ("<system-out>", 2)] {
            assert_eq!(xml.matches(element).count(), count, "{element} {xml}");
        }
    }
}
