//! `vigie store restore`: puts a backup in the place of an SQLite database.

use std::path::PathBuf;
use std::process::ExitCode;

use super::database_args::{DatabaseArgs, shell_quote};
use super::progress::ProgressLines;
use crate::cli::input_file::require_existing;
use crate::cli::output;
use crate::clock::{Clock, SystemClock};
use crate::store::{require_sqlite, restore};

/// Put a backup in the place of the database, while the server is stopped
///
/// Checks the backup first, and migrates it. Refuses a database that contains data; with --force, moves it aside and
/// deletes nothing. For PostgreSQL, use `pg_restore`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie store restore /backup/vigie.db --data /var/lib/vigie            into an empty data folder
  vigie store restore /backup/vigie.db --data /var/lib/vigie --force    moves the database there aside")]
pub(super) struct Args {
    /// The backup
    file: PathBuf,
    /// Move a database that contains data aside
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let location = args.database.load_settings()?.store_location();
    let file = args.file.display();
    let path = require_sqlite(&location, |postgres| {
        let (file, url) = (shell_quote(&file.to_string()), shell_quote(&postgres.to_string()));
        format!("pg_restore --dbname={url} {file}")
    })?;
    require_existing(&args.file)?;
    let mut progress = ProgressLines::start();
    let now = SystemClock.now();
    let summary = restore(&args.file, &path, args.force, now, &mut |copied, total| {
        progress.print_pages(copied, total);
    })?;
    let (from, to) = (summary.migration.from_version, summary.migration.to_version);
    let migration_text =
        if from == to { String::new() } else { format!(", migrated from schema version {from} to {to}") };
    let previous = summary.previous_path.map(|path| format!("the database before is `{}`\n", path.display()));
    let previous_text = previous.unwrap_or_default();
    output::print(&format!("restored `{location}` from `{file}`{migration_text}\n{previous_text}"))?;
    Ok(ExitCode::SUCCESS)
}
