//! `vigie project check`: lists what of the cases of a project cannot be run.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use super::super::input_file::{read_monitor_file, require_existing};
use super::super::output;
use super::super::plural::count_with_noun;
use crate::project::{Project, case_step_count, unsupported};

/// List what of a SoapUI project cannot be run
///
/// Prints each case with its steps, or each thing that this build does not support on a line as
/// `file:line:column: suite, case, step: reason`. Without `--suite` and `--case` it looks at all cases that are enabled.
/// Sends nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie project check shop-soapui-project.xml
  vigie project check shop-soapui-project.xml --suite Orders --case 'Create and cancel'

Exit codes: 0 everything can be run, 1 something cannot, 2 wrong use.")]
pub(super) struct Args {
    /// The project: the XML file that SoapUI saves, as `vigie help formats` describes it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only cases of this suite
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// Only the case of this name
    #[arg(long, value_name = "NAME", requires = "suite")]
    case: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    require_existing(&args.file)?;
    let name = args.file.display().to_string();
    let text = read_monitor_file(&args.file).map_err(anyhow::Error::msg)?;
    let project = match Project::parse(&text) {
        Ok(project) => project,
        Err(error) => {
            output::print(&format!("{name}:{}:{}: {}\n", error.line, error.column, error.message))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let (report, can_run) = check_cases(&name, &project, args);
    output::print(&report)?;
    Ok(ExitCode::from(u8::from(!can_run)))
}

/// Returns the text to print, and whether all chosen cases can be run.
fn check_cases(name: &str, project: &Project, args: &Args) -> (String, bool) {
    let chosen = |(suite, case): &(&str, &str)| {
        args.suite.as_deref().is_none_or(|wanted| wanted == *suite)
            && args.case.as_deref().is_none_or(|wanted| wanted == *case)
    };
    let mut cases: Vec<(&str, &str)> = match &args.suite {
        Some(_) => project.case_names().filter(chosen).collect(),
        None => project.enabled_case_names().collect(),
    };
    if let (true, Some(suite)) = (cases.is_empty(), args.suite.as_deref()) {
        // It does not exist: the list says so.
        cases.push((suite, args.case.as_deref().unwrap_or_default()));
    }
    let (mut report, mut can_run) = (String::new(), true);
    let mut listed = Vec::new();
    for (suite, case) in &cases {
        let items = unsupported(project, suite, case);
        if items.is_empty() {
            let steps = count_with_noun(case_step_count(project, suite, case), "step");
            // Writing to a string cannot fail.
            let _ = writeln!(report, "{name}: suite `{suite}`, case `{case}`: {steps}");
            continue;
        }
        can_run = false;
        // Cases call each other: what several of them need is said once.
        for item in items {
            if !listed.contains(&item) {
                let _ = writeln!(report, "{name}:{}:{}: {}", item.line, item.column, item.what);
                listed.push(item);
            }
        }
    }
    if cases.is_empty() {
        let _ = writeln!(report, "{name}: it has no case that is enabled");
        can_run = false;
    }
    (report, can_run)
}
