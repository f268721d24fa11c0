//! `vigie monitors`: lists the monitors with their last result.

use std::process::ExitCode;

use comfy_table::Cell;
use serde::Serialize;

use super::render::escape_controls;
use super::source::{MonitorListRow, ReadSource, SourceArgs};
use super::style::Style;
use super::{output, table};
use crate::domain::{CheckResult, MonitorType, Outcome, Status, Timestamp};
use crate::service::result_view::format_interval;
use crate::store::{Pagination, ResultFilter};

/// List the monitors with their last outcome
///
/// Reads from a running server, or with `--data`, `--config` or `--url` from a database, whether a server runs or not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  vigie monitors                         all of the server on this host
  vigie monitors --type website --json   of one type, for other programs
  vigie monitors --property team:a       with this value of a custom property
  vigie monitors --data /var/lib/vigie   without a server")]
pub(super) struct Args {
    /// Only monitors of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = super::monitor_type::parse_monitor_type)]
    monitor_type: Option<MonitorType>,
    /// Only monitors with this value of a custom property, such as `team:a`; several are all required
    #[arg(long, value_name = "NAME:VALUE", conflicts_with_all = ["data", "config", "url"])]
    property: Vec<String>,
    /// Most rows to show
    #[arg(long, default_value_t = 50)]
    limit: usize,
    /// Rows to skip
    #[arg(long, default_value_t = 0)]
    offset: usize,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: SourceArgs,
}

/// A monitor and its last result.
#[derive(Debug, Serialize)]
struct MonitorWithLastResult {
    #[serde(flatten)]
    monitor: MonitorListRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "last")]
    last_result: Option<LastResult>,
}

#[derive(Debug, Serialize)]
struct LastResult {
    planned_at: Timestamp,
    outcome: Outcome,
    status: Status,
    status_text: String,
}

impl From<CheckResult> for LastResult {
    fn from(result: CheckResult) -> Self {
        let CheckResult { planned_at, outcome, status, status_text, .. } = result;
        Self { planned_at, outcome, status, status_text }
    }
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::process::build_single_threaded_runtime()?.block_on(async {
        let mut source = args.source.open().await?;
        let mut monitors = source.monitors(&args.property).await?;
        monitors.retain(|row| args.monitor_type.is_none_or(|monitor_type| row.monitor_type == monitor_type));
        let total_count = monitors.len();
        let mut rows = Vec::new();
        for monitor in monitors.into_iter().skip(args.offset).take(args.limit) {
            let last_result = fetch_last_result(&mut source, &monitor).await?;
            rows.push(MonitorWithLastResult { monitor, last_result });
        }
        let text = if args.json {
            serde_json::to_string_pretty(&rows)?
        } else {
            let style = Style::for_stdout();
            format!(
                "{}{}",
                render_table(&rows, style),
                style.dim(&format!("{} of {total_count} monitors", rows.len()))
            )
        };
        output::print(&format!("{text}\n"))?;
        Ok(ExitCode::SUCCESS)
    })
}

async fn fetch_last_result(
    source: &mut ReadSource,
    monitor: &MonitorListRow,
) -> anyhow::Result<Option<LastResult>> {
    let filter = ResultFilter { monitors: vec![monitor.id], ..ResultFilter::default() };
    let page = source.results(filter, Pagination { limit: 1, offset: 0 }).await?;
    Ok(page.results.into_iter().next().map(LastResult::from))
}

/// Renders `rows` as a table; empty without rows.
fn render_table(rows: &[MonitorWithLastResult], style: Style) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let table_rows = rows.iter().map(|MonitorWithLastResult { monitor, last_result }| {
        let outcome_cell = match last_result {
            _ if !monitor.enabled => Cell::new("disabled"),
            _ if monitor.paused_until.is_some() => {
                let until = monitor.paused_until.map(table::format_time_in_seconds).unwrap_or_default();
                Cell::new(format!("paused until {until}"))
            }
            None => Cell::new("no run yet"),
            Some(last_result) => table::outcome_cell(last_result.outcome, style),
        };
        vec![
            Cell::new(monitor.id),
            Cell::new(escape_controls(&monitor.name)),
            Cell::new(monitor.monitor_type),
            Cell::new(format_interval(monitor.interval())),
            outcome_cell,
            last_result
                .as_ref()
                .map_or_else(|| Cell::new(""), |last_result| table::time_cell(last_result.planned_at)),
        ]
    });
    table::render_table(
        &["id", "name", "type", "interval", "outcome", "last run (UTC)"],
        table_rows.collect(),
        style,
    )
}
