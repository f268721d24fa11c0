//! The page of one monitor: its settings and last results.

use std::fmt::Write;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};

use super::actions::render_buttons;
use super::history_bars::load_history_bars;
use super::host_values::render_host_values;
use super::html::{escape, render_age, render_table_head};
use super::latency::{LatencyQuery, render_latency};
use super::live::{LiveBlock, LivePage, LiveRow};
use super::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use super::page_state::PageState;
use super::phase_bar::{render_phase_bar, render_phase_legend};
use super::reliability::render_reliability;
use super::responses::{not_found, store_unavailable};
use super::result::suppression_text;
use super::viewer::Viewer;
use crate::domain::{
    CheckResult, Location, LocationId, LocationMode, MonitorId, PaginatedResults, Pagination, ResultFilter,
    StoreError, Timestamp, format_peer,
};
use crate::redaction::urls::redact_credentials;
use crate::schema::Monitor;
use crate::service::EventMarker;
use crate::service::result_view::{deciding_reason, format_interval, trigger_text};
use crate::texts::{Locale, key};

/// Most results on the page.
const MAX_RESULTS: u32 = 50;

/// `GET /monitors/{id}`
pub(super) async fn get_page(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
    Query(latency_query): Query<LatencyQuery>,
) -> Response {
    let (monitor, page) = match find_page(&state, &viewer, &id).await {
        Ok(found) => found,
        Err(response) => return response,
    };
    let latency = match render_latency(&state, &monitor, &viewer, &latency_query).await {
        Ok(latency) => latency,
        Err(error) => return store_unavailable(&error),
    };
    let reliability = match render_reliability(&state, &monitor, &viewer).await {
        Ok(reliability) => reliability,
        Err(error) => return store_unavailable(&error),
    };
    let host_values = match render_host_values(&state, &monitor, &viewer).await {
        Ok(host_values) => host_values,
        Err(error) => return store_unavailable(&error),
    };
    let unchanging = host_values + &reliability + &latency;
    let parts = page.render_with(&format!("/monitors/{}", monitor.id), "results", &unchanging);
    let links = render_links(&monitor, &viewer);
    let name = escape(monitor.name());
    let body = format!(r#"<div class="heading"><h1>{name}</h1>{links}</div>{parts}"#);
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(viewer.locale())],
        ..PageFrame::new(&page.title, &viewer).at(state.clock.now())
    };
    render_page(frame, &body).into_response()
}

/// Renders links to the other pages of `monitor`, for users of its account.
fn render_links(monitor: &Monitor, viewer: &Viewer) -> String {
    if !viewer.knows_account(monitor.customer) {
        return String::new();
    }
    let (id, t) = (monitor.id, viewer.locale());
    format!(
        r#"<span><a href="/monitors/{id}/history">{}</a> · <a href="/monitors/{id}/performance-alerts">{}</a></span>"#,
        t.text("Outages and changes"),
        t.text("Performance alerts")
    )
}

/// Makes what changes by itself of the page of the monitor `id`.
pub(super) async fn live_page(state: &PageState, viewer: &Viewer, id: &str) -> Result<LivePage, Response> {
    find_page(state, viewer, id).await.map(|(_, page)| page)
}

/// Finds the monitor `id` and makes the changing parts of its page.
async fn find_page(state: &PageState, viewer: &Viewer, id: &str) -> Result<(Monitor, LivePage), Response> {
    let monitor = id.parse().ok().and_then(|id| state.monitor_reader.monitor(MonitorId(id)));
    let monitor =
        monitor.filter(|monitor| viewer.visible_account.is_none_or(|customer| monitor.customer == customer));
    let monitor = monitor.ok_or_else(|| not_found("The monitor does not exist"))?;
    let page = load_page(state, &monitor, viewer).await.map_err(|error| store_unavailable(&error))?;
    Ok((monitor, page))
}

async fn load_page(state: &PageState, monitor: &Monitor, viewer: &Viewer) -> Result<LivePage, StoreError> {
    let filter = ResultFilter { monitors: vec![monitor.id], ..ResultFilter::default() };
    let results = state.monitor_reader.results(filter, Pagination { limit: MAX_RESULTS, offset: 0 }).await?;
    let events = visible_events(state, monitor, viewer, &results).await?;
    let locations = state.monitor_reader.locations_for(viewer.location_audience());
    let t = viewer.locale();
    let columns = ResultColumns::for_results(&results, monitor, &locations);
    let blocks = vec![
        LiveBlock::new("state", render_state(state, monitor, &results, t).await?),
        LiveBlock::new("buttons", render_buttons(monitor, viewer, state.clock.now())),
        LiveBlock::new("facts", render_settings(monitor, state, t)),
        LiveBlock::new("history", load_history_bars(state, monitor, state.clock.now(), t).await?),
        LiveBlock::new("strip", render_outcome_strip(&results, &events, t)),
        render_results(&results, &events, &columns, state.clock.now(), t),
    ];
    Ok(LivePage { title: format!("{} · Vigie", monitor.name()), blocks })
}

