//! `vigie project convert`: writes a case of a project as a `website-api` monitor.

use std::path::PathBuf;
use std::process::ExitCode;

use super::super::input_file::read_monitor_file;
use super::super::output::{self, UsageError};
use super::super::steps_file::print_steps_monitor;
use crate::project::{Conversion, Project, convert_to_steps};

/// Write a case of a SoapUI project as a monitor file with API steps
///
/// Prints the file, or what the steps would lose: a line for each thing, and no file. `--lossy` prints the file then,
/// too. An `api` monitor runs the case itself and loses nothing. `--suite` and `--case` may be left out where the project
/// has a single case that is enabled.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie project convert shop-soapui-project.xml > shop.yaml
  vigie project convert shop-soapui-project.xml --suite Orders --case 'Create and cancel' --lossy > orders.yaml

Exit codes: 0 nothing is lost, 1 something is, 2 wrong use or a file that cannot be read.")]
pub(super) struct Args {
    /// The project: the XML file that SoapUI saves
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The suite of the case
    #[arg(long, value_name = "NAME", requires = "case")]
    suite: Option<String>,
    /// The case
    #[arg(long, value_name = "NAME", requires = "suite")]
    case: Option<String>,
    /// Print the file although something is lost
    #[arg(long)]
    lossy: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = args.file.display();
    let (case, conversion) = convert(args).map_err(UsageError)?;
    for loss in &conversion.losses {
        output::print_note(&format!("{name}:{}:{}: lost: {}", loss.line, loss.column, loss.what));
    }
    if conversion.steps.is_empty() {
        return Err(UsageError(format!("{name}: case `{case}` has no request that can be converted")).into());
    }
    print_steps_monitor(&case, conversion.steps, conversion.losses.is_empty(), args.lossy)
}

/// Returns the name of the case and its steps.
fn convert(args: &Args) -> Result<(String, Conversion), String> {
    let name = args.file.display();
    let text = read_monitor_file(&args.file)?;
    let project = Project::parse(&text)
        .map_err(|error| format!("{name}:{}:{}: {}", error.line, error.column, error.message))?;
    let flags = format!("`--suite` and `--case`\nhint: `vigie project check {name}` lists them");
    let (suite, case) = project
        .choose_case(args.suite.as_deref(), args.case.as_deref(), &flags)
        .map_err(|reason| format!("{name}: {reason}"))?;
    let conversion = convert_to_steps(&project, suite, case).map_err(|reason| format!("{name}: {reason}"))?;
    Ok((case.to_owned(), conversion))
}
