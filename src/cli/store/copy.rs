//! `vigie store copy`: copies everything to another database, and compares both.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::database_args::load_settings_with;
use super::progress::ProgressLines;
use crate::cli::output;
use crate::store::copy::{CopyPhase, CopyProgress, PageLimit, copy_store};
use crate::store::{open_copy_source, open_copy_target};

/// Copy everything to another database, while the server is stopped
///
/// Copies every table and compares both sides. What is interrupted continues when the same command runs again.
/// Refuses a target that contains data. A copy from SQLite to SQLite is smaller, as it has no unused pages.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie store copy --from sqlite:/var/lib/vigie/vigie.db --to postgres://vigie@db.example.net/vigie
  vigie store copy --from sqlite:vigie.db --to sqlite:compact.db

The password of PostgreSQL comes from where the settings have it: the URL, the variable VIGIE_STORE_PASSWORD,
or `store.password_file`. Afterwards, set `store.url`. The keys, the spool and the settings stay where they are.")]
pub(super) struct Args {
    /// The database to read: `sqlite:PATH` or `postgres://USER@HOST:PORT/DATABASE`
    #[arg(long, value_name = "URL")]
    from: String,
    /// The database to write, which must contain nothing
    #[arg(long, value_name = "URL")]
    to: String,
    /// Remove what an interrupted copy left in the target, and begin again
    #[arg(long)]
    restart: bool,
    /// Settings file, for limits and the password [default: the variable `VIGIE_CONFIG`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let started_at = Instant::now();
    let settings = |flag, url| load_settings_with(args.config.clone(), None, Some((flag, url)));
    let (source_settings, target_settings) = (settings("--from", &args.from)?, settings("--to", &args.to)?);
    let (from, to) = (source_settings.store_location(), target_settings.store_location());
    let mut source = open_copy_source(&from, source_settings.store.options().for_command()).await?;
    let mut target = open_copy_target(&to, target_settings.store.options().for_command()).await?;
    let mut lines = ProgressLines::start();
    let mut on_progress = |progress: CopyProgress| lines.print(|| progress_line(&progress));
    let limit = PageLimit::default();
    let summary = copy_store(source.as_mut(), target.as_mut(), args.restart, limit, &mut on_progress).await?;
    let (rows, tables) = (summary.total_rows(), summary.row_counts.len());
    let seconds = started_at.elapsed().as_secs_f64();
    let resumed = match summary.resumed_rows {
        0 => String::new(),
        count => format!(", of which {count} were copied before"),
    };
    output::print(&format!(
        "copied {rows} rows{resumed} of {tables} tables from `{from}` to `{to}` in {seconds:.1} s, and compared them\n"
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn progress_line(progress: &CopyProgress) -> String {
    let CopyProgress { phase, table, done, total } = progress;
    let percent = done.saturating_mul(100).checked_div(*total).unwrap_or(100).min(100);
    match phase {
        CopyPhase::Copying => format!("copying {table}: {done} of {total} rows, {percent} %"),
        CopyPhase::Verifying => format!("comparing {table}: {percent} %"),
    }
}
