//! The part of the page of a monitor with its charts.

use askama::Template;
use serde::Deserialize;

use super::figure::{Figure, Row, location_name};
use super::marks::{MarkView, load_marks, marks_summary};
use super::span::LatencySpan;
use crate::domain::{LocationId, Rollup, RollupStep, StoreError};
use crate::schema::Monitor;
use crate::texts::{Locale, Zone, key};
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

    fn subtitle(&self) -> &str {
        let is_day = self.span.step == RollupStep::Day;
        self.t.text(if is_day {
            key("of runs that passed, by day")
        } else {
            key("of runs that passed, by hour")
        })
    }

    fn hidden_text(&self, figure: &Figure) -> String {
        let one = key("{count} more location with fewer runs is left out; choose one of them above.");
        let other = key("{count} more locations with fewer runs are left out; choose one of them above.");
        self.t.count(one, other, figure.hidden_locations as u64)
    }

    fn marks_text(&self) -> String {
        let (span, marks) = (self.t.text(self.span.name), marks_summary(&self.marks, self.t));
        self.t.fill("In these {span}: {marks}", &[("span", span), ("marks", &marks)])
    }

    fn explanation(&self) -> String {
        let text = if self.span.step == RollupStep::Day {
            key(
                "Computed for each day from the runs that were ok or a warning; one without such a run is a gap. Phases are means over the runs that reached them. In the charts, ▼ is an event, ◆ a change of the monitor, and a shade a blackout. Times are in {zone}, days in UTC.",
            )
        } else {
            key(
                "Computed for each hour from the runs that were ok or a warning; one without such a run is a gap. Phases are means over the runs that reached them. In the charts, ▼ is an event, ◆ a change of the monitor, and a shade a blackout. Times are in {zone}, days in UTC.",
            )
        };
        self.t.fill(text, &[("zone", self.t.zone.name())])
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
    let t = viewer.locale();
    let span = LatencySpan::from_key(&query.span);
    let read_from = span.read_from(now);
    let rollups = state.monitor_reader.rollups_for_pages(monitor.id, span.step, read_from, now).await?;
    let names = state.monitor_reader.locations_for(viewer.location_audience());
    let starts = span.starts(now);
    let mut ids: Vec<LocationId> = rollups.iter().map(|rollup| rollup.location_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let wanted = query.location.parse().ok().map(LocationId).filter(|id| ids.contains(id));
    let shown: Vec<&Rollup> =
        rollups.iter().filter(|rollup| wanted.is_none_or(|id| rollup.location_id == id)).collect();
    let durations = match (wanted, ids.as_slice()) {
        (Some(id), _) => Figure::percentiles(&shown, &starts, &location_name(id, &names), t),
        (None, [id]) => Figure::percentiles(&shown, &starts, &location_name(*id, &names), t),
        _ => Figure::by_location(&shown, &starts, &names, t),
    };
    let address = |span: &LatencySpan, location: Option<LocationId>| {
        let location = location.map(|id| format!("&location={id}")).unwrap_or_default();
        format!("/monitors/{}?span={}{location}#durations", monitor.id, span.key)
    };
    let to_span = |other: LatencySpan| Choice {
        name: t.text(other.name).to_owned(),
        href: address(&other, wanted),
        is_current: other == span,
    };
    let everywhere = Choice {
        name: t.text("all locations").to_owned(),
        href: address(&span, None),
        is_current: wanted.is_none(),
    };
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
        figures: vec![Figure::by_phase(&shown, &starts, t), durations],
        marks: load_marks(state, monitor, viewer, from, now).await?,
        t,
    };
    // Writing into a string cannot fail.
    Ok(latency.render().unwrap_or_default())
}
