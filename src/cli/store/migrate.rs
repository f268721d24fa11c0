//! `vigie store migrate`: brings the tables of the database to the newest version.

use std::process::ExitCode;

use super::database_args::DatabaseArgs;
use crate::cli::output;
use crate::store::migrate_store;

/// Bring the tables of the database to the newest version
///
/// The start of a server does the same. Back up first: an earlier Vigie may not read a newer version.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie store migrate --config /etc/vigie/vigie.yaml    while the server is stopped")]
pub(super) struct Args {
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let settings = args.database.load_settings()?;
    let location = settings.store_location();
    let migration = migrate_store(&location, settings.store.options().for_command()).await?;
    let (from, to) = (migration.from_version, migration.to_version);
    let text = if from == to {
        format!("`{location}` has schema version {to}, the newest; nothing to do\n")
    } else {
        format!("`{location}` was migrated from schema version {from} to {to}\n")
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
