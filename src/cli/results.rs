//! `vigie results`: lists check results.

use std::process::ExitCode;

use comfy_table::{Cell, CellAlignment};

use super::check::{exit_code, render_nagios_result};
use super::output::UsageError;
use super::render::escape_controls;
use super::source::SourceArgs;
use super::style::Style;
use super::time_argument::TimeArgument;
use super::{output, table};
use crate::clock::{Clock, SystemClock};
use crate::domain::{CheckResult, Location, LocationId, Outcome};
use crate::service::result_view::{deciding_reason, format_duration, suppression_text, trigger_text};
use crate::store::{Pagination, ResultFilter};

/// Show check results, newest first
///
/// Reads from a running server, or with `--data`, `--config` or `--url` from a database, whether a server runs or not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie results                              the newest of all monitors
  vigie results shop --from 2h               of the monitor `shop`, of the last two hours
  vigie results --outcome error --limit 100  failures only
  vigie results --data /var/lib/vigie        without a server
  vigie results --config /etc/vigie.yaml     from the database of the settings
  vigie results --json | jq '.[].total_us'   for other programs
  vigie results shop --from 10m --format nagios
                                             the newest one as a state of Nagios, if it is recent

With `--format nagios`, the exit code is that of `vigie check`: 0 ok, 1 warning, 2 error, 3 unknown.")]
pub(super) struct Args {
    /// Only of this monitor: its id or its name
    monitor: Option<String>,
    /// Only with this outcome; several with commas
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = parse_outcome)]
    outcome: Vec<Outcome>,
    /// Only planned at or after: a time, a day, or an age such as `2h`
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    from: Option<TimeArgument>,
    /// Only planned before: a time, a day, or an age such as `2h`
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    thru: Option<TimeArgument>,
    /// Most rows to show [default: 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: Option<u32>,
    /// Number of the newest rows to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Print a JSON array of results
    #[arg(long)]
    json: bool,
    /// Print in this format; `nagios` prints the newest result of one monitor, as a plugin does
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<ResultsFormat>,
    #[command(flatten)]
    source: SourceArgs,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ResultsFormat {
    /// A table for people.
    Text,
    /// JSON, as with `--json`.
    Json,
    /// A line with performance data, as plugins of Nagios, Icinga and Checkmk print it.
    Nagios,
}

/// Rows of a list without `--limit`.
const DEFAULT_LIMIT: u32 = 20;

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let default_format = if args.json { ResultsFormat::Json } else { ResultsFormat::Text };
    let format = args.format.unwrap_or(default_format);
    if format == ResultsFormat::Nagios {
        require_one_result(&args)?;
    }
    super::process::build_single_threaded_runtime()?.block_on(async {
        let mut source = args.source.open().await?;
        let monitors = match &args.monitor {
            Some(name) => vec![source.find_monitor(name).await?.id],
            None => Vec::new(),
        };
        let now = SystemClock.now();
        let filter = ResultFilter {
            monitors,
            location: None,
            from: args.from.map(|time| time.resolve(now)),
            until: args.thru.map(|time| time.resolve(now)),
            outcomes: args.outcome,
            customer: None,
        };
        let is_nagios = format == ResultsFormat::Nagios;
        let limit = args.limit.unwrap_or(if is_nagios { 1 } else { DEFAULT_LIMIT });
        let page = source.results(filter, Pagination { limit, offset: args.offset }).await?;
        match format {
            ResultsFormat::Json => {
                output::print(&format!("{}\n", serde_json::to_string_pretty(&page.results)?))?;
            }
            ResultsFormat::Text => {
                let locations = source.locations().await?;
                let mut text = render_results(&page.results, &locations, Style::for_stdout());
                let shown_count = page.results.len();
                text.push_str(&Style::for_stdout().dim(&format!("{shown_count} of {} results", page.total)));
                output::print(&format!("{text}\n"))?;
            }
            ResultsFormat::Nagios => {
                let name = args.monitor.as_deref().unwrap_or_default();
                let Some(result) = page.results.first() else {
                    anyhow::bail!("no result of `{name}` matches the options");
                };
                output::print(&render_nagios_result(result))?;
                return Ok(ExitCode::from(exit_code(result.outcome)));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Refuses what does not select the newest result of one monitor.
fn require_one_result(args: &Args) -> anyhow::Result<()> {
    if args.monitor.is_none() {
        let hint = "name it by its id or name: `vigie results shop --format nagios`".to_owned();
        return Err(UsageError::with_hint("`--format nagios` is for one monitor", Some(hint)));
    }
    if args.limit.is_some() {
        return Err(UsageError::with_hint(
            "`--format nagios` prints one result: `--limit` has no effect",
            None,
        ));
    }
    Ok(())
}

fn parse_outcome(name: &str) -> Result<Outcome, String> {
    let all_names = Outcome::ALL.map(Outcome::name).join("`, `");
    Outcome::from_name(name).ok_or_else(|| format!("an outcome is one of `{all_names}`"))
}

/// Renders `results` as a table; empty without results.
fn render_results(results: &[CheckResult], locations: &[Location], style: Style) -> String {
    if results.is_empty() {
        return String::new();
    }
    let rows = results.iter().map(|result| {
        let duration_text =
            if result.attempts.is_empty() { String::new() } else { format_duration(result.duration_us) };
        vec![
            table::time_cell(result.planned_at),
            Cell::new(escape_controls(&result.monitor_name)),
            Cell::new(result.monitor_type),
            Cell::new(location_name(result.location_id, locations)),
            table::outcome_cell(result.outcome, style),
            Cell::new(duration_text).set_alignment(CellAlignment::Right),
            Cell::new(escape_controls(&result_reason(result))),
        ]
    });
    table::render_table(
        &["planned (UTC)", "monitor", "type", "location", "outcome", "duration", "why"],
        rows.collect(),
        style,
    )
}

/// Returns the name of a location; its id when the name is not known.
fn location_name(id: LocationId, locations: &[Location]) -> String {
    let known_location = locations.iter().find(|location| location.id == id);
    known_location.map_or_else(|| id.to_string(), |location| location.name.clone())
}

/// Returns the first reason, after `first check:` for such a check; for missed runs, how many and why; for a suppressed
/// error also which monitors are down.
fn result_reason(result: &CheckResult) -> String {
    let reason = match result.missed {
        Some(missed) => format!("{} missed: {}", missed.run_count, missed.reason.describe()),
        None if result.suppressed_by.is_empty() => result.reasons.first().cloned().unwrap_or_default(),
        None => format!("{} ({})", deciding_reason(result), suppression_text(result)),
    };
    match (trigger_text(result), reason.as_str()) {
        ("", _) => reason,
        (trigger, "") => trigger.to_owned(),
        (trigger, reason) => format!("{trigger}: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::CheckTrigger;
    use crate::service::result_view::sample_result::sample_result;

    #[test]
    fn a_first_check_is_told_before_its_reason() {
        let mut result = CheckResult { trigger: CheckTrigger::First, ..sample_result() };
        result.reasons = vec!["connect: refused".to_owned()];
        assert_eq!(result_reason(&result), "first check: connect: refused");
        result.reasons.clear();
        assert_eq!(result_reason(&result), "first check");
        result.trigger = CheckTrigger::Schedule;
        assert_eq!(result_reason(&result), "");
    }
}
