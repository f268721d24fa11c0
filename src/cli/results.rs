//! `vigie results`: lists check results.

use std::process::ExitCode;

use comfy_table::{Cell, CellAlignment};

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
  vigie results --json | jq '.[].total_us'   for other programs")]
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
    /// Most rows to show
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Number of the newest rows to skip
    #[arg(long, default_value_t = 0)]
    offset: u64,
    /// Print a JSON array of results
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
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
        let page = source.results(filter, Pagination { limit: args.limit, offset: args.offset }).await?;
        if args.json {
            output::print(&format!("{}\n", serde_json::to_string_pretty(&page.results)?))?;
        } else {
            let locations = source.locations().await?;
            let mut text = render_results(&page.results, &locations, Style::for_stdout());
            let shown_count = page.results.len();
            text.push_str(&Style::for_stdout().dim(&format!("{shown_count} of {} results", page.total)));
            output::print(&format!("{text}\n"))?;
        }
        Ok(ExitCode::SUCCESS)
    })
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
