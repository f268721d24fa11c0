//! `vigie usage`: how many checks ran, by plan, type, location or monitor.

use std::process::ExitCode;

use comfy_table::{Cell, CellAlignment};

use super::api_client::ServerArgs;
use super::render::escape_controls;
use super::style::Style;
use super::time_argument::TimeArgument;
use super::{output, table};
use crate::clock::{Clock, SystemClock};
use crate::domain::UsageGrouping;
use crate::service::UsageReport;

/// Show how many checks ran, by billing plan, type, location or monitor
///
/// Days are those of UTC, counted whole. A check counts if it ran: ok, warning, error and unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie usage                                      this month, by billing plan
  vigie usage --by monitor --from 7d               of the last seven days, by monitor
  vigie usage --from 2026-10-01 --thru 2026-11-01  of October
  vigie usage --csv > usage.csv                    for a spreadsheet")]
pub(super) struct Args {
    /// What checks are counted by: plan, type, location or monitor
    #[arg(long, value_name = "WHAT", default_value = "plan", value_parser = UsageGrouping::NAMES)]
    by: String,
    /// From this day on: a time, a day, or an age such as `7d` [default: the start of the month]
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    from: Option<TimeArgument>,
    /// Until this time, its day included: a time, a day, or an age such as `7d` [default: now]
    #[arg(long, value_name = "WHEN", value_parser = TimeArgument::parse)]
    thru: Option<TimeArgument>,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let now = SystemClock.now();
    let mut query = vec![("by", args.by)];
    let times = [("from", args.from), ("thru", args.thru)];
    query.extend(times.into_iter().filter_map(|(name, time)| Some((name, time?.resolve(now).to_string()))));
    let report: UsageReport = super::process::build_single_threaded_runtime()?
        .block_on(async { args.server.connect().await?.get("usage", &query).await })?;
    let text = if args.csv {
        report.to_csv()
    } else if args.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        render_report(&report, Style::for_stdout())
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn render_report(report: &UsageReport, style: Style) -> String {
    let rows = report.rows.iter().map(|row| {
        let checks = Cell::new(row.checks).set_alignment(CellAlignment::Right);
        vec![Cell::new(escape_controls(&row.key)), Cell::new(escape_controls(&row.name)), checks]
    });
    let rows: Vec<_> = rows.collect();
    let table_text = if rows.is_empty() {
        String::new()
    } else {
        table::render_table(&[&report.by, "name", "checks"], rows, style)
    };
    let [from, thru] = [report.from, report.thru].map(|time| time.to_string().replace("T00:00:00Z", ""));
    format!("{table_text}{}\n", style.dim(&format!("{} checks from {from} to {thru} (UTC)", report.total)))
}
