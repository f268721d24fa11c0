//! The part of the page of a monitor about the values of its host: the newest ones, and their graph over a day.

use std::fmt::Write;

use super::html::escape;
use super::page_state::PageState;
use super::viewer::Viewer;
use crate::domain::{StoreError, Timestamp, format_series_value};
use crate::schema::Monitor;
use crate::service::SeriesGraph;

/// Size of a graph, in CSS pixels.
const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 24.0;

/// Renders the values of the host of `monitor`, for users of its account; empty without a host that reports.
pub(super) async fn render_host_values(
    state: &PageState,
    monitor: &Monitor,
    viewer: &Viewer,
) -> Result<String, StoreError> {
    if !viewer.knows_account(monitor.customer) {
        return Ok(String::new());
    }
    let now = state.clock.now();
    let graphs = state.monitor_reader.host_graphs(monitor, now).await?;
    if graphs.is_empty() {
        return Ok(String::new());
    }
    let t = viewer.locale();
    let mut out = format!(
        r#"<section aria-labelledby="host-values"><h2 id="host-values">{title}</h2><div class="scroll" tabindex="0" role="region" aria-label="{title}"><table class="rows"><thead><tr><th>{}</th><th class="n">{}</th><th>{}</th></tr></thead><tbody>"#,
        t.text("Series"),
        t.text("Value"),
        t.text("Last 24 hours"),
        title = t.text("Values of the host")
    );
    for graph in &graphs {
        let _ = write!(
            out,
            r#"<tr><td><code>{}</code></td><td class="n">{}</td><td>{}</td></tr>"#,
            escape(&graph.series),
            escape(&format_series_value(&graph.series, graph.value)),
            render_graph(graph, now)
        );
    }
    out.push_str("</tbody></table></div></section>");
    Ok(out)
}

/// Renders a graph as a line between its least and greatest mean; both stand beside it.
fn render_graph(graph: &SeriesGraph, now: Timestamp) -> String {
    let means = || graph.points.iter().map(|(_, mean)| *mean);
    let (min, max) =
        means().fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), mean| (min.min(mean), max.max(mean)));
    let (Some(first), true) = (graph.points.first(), graph.points.len() > 1) else { return String::new() };
    let range_s = now.since(first.0).as_secs_f64().max(1.0);
    let mut points = String::new();
    for (start, mean) in &graph.points {
        let x = start.since(first.0).as_secs_f64() / range_s * WIDTH;
        let y =
            if max > min { (1.0 - (mean - min) / (max - min)) * (HEIGHT - 2.0) + 1.0 } else { HEIGHT / 2.0 };
        let _ = write!(points, "{x:.1},{y:.1} ");
    }
    format!(
        r#"<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{min} – {max}"><polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg> <small>{min} – {max}</small>"#,
        min = escape(&format_series_value(&graph.series, min)),
        max = escape(&format_series_value(&graph.series, max))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_has_a_point_for_each_span_and_names_its_extremes() {
        let start = Timestamp::from_seconds(1_800_000_000);
        let at = |minutes: u64| start + std::time::Duration::from_mins(minutes);
        let graph = SeriesGraph {
            series: "load1".to_owned(),
            value: 2.0,
            points: vec![(at(0), 1.0), (at(5), 3.0), (at(10), 2.0)],
        };
        let svg = render_graph(&graph, at(10));
        assert!(svg.contains("0.0,23.0 80.0,1.0 160.0,12.0") && svg.contains("1 – 3"), "{svg}");
        assert_eq!(render_graph(&SeriesGraph { points: Vec::new(), ..graph }, at(10)), "");
    }
}
