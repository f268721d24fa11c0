//! `vigie hosts values`: the newest values of a host, with their graph.

use std::collections::BTreeMap;
use std::process::ExitCode;

use comfy_table::{Cell, CellAlignment};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::api_client::{ListResponse, ServerArgs};
use crate::cli::render::escape_controls;
use crate::cli::style::Style;
use crate::cli::{output, table};
use crate::clock::{Clock, SystemClock};
use crate::domain::format_series_value;

/// Columns of a graph.
const GRAPH_WIDTH: usize = 24;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Print the newest values of a host, and their graph
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Id of the host
    id: i64,
    /// A metric such as `disk_used_percent`, or one of its series [default: all]
    #[arg(long)]
    metric: Option<String>,
    /// Hours of the graph
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=9600))]
    hours: u64,
    /// Print JSON: values and history
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Deserialize)]
struct ValueRow {
    series: String,
    value: f64,
}

#[derive(Debug, Deserialize)]
struct Point {
    series: String,
    mean: f64,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut client = args.server.connect().await?;
    let from = SystemClock.now() - std::time::Duration::from_hours(args.hours);
    let mut query = vec![("from", from.to_string())];
    query.extend(args.metric.clone().map(|metric| ("metric", metric)));
    let history: ListResponse<Value> = client.get(&format!("hosts/{}/history", args.id), &query).await?;
    let values: ListResponse<Value> = client.get(&format!("hosts/{}/values", args.id), &[]).await?;
    if args.json {
        let both = json!({"values": values.results, "history": history.results});
        output::print(&(serde_json::to_string_pretty(&both)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let values: Vec<ValueRow> =
        values.results.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
    let points: Vec<Point> =
        history.results.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
    if values.is_empty() {
        output::print_note("no report yet");
    } else {
        output::print(&render(&values, &points, args.metric.is_some(), Style::for_stdout()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Renders the values; `only_with_graph` leaves out series that the history was not asked for.
fn render(values: &[ValueRow], points: &[Point], only_with_graph: bool, style: Style) -> String {
    let mut graphs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for point in points {
        graphs.entry(&point.series).or_default().push(point.mean);
    }
    let to_row = |value: &ValueRow| {
        let graph = graphs.get(value.series.as_str());
        vec![
            Cell::new(escape_controls(&value.series)),
            Cell::new(format_series_value(&value.series, value.value)).set_alignment(CellAlignment::Right),
            Cell::new(graph.map_or_else(String::new, |graph| draw(graph))),
        ]
    };
    let shown = values.iter().filter(|value| !only_with_graph || graphs.contains_key(value.series.as_str()));
    table::render_table(&["series", "value", "graph"], shown.map(to_row).collect(), style)
}

/// Draws a graph as bars between its least and its greatest value, several points as their mean.
fn draw(graph: &[f64]) -> String {
    let columns = graph.len().min(GRAPH_WIDTH);
    let column = |index: usize| {
        let (start, end) = (index * graph.len() / columns, (index + 1) * graph.len() / columns);
        graph[start..end].iter().sum::<f64>() / (end - start) as f64
    };
    let means: Vec<f64> = (0..columns).map(column).collect();
    let (min, max) = means
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), mean| (min.min(*mean), max.max(*mean)));
    let bar = |mean: &f64| {
        let height = if max > min { (mean - min) / (max - min) } else { 0.0 };
        let level = (0..BARS.len()).rev().find(|level| height * 7.0 + 0.5 >= *level as f64);
        BARS[level.unwrap_or(0)]
    };
    means.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_drawn_between_its_extremes() {
        assert_eq!(draw(&[1.0, 1.0]), "▁▁");
        assert_eq!(draw(&[0.0, 3.5, 7.0]), "▁▅█");
        assert_eq!(draw(&vec![1.0; 500]).chars().count(), GRAPH_WIDTH);
        assert_eq!(draw(&[]), "");
    }

    #[test]
    fn values_have_their_unit_and_graph() {
        let values = [ValueRow { series: "load1".to_owned(), value: 0.5 }];
        let points = [Point { series: "load1".to_owned(), mean: 1.0 }];
        let text = render(&values, &points, false, Style::PLAIN);
        assert!(text.contains("0.5") && text.contains('▁'), "{text}");
    }
}
