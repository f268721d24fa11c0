//! The command `vigie project`.

use std::process::ExitCode;

use clap::Subcommand;

/// Check SoapUI projects, and convert their cases to API steps
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(super::check::Args),
    Convert(super::convert::Args),
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Check(args) => super::check::run(&args),
        Command::Convert(args) => super::convert::run(&args),
    }
}