/// Renders the state of `monitor` and why, in one sentence.
async fn render_state(
    state: &PageState,
    monitor: &Monitor,
    results: &PaginatedResults,
    t: Locale,
) -> Result<String, StoreError> {
    let (reader, now) = (&state.monitor_reader, state.clock.now());
    let sentence = reader.state_sentence(monitor, &results.results, now, t).await?;
    Ok(format!(r#"<p class="state-now">{}.</p>"#, escape(&sentence)))
}

/// Returns the events of the account since the oldest of `results`. A viewer of public pages is no user of the account
/// and sees none.
async fn visible_events(
    state: &PageState,
    monitor: &Monitor,
    viewer: &Viewer,
    results: &PaginatedResults,
) -> Result<Vec<EventMarker>, StoreError> {
    let oldest = results.results.last().filter(|_| viewer.visible_account.is_some());
    let Some(oldest) = oldest else { return Ok(Vec::new()) };
    // The events of this moment are included.
    let until = state.clock.now() + Duration::from_micros(1);
    state.monitor_reader.event_markers(monitor.customer, oldest.planned_at, until).await
}

fn render_settings(monitor: &Monitor, state: &PageState, t: Locale) -> String {
    let now = state.clock.now();
    let timeout_text = if monitor.document.settings().schedule.retry_on_failure {
        key("{seconds} s, with retry")
    } else {
        key("{seconds} s, no retry")
    };
    let labelled_values = [
        (key("Id"), monitor.id.to_string()),
        (key("Key"), monitor.origin.key().unwrap_or("–").to_owned()),
        (key("Type"), monitor.monitor_type().to_string()),
        (key("Target"), display_target(monitor)),
        (key("Every"), format_interval(monitor.interval())),
        (key("Timeout"), t.fill(timeout_text, &[("seconds", &monitor.timeout().as_secs().to_string())])),
        (
            key("State"),
            t.text(&state.monitor_reader.overall_health(monitor, now).as_str().replace('_', " ")).to_owned(),
        ),
        (key("Enabled"), t.text(if monitor.enabled() { key("yes") } else { key("no") }).to_owned()),
        (key("Depends on"), display_parents(monitor, state)),
        (key("Paused"), monitor.paused_until(now).map(|until| pause_text(until, t)).unwrap_or_default()),
        (key("Version"), version_text(monitor, t)),
        (key("Note"), monitor.document.note().to_owned()),
    ];
    let mut out = String::from(r#"<dl class="facts">"#);
    for (name, value) in labelled_values.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(out, "<div><dt>{}</dt><dd>{}</dd></div>", t.text(name), escape(value));
    }
    out.push_str("</dl>");
    out
}

fn pause_text(until: Timestamp, t: Locale) -> String {
    t.fill("until {time}", &[("time", &t.zoned_time(until))])
}

fn version_text(monitor: &Monitor, t: Locale) -> String {
    let (version, time) = (monitor.revision.to_string(), t.zoned_time(monitor.modified_at));
    t.fill("{version} of {time}", &[("version", &version), ("time", &time)])
}

/// Returns the names and ids of the monitors that it depends on, without those that were removed.
fn display_parents(monitor: &Monitor, state: &PageState) -> String {
    let parents = monitor.document.parent_ids().into_iter().filter_map(|id| {
        let parent = state.monitor_reader.monitor(id)?;
        (parent.customer == monitor.customer).then(|| format!("{} ({id})", parent.name()))
    });
    parents.collect::<Vec<_>>().join(", ")
}

/// Returns the target, without the credentials of a URL.
pub(super) fn display_target(monitor: &Monitor) -> String {
    if let Some(text) = monitor.document.url() {
        let Ok(mut url) = url::Url::parse(text) else { return String::new() };
        // Fails only for a URL without a host, which cannot hold credentials.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        return redact_credentials(url.as_str()).into_owned();
    }
    let host = monitor.document.hostname().unwrap_or_default();
    match monitor.document.port() {
        None => host.to_owned(),
        Some(port) => format!("{host}:{port}"),
    }
}

/// Renders one small box per result, oldest first, with a mark for each event between them.
fn render_outcome_strip(results: &PaginatedResults, events: &[EventMarker], t: Locale) -> String {
    let mut out = String::from(r#"<div class="strip" aria-hidden="true">"#);
    let mut next_events = events.iter().peekable();
    let render_mark = |event: &EventMarker| {
        format!(r#"<b title="{} {}"></b>"#, t.time(event.reported_at), escape(&event.text()))
    };
    for result in results.results.iter().rev() {
        while let Some(event) = next_events.next_if(|event| event.reported_at < result.planned_at) {
            out.push_str(&render_mark(event));
        }
        let (outcome, planned_time) = (result.outcome, t.time(result.planned_at));
        let _ =
            write!(out, r#"<i class="s-{outcome}" title="{planned_time} {}"></i>"#, t.text(outcome.name()));
    }
    next_events.for_each(|event| out.push_str(&render_mark(event)));
    out.push_str("</div>");
    out
}

/// Which optional columns the table of results has.
struct ResultColumns<'a> {
    /// Locations with their names; `None` when all results are from one location.
    locations: Option<&'a [Location]>,
    /// Whether to show lateness. Round-robin locations start later on purpose, so it is not shown for them.
    shows_lateness: bool,
}

impl<'a> ResultColumns<'a> {
    fn for_results(results: &PaginatedResults, monitor: &Monitor, locations: &'a [Location]) -> Self {
        let first_location_id = results.results.first().map(|result| result.location_id);
        let has_several_locations =
            results.results.iter().any(|result| Some(result.location_id) != first_location_id);
        let is_round_robin = monitor.document.settings().location_mode == LocationMode::RoundRobin;
        Self { locations: has_several_locations.then_some(locations), shows_lateness: !is_round_robin }
    }

    /// Renders the cell that names the location.
    fn location_cell(&self, id: LocationId) -> String {
        let Some(locations) = self.locations else { return String::new() };
        let known_location = locations.iter().find(|location| location.id == id);
        let name = known_location.map_or_else(|| id.to_string(), |location| location.name.clone());
        format!("<td>{}</td>", escape(&name))
    }
}

fn render_results(
    results: &PaginatedResults,
    events: &[EventMarker],
    columns: &ResultColumns<'_>,
    now: Timestamp,
    t: Locale,
) -> LiveBlock {
    if results.results.is_empty() {
        return LiveBlock::new(
            "results",
            format!(r#"<p class="notice">{}</p>"#, t.text("No run was recorded yet.")),
        );
    }
    let count = results.results.len().to_string();
    let mut heads = vec![("", key("Outcome")), ("", key("Planned")), ("", key("Age"))];
    if columns.locations.is_some() {
        heads.push(("", key("Location")));
    }
    heads.extend([
        ("n", key("Late")),
        ("n", key("Duration")),
        ("", key("Phases")),
        ("n", key("Attempts")),
        ("", key("Address")),
        ("", key("Reason")),
    ]);
    let before = format!(
        "<h2>{}</h2>{}",
        t.fill("Last {count} of {all} results", &[("count", &count), ("all", &results.total.to_string())]),
        render_table_head(&heads, t)
    );
    let mut rows = Vec::with_capacity(results.results.len() + events.len());
    let mut next_events = events.iter().enumerate().rev().peekable();
    for result in &results.results {
        while let Some((index, event)) =
            next_events.next_if(|(_, event)| event.reported_at >= result.planned_at)
        {
            rows.push(render_event_row(index, event, columns, now, t));
        }
        rows.push(render_result_row(result, columns, now, t));
    }
    let legend = render_phase_legend(results.results.iter().map(CheckResult::phases), t);
    LiveBlock { id: "results", before, rows, after: format!("</tbody></table></div>{legend}") }
}

fn render_event_row(
    index: usize,
    event: &EventMarker,
    columns: &ResultColumns<'_>,
    now: Timestamp,
    t: Locale,
) -> LiveRow {
    let column_count = 6 + usize::from(columns.locations.is_some());
    let row_id = format!("event-{index}");
    let html = format!(
        r#"<tr id="{row_id}" class="event"><td>{}</td><td>{}</td><td>{}</td><td colspan="{column_count}">{}</td></tr>"#,
        t.text("event"),
        t.time(event.reported_at),
        render_age(event.reported_at, now, t),
        escape(&event.text())
    );
    LiveRow { id: row_id, html }
}

fn render_result_row(
    result: &CheckResult,
    columns: &ResultColumns<'_>,
    now: Timestamp,
    t: Locale,
) -> LiveRow {
    let (outcome, id) = (result.outcome, result.check_id);
    let lateness = result
        .lateness()
        .filter(|_| columns.shows_lateness)
        .map(|lateness| t.micros(u64::try_from(lateness.as_micros()).unwrap_or(u64::MAX)));
    let duration_text = if result.duration_us > 0 { t.micros(result.duration_us) } else { String::new() };
    let reason_text =
        if result.reasons.len() > 1 { result.reasons.join(" · ") } else { deciding_reason(result) };
    let suppression = suppression_text(result, t);
    let texts = [
        t.text(trigger_text(result)).to_owned(),
        t.english_html(&reason_text),
        escape(&suppression).into_owned(),
    ];
    let reason_text = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ");
    let attempt_count_text =
        if result.attempts.is_empty() { String::new() } else { result.attempts.len().to_string() };
    let (row_id, outcome_text) = (format!("result-{id}"), t.text(outcome.name()));
    let html = format!(
        r#"<tr id="{row_id}"><td><span class="pill s-{outcome}">{outcome_text}</span></td><td><a href="/results/{id}">{}</a></td><td>{}</td>{}<td class="n" data-h="{}">{}</td><td class="n" data-h="{}">{duration_text}</td><td>{}</td><td class="n" data-h="{}">{attempt_count_text}</td><td>{}</td><td class="reason">{}</td></tr>"#,
        t.time(result.planned_at),
        render_age(result.planned_at, now, t),
        columns.location_cell(result.location_id),
        t.text("late"),
        lateness.unwrap_or_default(),
        t.text("took"),
        render_phase_bar(&result.phases(), t),
        t.text("attempts"),
        result.address.map(format_peer).unwrap_or_default(),
        reason_text
    );
    LiveRow { id: row_id, html }
}
