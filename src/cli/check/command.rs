//! The command `vigie check`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use super::capture_folder::CaptureFolder;
use super::check_timeout::CheckTimeout;
use super::file_subject::CheckedFile;
use super::har::HarFile;
use super::output_format::{OutputFormat, OutputOptions};
use super::subject::CheckSubject;
use super::thresholds::Thresholds;
use super::worst_outcome::{exit_code, worst_outcome};
use crate::cli::check_runner::CheckRunner;
use crate::cli::output::UsageError;
use crate::cli::settings::LocationArgs;
use crate::cli::{monitor_type, output, process};
use crate::domain::MonitorType;
use crate::probe::ScriptDebugOptions;
use crate::settings::Settings;

/// Run one check now and show its result
///
/// TYPE is a monitor type (`vigie fields` lists them) and TARGET what it checks: a URL for website types, a host or
/// `host:port` for the others. Every field of the type can be set; other fields have their defaults. No server is
/// needed, and nothing is stored.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "vigie check TYPE TARGET [--set FIELD=VALUE]… [--format FORMAT] [--har FILE]\n       vigie check --file FILE [NAME] [--format FORMAT] [--har FILE]",
    after_help = "\
Examples:
  vigie check website-ssl https://example.com/
  vigie check website http://example.com/ --set keyword_string=Welcome --set timeout=5
  vigie check website http://example.com/ --set 'http_headers=[{\"name\":\"X-A\",\"value\":\"b\"}]'
  vigie check tcp db.example.com:5432
  vigie check ping 192.0.2.1 --set ping_count=3
  vigie check name-server 192.0.2.53 --set name_to_resolve=example.com
  vigie check website-api https://example.com/api --set 'assertions=[{\"source\":\"Status Code\",\"comparison\":\"equals\",\"value\":\"200\"}]'
  vigie check --file steps.yaml --set '{{user}}=anna'
  vigie check --file config/monitors/website.yaml
  vigie check --file monitors.yaml shop --json
  vigie check --file script.xml --set browser='Google Chrome' --screenshots pictures
  vigie check --file shop.postman_collection.json --set '{{base}}=http://127.0.0.1:8080'
  vigie check --file shop-soapui-project.xml --set test_suite=Orders --set test_case=Create
  vigie check website http://example.com/ --har example.har
  vigie check website http://example.com/ --format nagios -w 1 -c 3 --warning cert_days=14:
  vigie check --file config/monitors/ftp.yaml --format junit > report.xml
  vigie check security-scan https://example.com/ --format sarif

Exit codes: 0 ok, 1 warning, 2 error, 3 unknown or wrong use. Of several monitors, the worst counts."
)]
pub(in crate::cli) struct Args {
    /// Type and target; with --file, the name or key of one monitor in it
    #[arg(value_name = "TYPE TARGET", num_args = 0..=2)]
    positionals: Vec<String>,
    /// Set a field, JSON where its value is not plain text; or a variable before the first step, as
    /// '{{name}}=value'
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<String>,
    /// Check the monitors in FILE, YAML or JSON: one, or a list; or run a browser script, a Postman collection or a SoapUI
    /// project as it is
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print the result as JSON; an array when a file holds several
    #[arg(long)]
    json: bool,
    /// Print the result in this format
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<OutputFormat>,
    /// End with a warning when the total seconds, or what NAME measures, is outside of RANGE: `5`, `10:`, `@1:2`
    #[arg(short, long, value_name = "[NAME=]RANGE", allow_hyphen_values = true)]
    warning: Vec<String>,
    /// End with an error when the total seconds, or what NAME measures, is outside of RANGE
    #[arg(short, long, value_name = "[NAME=]RANGE", allow_hyphen_values = true)]
    critical: Vec<String>,
    /// End after SECONDS, with the STATE ok, warning, critical or unknown [default: no limit; the state is unknown]
    #[arg(short, long, value_name = "SECONDS[:STATE]", value_parser = CheckTimeout::parse)]
    timeout: Option<CheckTimeout>,
    /// Print more with `--format nagios`: -v does not shorten the line, -vv adds lines, -vvv all that was seen
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Write the HTTP exchanges to FILE as HAR 1.2, those of checks that pass too; secrets are masked
    #[arg(long, value_name = "FILE")]
    har: Option<PathBuf>,
    /// Run the browser of a script with visible windows
    #[arg(long)]
    headful: bool,
    /// Write a screenshot of each action of a browser script to DIR, and the other captures of the check
    #[arg(long, value_name = "DIR")]
    screenshots: Option<PathBuf>,
    #[command(flatten)]
    location: LocationArgs,
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let thresholds = Thresholds::parse(&args.warning, &args.critical)?;
    let default_format = if args.json { OutputFormat::Json } else { OutputFormat::Text };
    let format = args.format.unwrap_or(default_format);
    if args.verbose > 0 && format != OutputFormat::Nagios {
        let hint = Some("other formats print all that was seen".to_owned());
        return Err(UsageError::with_hint("`--verbose` is for `--format nagios`", hint));
    }
    let (mut settings, location) = args.location.load_with_location()?;
    let (field_assignments, variables) = super::variables::split_variables(args.set)?;
    settings.probe.preset_variables = Arc::new(variables);
    // Whoever has this host can scan from it anyway.
    settings.probe.security_scan.allowed_targets = None;
    settings.probe.script_debug =
        ScriptDebugOptions { headful: args.headful, screenshot_every_action: args.screenshots.is_some() };
    let subjects = read_subjects(args.file.as_deref(), &args.positionals, &field_assignments, &settings)?;
    if args.headful || args.screenshots.is_some() {
        require_script(&subjects)?;
    }
    if format == OutputFormat::Sarif {
        require_security_scans(&subjects)?;
    }
    let notes: Vec<String> = subjects.iter().flat_map(warnings_and_limits).collect();
    // A plugin writes nothing to standard error.
    if format != OutputFormat::Nagios {
        for note in &notes {
            output::print_note(note);
        }
    }
    let capture_folder = args.screenshots.map(CaptureFolder::create).transpose()?;
    let har_file = args.har.as_deref().map(HarFile::open).transpose()?;
    let mut results = process::build_single_threaded_runtime()?.block_on(async {
        let runner = CheckRunner::new(&settings, &location, har_file.is_some())?;
        anyhow::Ok(super::run::run_checks(&runner, &subjects, args.timeout).await)
    })?;
    for result in &mut results {
        thresholds.apply(result);
    }
    let options = OutputOptions { thresholds: &thresholds, notes: &notes, verbosity: args.verbose };
    output::print(&format.render(&results, &options)?)?;
    if let Some(har_file) = har_file {
        har_file.write(&results)?;
    }
    if let Some(capture_folder) = capture_folder {
        capture_folder.write(&results)?;
    }
    Ok(ExitCode::from(exit_code(worst_outcome(results.iter().map(|result| result.outcome)))))
}

