//! `vigie script`: browser scripts without a browser.

mod check;
mod import;

use std::process::ExitCode;

use clap::Subcommand;

/// Look over browser scripts, and make them out of recordings
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Import(import::Args),
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Check(args) => check::run(&args),
        Command::Import(args) => import::run(&args),
    }
}

/// `1 step`, `2 steps`.
fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
