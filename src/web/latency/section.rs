//! The part of the page of a monitor with its charts.

use askama::Template;
use serde::Deserialize;

use super::figure::{Figure, Row, location_name};
use super::marks::{MarkView, load_marks, marks_summary};
use super::span::LatencySpan;
use crate::domain::{LocationId, Rollup, RollupStep, StoreError};
use crate::schema::Monitor;
use crate::texts::{Locale, Zone};
use crate::web::assets::asset_url;
use crate::web::page_state::PageState;
use crate::web::viewer::Viewer;

/// Which charts are shown.
#[derive(Clone, Debug, Default, Deserialize)]
pub(in crate::web) struct LatencyQuery {
    /// Name of the span.
    #[serde(default)]
    span: String,
    /// Id of the location; empty for all.
    #[serde(default)]
    location: String,
}

/// A choice of what is shown.
struct Choice {
    name: String,
    href: String,
    is_current: bool,
}

#[derive(Template)]
#[template(path = "latency.html", config = "src/web/askama.toml")]
struct Latency {
    span: LatencySpan,
    spans: Vec<Choice>,
    /// Empty for a monitor that ran at one location only.
    locations: Vec<Choice>,
    figures: Vec<Figure>,
    marks: Vec<MarkView>,
    t: Locale,
}

impl Latency {
    fn step_name(&self) -> &'static str {
        self.span.step.name()
    }

    fn step_seconds(&self) -> u64 {
        self.span.step.width().as_secs()
    }

    /// Formats the start of a step: a day has no time.
    fn step_time(&self, row: &Row) -> String {
        let shown = if self.span.step == RollupStep::Day { 10 } else { 16 };
        let time = self.zone().format(row.start);
        time.get(..shown).map(str::to_owned).unwrap_or(time)
    }

    /// Returns the zone of the chart: days are those of UTC, in which they are counted.
    fn zone(&self) -> Zone {
        if self.span.step == RollupStep::Day { Zone::default() } else { self.t.zone }
    }

    fn has_numbers(&self) -> bool {
        self.figures.iter().any(|figure| figure.rows.iter().any(|row| row.cells.iter().any(Option::is_some)))
    }
}

/// Reads the durations of `monitor` and renders their charts, for `viewer`.
pub(in crate::web) async fn render_latency(
    state: &PageState,
    monitor: &Monitor,
    viewer: &Viewer,
    query: &LatencyQuery,
) -> Result<String, StoreError> {
    let now = state.clock.now();
    let span = LatencySpan::from_key(&query.span);
    let read_from = span.read_from(now);
    let rollups = state.monitor_reader.rollups_for_pages(monitor.id, span.step, read_from, now).await?;
    let names = state.monitor_reader.locations();
    let starts = span.starts(now);
    let mut ids: Vec<LocationId> = rollups.iter().map(|rollup| rollup.location_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let wanted = query.location.parse().ok().map(LocationId).filter(|id| ids.contains(id));
    let shown: Vec<&Rollup> =
        rollups.iter().filter(|rollup| wanted.is_none_or(|id| rollup.location_id == id)).collect();
    let durations = match (wanted, ids.as_slice()) {
        (Some(id), _) => Figure::percentiles(&shown, &starts, &location_name(id, &names)),
        (None, [id]) => Figure::percentiles(&shown, &starts, &location_name(*id, &names)),
        _ => Figure::by_location(&shown, &starts, &names),
    };
    let address = |span: &LatencySpan, location: Option<LocationId>| {
        let location = location.map(|id| format!("&location={id}")).unwrap_or_default();
        format!("/monitors/{}?span={}{location}#durations", monitor.id, span.key)
    };
    let to_span = |other: LatencySpan| Choice {
        name: other.name.to_owned(),
        href: address(&other, wanted),
        is_current: other == span,
    };
    let everywhere =
        Choice { name: "all locations".to_owned(), href: address(&span, None), is_current: wanted.is_none() };
    let to_location = |id: &LocationId| Choice {
        name: location_name(*id, &names),
        href: address(&span, Some(*id)),
        is_current: wanted == Some(*id),
    };
    let locations = std::iter::once(everywhere).chain(ids.iter().map(to_location)).collect();
    let from = starts.first().copied().unwrap_or(now);
    let latency = Latency {
        span,
        spans: LatencySpan::ALL.into_iter().map(to_span).collect(),
        locations: if ids.len() > 1 { locations } else { Vec::new() },
        figures: vec![Figure::by_phase(&shown, &starts), durations],
        marks: load_marks(state, monitor, viewer, from, now).await?,
        t: viewer.locale(),
    };
    // Writing into a string cannot fail.
    Ok(latency.render().unwrap_or_default())
}
