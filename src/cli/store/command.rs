//! The sub-commands of `vigie store`.

use std::process::ExitCode;

use super::{backup, check, copy, migrate, restore};

/// Check, migrate, back up, restore and copy the database
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie store check --config /etc/vigie/vigie.yaml    what it contains, and whether it is sound
  vigie store backup /backup/vigie.db                 a copy, while the server runs

`vigie help database` explains both engines, SQLite and PostgreSQL.")]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Check(check::Args),
    Migrate(migrate::Args),
    Backup(backup::Args),
    Restore(restore::Args),
    Copy(copy::Args),
}

pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = crate::cli::process::build_single_threaded_runtime()?;
    match args.action {
        Action::Check(args) => runtime.block_on(check::run(args)),
        Action::Migrate(args) => runtime.block_on(migrate::run(args)),
        Action::Backup(args) => backup::run(&args),
        Action::Restore(args) => restore::run(&args),
        Action::Copy(args) => runtime.block_on(copy::run(args)),
    }
}
