//! `vigie store check`: says what the database contains and whether it is sound.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::process::ExitCode;

use super::database_args::DatabaseArgs;
use super::progress::size_text;
use crate::cli::output;
use crate::store::{StoreLocation, StoreReport, inspect_store};

/// Say what the database contains and whether it is sound
///
/// Reads only, and works while a server uses the database. With a large database it takes some minutes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie store check                              the database of the settings
  vigie store check --data /var/lib/vigie        that in a data folder
  vigie store check --url sqlite:/backup/a.db    a backup

Exit codes: 0 sound, 1 damaged, of a newer Vigie, or unreadable, 2 wrong use.")]
pub(super) struct Args {
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let settings = args.database.load_settings()?;
    let location = settings.store_location();
    let report = inspect_store(&location, settings.store.options().for_command()).await?;
    output::print(&render(&location, &report))?;
    let is_sound = report.problems.is_empty() && report.schema_version <= report.newest_version;
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn render(location: &StoreLocation, report: &StoreReport) -> String {
    let version_text = match report.schema_version.cmp(&report.newest_version) {
        Ordering::Equal => "the newest".to_owned(),
        Ordering::Less => format!(
            "older than {}; `vigie store migrate` or the next start of the server migrates it",
            report.newest_version
        ),
        Ordering::Greater => {
            format!("newer than {}, the newest of this build; use a newer vigie", report.newest_version)
        }
    };
    let mut text = format!(
        "database        {location} ({})\nschema version  {}, {version_text}\nsize            {}\n",
        location.engine_name(),
        report.schema_version,
        size_text(report.size_bytes),
    );
    if let Some(contents) = &report.contents {
        let range = contents
            .planned_range
            .map(|(oldest, newest)| format!(", planned from {oldest} to {newest}"))
            .unwrap_or_default();
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "monitors        {}\nresults         {}{range}\n",
            contents.monitor_count, contents.result_count
        );
    }
    if report.problems.is_empty() {
        text.push_str("integrity       ok\n");
    }
    for problem in &report.problems {
        let _ = writeln!(text, "problem         {problem}");
    }
    text
}
