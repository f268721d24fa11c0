//! The command `vigie project`.

use std::process::ExitCode;

use clap::Subcommand;

/// Check SoapUI projects before a monitor runs them
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(super::check::Args),
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Check(args) => super::check::run(&args),
    }
}
