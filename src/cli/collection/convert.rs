//! `vigie collection convert`: writes a collection as a `website-api` monitor.

use std::path::PathBuf;
use std::process::ExitCode;

use super::super::input_file::read_monitor_file;
use super::super::output::{self, UsageError};
use super::super::steps_file::print_steps_monitor;
use crate::collection::{Conversion, convert_to_steps, parse_collection, parse_variable_file};

/// Write a collection as a monitor file with API steps
///
/// Prints the file, or what the steps would lose: a line for each thing, and no file. `--lossy` prints the file then,
/// too. A `collection-api` monitor runs the collection itself and loses nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie collection convert shop.json > shop.yaml
  vigie collection convert shop.json --environment live.json --lossy > shop.yaml

Exit codes: 0 nothing is lost, 1 something is, 2 wrong use or a file that cannot be read.")]
pub(super) struct Args {
    /// The collection, of format 2.0 or 2.1
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// An environment whose values take the place of their placeholders
    #[arg(long, value_name = "FILE")]
    environment: Option<PathBuf>,
    /// Print the file although something is lost
    #[arg(long)]
    lossy: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = args.file.display();
    let (title, conversion) = convert(args).map_err(UsageError)?;
    for loss in &conversion.losses {
        output::print_note(&format!("{name}: lost: {loss}"));
    }
    print_steps_monitor(&title, conversion.steps, conversion.losses.is_empty(), args.lossy)
}

/// Returns the name of the collection and its steps.
fn convert(args: &Args) -> Result<(String, Conversion), String> {
    let name = args.file.display();
    let collection =
        parse_collection(&read_monitor_file(&args.file)?).map_err(|error| format!("{name}: {error}"))?;
    if collection.requests.is_empty() {
        return Err(format!("{name}: it has no request"));
    }
    let environment = match &args.environment {
        Some(path) => {
            let file = parse_variable_file(&read_monitor_file(path)?);
            file.map_err(|error| format!("{}: {error}", path.display()))?.variables
        }
        None => Vec::new(),
    };
    let conversion = convert_to_steps(&collection, &environment);
    Ok((collection.name, conversion))
}
