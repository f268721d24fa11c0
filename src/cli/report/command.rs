//! Options of `vigie report`, and how it reads.

use std::process::ExitCode;
use std::time::Duration;

use super::render::{Table, render_tables};
use crate::cli::output::{self, UsageError};
use crate::cli::source::SourceArgs;
use crate::cli::style::Style;
use crate::cli::time_argument::TimeArgument;
use crate::clock::{Clock, SystemClock};
use crate::domain::{Location, LocationId, Pagination, RollupStep};
use crate::service::RollupRequest;

/// Show runs, durations, phases and browser figures of a monitor by minute, hour or day
///
/// Hours and days come from rollups, which are kept longer than results; minutes, and what is not rolled up yet, are
/// computed from results. Percentiles are exact to 1 %. Times are UTC.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie report shop                                   of the last day, by hour
  vigie report shop --step day                        of the last 30 days
  vigie report shop --step minute --from 2h           of the last two hours, from results
  vigie report shop --show runs,phases --location 2   with the phases, at one location
  vigie report shop --show experience,views           what browsers measured
  vigie report shop --data /var/lib/vigie             without a server
  vigie report shop --json | jq '.[].p95_us'          for other programs")]
pub(in crate::cli) struct Args {
    /// Its id or its name
    monitor: String,
    /// Length of a step: minute, hour or day
    #[arg(long, value_name = "STEP", default_value = "hour", value_parser = RollupStep::NAMES)]
    step: String,
    /// Steps that start then or later: a time, a day, or an age such as `2h` [default: an hour, a day or 30 days ago]
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    from: Option<TimeArgument>,
    /// Steps that start earlier: a time, a day, or an age such as `2h` [default: now]
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    thru: Option<TimeArgument>,
    /// Only at this location: its id or its name
    #[arg(long)]
    location: Option<String>,
    /// Tables to show, with commas: runs, phases, experience, views
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "runs", value_parser = Table::parse)]
    show: Vec<Table>,
    /// Most rows to show
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Number of the oldest rows to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Print a JSON array of rows with all figures
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

/// Runs the command.
pub(in crate::cli) fn run(args: Args) -> anyhow::Result<ExitCode> {
    crate::cli::process::build_single_threaded_runtime()?.block_on(async {
        let mut source = args.source.open().await?;
        let monitor = source.find_monitor(&args.monitor).await?;
        let locations = source.locations().await?;
        let now = SystemClock.now();
        let step = RollupStep::from_name(&args.step).unwrap_or_default();
        let until = args.thru.map_or(now, |time| time.resolve(now));
        let request = RollupRequest {
            monitor_id: monitor.id,
            location: args.location.as_deref().map(|text| find_location(text, &locations)).transpose()?,
            step,
            from: Some(args.from.map_or_else(|| until - default_age(step), |time| time.resolve(now))),
            until: Some(until),
            fields: Vec::new(),
        };
        let query = request.to_query_for_any_account(now).map_err(|error| {
            UsageError(
                error
                    .message
                    .replace("`step`", "`--step`")
                    .replace("`from`", "`--from`")
                    .replace("`thru`", "`--thru`"),
            )
        })?;
        let page = source.rollups(query, Pagination { limit: args.limit, offset: args.offset }).await?;
        if args.json {
            output::print(&format!("{}\n", serde_json::to_string_pretty(&page.items)?))?;
            return Ok(ExitCode::SUCCESS);
        }
        let style = Style::for_stdout();
        let mut text = render_tables(&page.items, &args.show, &locations, style);
        let [from, until] = [query.from, query.until].map(crate::cli::table::format_time_in_seconds);
        let (shown, total, name) = (page.items.len(), page.total, step.name());
        text.push_str(&style.dim(&format!("{shown} of {total} rows by {name}, {from} to {until} (UTC)")));
        output::print(&format!("{text}\n"))?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Returns how long before `--thru` a report begins by default.
const fn default_age(step: RollupStep) -> Duration {
    Duration::from_hours(match step {
        RollupStep::Minute => 1,
        RollupStep::Hour => 24,
        RollupStep::Day => 30 * 24,
    })
}

/// Returns the location with the id or name `text`. Without known locations, only ids are understood.
fn find_location(text: &str, locations: &[Location]) -> anyhow::Result<LocationId> {
    if let Some(location) = locations.iter().find(|location| location.name == text) {
        return Ok(location.id);
    }
    text.parse().map(LocationId).map_err(|_| {
        let names: Vec<_> = locations.iter().map(|location| format!("`{}`", location.name)).collect();
        let hint = if names.is_empty() {
            "write its id: a database contains no names".to_owned()
        } else {
            format!("the locations are {}", names.join(", "))
        };
        UsageError::with_hint(format!("no location has the id or name `{text}`"), Some(hint))
    })
}
