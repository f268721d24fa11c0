//! The formats in which `vigie check` prints results.

use super::nagios::render_nagios;
use super::sarif::to_sarif;
use super::thresholds::Thresholds;
use crate::cli::render::render_check;
use crate::cli::style::Style;
use crate::cli::test_report::{TestCase, TestOutcome, render_junit, render_tap};
use crate::domain::CheckResult;

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OutputFormat {
    /// Lines for people.
    Text,
    /// JSON, as with `--json`.
    Json,
    /// A line with performance data, as plugins of Nagios, Icinga and Checkmk print it.
    Nagios,
    /// XML of JUnit, which CI systems read.
    Junit,
    /// The Test Anything Protocol, version 14.
    Tap,
    /// SARIF 2.1.0, for security scans.
    Sarif,
}

/// What is printed beside the results themselves.
pub(super) struct OutputOptions<'a> {
    pub(super) thresholds: &'a Thresholds,
    /// Warnings about the monitors.
    pub(super) notes: &'a [String],
    /// How often `-v` is given.
    pub(super) verbosity: u8,
}

impl OutputFormat {
    /// Renders `results` of at least one check.
    pub(super) fn render(
        self,
        results: &[CheckResult],
        options: &OutputOptions<'_>,
    ) -> anyhow::Result<String> {
        Ok(match (self, results) {
            (Self::Json, [result]) => serde_json::to_string_pretty(result)? + "\n",
            (Self::Json, results) => serde_json::to_string_pretty(results)? + "\n",
            (Self::Sarif, results) => serde_json::to_string_pretty(&to_sarif(results))? + "\n",
            (Self::Nagios, results) => {
                render_nagios(results, options.thresholds, options.notes, options.verbosity)
            }
            (Self::Junit, results) => render_junit(&to_test_cases(results)),
            (Self::Tap, results) => render_tap(&to_test_cases(results)),
            (Self::Text, results) => {
                let style = Style::for_stdout();
                results.iter().map(|result| render_check(result, style)).collect::<Vec<_>>().join("\n")
            }
        })
    }
}

fn to_test_cases(results: &[CheckResult]) -> Vec<TestCase> {
    let to_test_case = |result: &CheckResult| TestCase {
        name: result.monitor_name.to_string(),
        group: result.monitor_type.to_string(),
        outcome: TestOutcome::Finished { result: Box::new(result.clone()), tries: 1 },
    };
    results.iter().map(to_test_case).collect()
}
