//! `vigie store backup`: copies an SQLite database while the server runs.

use std::path::PathBuf;
use std::process::ExitCode;

use super::database_args::{DatabaseArgs, shell_quote};
use super::progress::{ProgressLines, size_text};
use crate::cli::output;
use crate::store::{back_up, require_sqlite};

/// Write a copy of the database, while the server runs
///
/// The copy is one file with mode 0600, is consistent, and was checked. The server goes on writing meanwhile. For
/// PostgreSQL, use `pg_dump`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie store backup /backup/vigie.db                       of the database of the settings
  vigie store backup /backup/vigie.db --force               replaces an earlier backup
  vigie store backup /backup/vigie.db --data /var/lib/vigie

Back up the keys as well, at another place: a backup can only be used with them.")]
pub(super) struct Args {
    /// The file to write
    file: PathBuf,
    /// Replace the file if it exists
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
        format!("pg_dump --format=custom --file={file} {url}")
    })?;
    let mut progress = ProgressLines::start();
    let summary =
        back_up(&path, &args.file, args.force, &mut |copied, total| progress.print_pages(copied, total))?;
    let (size, seconds) = (size_text(summary.size_bytes), summary.duration.as_secs_f64());
    output::print(&format!("wrote `{file}`: {size} in {seconds:.1} s, checked\n"))?;
    Ok(ExitCode::SUCCESS)
}