/// Returns what is checked: the monitors of `file`, or the one that `positionals` name by type and target.
fn read_subjects(
    file: Option<&Path>,
    positionals: &[String],
    field_assignments: &[String],
    settings: &Settings,
) -> anyhow::Result<Vec<CheckSubject>> {
    let sets_fields = !field_assignments.is_empty();
    if sets_fields && file.is_some_and(|file| !CheckedFile::may_be_runnable(file)) {
        return Err(set_with_file_error());
    }
    let file = file.map(CheckedFile::read).transpose()?;
    if sets_fields && file.as_ref().is_some_and(|file| !file.is_runnable()) {
        return Err(set_with_file_error());
    }
    match (file, positionals) {
        (Some(file), [] | [_]) => {
            let name = positionals.first().map(String::as_str);
            file.into_subjects(name, field_assignments, settings)
        }
        (Some(_), _) => Err(too_many_arguments_error()),
        (None, [monitor_type, target]) => {
            let monitor_type = monitor_type::parse_monitor_type(monitor_type).map_err(UsageError)?;
            Ok(vec![super::subject::from_arguments(monitor_type, target, field_assignments, settings)?])
        }
        (None, [monitor_type]) => {
            let monitor_type = monitor_type::parse_monitor_type(monitor_type).map_err(UsageError)?;
            Err(UsageError::with_hint(
                format!("no target for `{monitor_type}`"),
                Some(format!("name a target: {}", super::subject::target_example(monitor_type))),
            ))
        }
        (None, _) => Err(missing_target_error()),
    }
}

fn set_with_file_error() -> anyhow::Error {
    let hint = "change the file; variables of steps can be set: `--set '{{name}}=value'`";
    UsageError::with_hint("`--set` of a field cannot be used with `--file`", Some(hint.to_owned()))
}

/// Refuses options that only browser scripts support when no subject is one.
fn require_script(subjects: &[CheckSubject]) -> anyhow::Result<()> {
    if subjects.iter().any(|subject| subject.document.monitor_type() == MonitorType::BrowserScript) {
        return Ok(());
    }
    let hint = "`vigie check --file script.xml`, or `vigie check browserscript https://example.com/`";
    let message = "`--headful` and `--screenshots` are for browser scripts";
    Err(UsageError::with_hint(message, Some(hint.to_owned())))
}

/// Refuses SARIF when a subject is no security scan: other results have no findings.
fn require_security_scans(subjects: &[CheckSubject]) -> anyhow::Result<()> {
    let other = subjects.iter().map(|subject| subject.document.monitor_type());
    let Some(other) = other.into_iter().find(|other| *other != MonitorType::SecurityScan) else {
        return Ok(());
    };
    let hint =
        "`vigie check security-scan https://example.com/ --format sarif`; use `--json` for other types";
    let message = format!("`--format sarif` is for `security-scan`, not for `{other}`");
    Err(UsageError::with_hint(message, Some(hint.to_owned())))
}

/// Returns the warnings that saving `subject` would give, and the limits of its check.
fn warnings_and_limits(subject: &CheckSubject) -> Vec<String> {
    let mut notes: Vec<String> =
        subject.warnings.iter().map(|warning| format!("warning: {warning}")).collect();
    let compares_with_earlier_check = subject.document.settings().full_page.is_some_and(|page| {
        page.notify_on_content_change
            || page.check_fullpage_missing_objects
            || page.check_fullpage_object_sizes
    });
    if compares_with_earlier_check {
        notes.push("note: no earlier check to compare the page with".to_owned());
    }
    notes
}

fn too_many_arguments_error() -> anyhow::Error {
    let hint = "after `--file FILE` comes the name of one monitor at most; quote a name with spaces";
    UsageError::with_hint("a type and a target cannot be used with `--file`", Some(hint.to_owned()))
}

fn missing_target_error() -> anyhow::Error {
    let hint = "`vigie check website-ssl https://example.com/`, or `vigie check --file FILE`";
    UsageError::with_hint("no type and target given", Some(hint.to_owned()))
}
