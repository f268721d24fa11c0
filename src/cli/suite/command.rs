//! The command `vigie test`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;

use super::load::{MonitorFilter, load_monitors};
use super::run::{SuiteOptions, run_suite};
use super::text::{render_case, render_summary};
use super::to_json::to_json;
use crate::cli::check::split_variables;
use crate::cli::check_runner::CheckRunner;
use crate::cli::output::{self, UsageError};
use crate::cli::settings::LocationArgs;
use crate::cli::style::Style;
use crate::cli::test_report::{TestCase, TestVerdict, render_junit, render_tap};
use crate::cli::{monitor_type, process};
use crate::domain::MonitorType;

/// Check the monitors of files once, as a suite of tests
///
/// PATH is a monitor file, or a folder of them; the format is that of `vigie apply`. No server is needed, and nothing is
/// stored. A monitor passes if its outcome is ok or warning. Disabled monitors are skipped. The order of the output is
/// that of the files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie test monitors/                            all monitors of a folder
  vigie test monitors/ --retries 2 --jobs 4       try a failing one twice more, four at a time
  vigie test monitors/ --junit report.xml         with a report for CI
  vigie test monitors/ --type website --key shop  some of them
  vigie test monitors/ --format tap | prove -     for programs that read TAP

Exit codes: 0 all passed, 1 a monitor failed, 2 wrong use or errors in the files, 130 and 143 interrupted.")]
pub(in crate::cli) struct Args {
    /// Monitor files, and folders of them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only the monitor with this key or name; may be given several times
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,
    /// Only monitors of this type; may be given several times
    #[arg(long = "type", value_name = "TYPE", value_parser = monitor_type::parse_monitor_type)]
    types: Vec<MonitorType>,
    /// Check a monitor that fails up to N times more
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=100))]
    retries: u32,
    /// Check N monitors at the same time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1000))]
    jobs: u16,
    /// Set a variable before the first step, as '{{name}}=value'
    #[arg(long, value_name = "VARIABLE")]
    set: Vec<String>,
    /// Print the results in this format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = SuiteFormat::Text)]
    format: SuiteFormat,
    /// Write a report for CI systems to FILE too, as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    location: LocationArgs,
}

/// How the results of a suite are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SuiteFormat {
    /// Lines for people.
    Text,
    /// A JSON array.
    Json,
    /// XML of JUnit.
    Junit,
    /// The Test Anything Protocol, version 14.
    Tap,
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (mut settings, location) = args.location.load_with_location()?;
    let (fields, variables) = split_variables(args.set)?;
    if let [field, ..] = fields.as_slice() {
        let hint = "change the file; variables are set as `--set '{{name}}=value'`".to_owned();
        return Err(UsageError::with_hint(format!("`--set {field}` sets no variable"), Some(hint)));
    }
    let filter = MonitorFilter { keys: args.key, types: args.types };
    let monitors = load_monitors(&args.paths, &filter, &mut settings)?;
    if monitors.iter().all(|monitor| !monitor.document.settings().schedule.enabled) {
        let hint = Some("set `enabled: true`, or check one with `vigie check --file FILE NAME`".to_owned());
        return Err(UsageError::with_hint("every monitor of the suite is disabled", hint));
    }
    settings.probe.preset_variables = Arc::new(variables);
    // Whoever has this host can scan from it anyway.
    settings.probe.security_scan.allowed_targets = None;
    if let Some(file) = &args.junit {
        // A report that cannot be written would be noticed after minutes otherwise.
        write_report(file, "")?;
    }
    let options = SuiteOptions { jobs: args.jobs.into(), retries: args.retries };
    let mut cases: Vec<TestCase> = Vec::new();
    let style = Style::for_stdout();
    let started = Instant::now();
    let signal_code = process::build_single_threaded_runtime()?.block_on(async {
        let runner = CheckRunner::new(&settings, &location, false)?;
        let on_case = |case: TestCase| {
            if args.format == SuiteFormat::Text {
                output::print(&render_case(&case, style))?;
            }
            cases.push(case);
            Ok(())
        };
        run_suite(&runner, &monitors, options, on_case).await
    })?;
    let report = match args.format {
        SuiteFormat::Text => render_summary(&cases, started.elapsed()),
        SuiteFormat::Json => serde_json::to_string_pretty(&to_json(&monitors, &cases))? + "\n",
        SuiteFormat::Junit => render_junit(&cases),
        SuiteFormat::Tap => render_tap(&cases),
    };
    output::print(&report)?;
    if let Some(file) = &args.junit {
        write_report(file, &render_junit(&cases))?;
    }
    if let Some(code) = signal_code {
        output::print_note(&interruption_note(&cases));
        return Ok(ExitCode::from(code));
    }
    let passed =
        |case: &TestCase| matches!(case.outcome.verdict(), TestVerdict::Passed | TestVerdict::Skipped);
    Ok(ExitCode::from(u8::from(!cases.iter().all(passed))))
}

fn write_report(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("the report `{}` cannot be written", file.display()))
}

/// Says which monitors have no result because of a signal.
fn interruption_note(cases: &[TestCase]) -> String {
    let without_result = cases.iter().filter(|case| case.outcome.verdict() == TestVerdict::NotRun);
    let names: Vec<String> = without_result.map(|case| format!("`{}`", case.name.escape_debug())).collect();
    match names.as_slice() {
        [] => "interrupted: every monitor has a result".to_owned(),
        names => format!("interrupted: without a result are {}", names.join(", ")),
    }
}
