//! The command `vigie script`.

use std::process::ExitCode;

use clap::Subcommand;

/// Check browser scripts, and create them from recordings
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(super::check::Args),
    Import(super::import::Args),
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Check(args) => super::check::run(&args),
        Command::Import(args) => super::import::run(&args),
    }
}
