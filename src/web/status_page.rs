//! The status page: monitors counted by state, and a list of them, those that need attention first.

use std::fmt::Write;
use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};

use super::html::{escape, format_micros, format_time, render_age, render_time_since, render_time_until};
use super::live::{LiveBlock, LivePage, LiveRow};
use super::page_frame::{PageFrame, Section, render_page};
use super::page_state::PageState;
use super::phase_bar::{render_phase_bar, render_phase_legend};
use super::responses::store_unavailable;
use super::status_query::StatusPageQuery;
use super::viewer::Viewer;
use crate::domain::{MonitorType, StoreError, Timestamp};
use crate::schema::Monitor;
use crate::service::result_view::deciding_reason;
use crate::service::{
    MonitorStatus, OverallHealth, PaginatedStatusRows, StatusBoard, StatusQuery, StatusRow,
};

/// Monitors per page.
const ROWS_PER_PAGE: usize = 50;

/// `GET /?standing=&type=&q=&property=&page=`
pub(super) async fn get_page(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    uri: Uri,
) -> Response {
    let query = StatusPageQuery::from_uri(&uri);
    let page = match load_page(&state, &viewer, &query).await {
        Ok(page) => page,
        Err(error) => return store_unavailable(&error),
    };
    let locations = state.monitor_reader.locations();
    let location_names: Vec<_> = locations.iter().map(|location| location.name.as_str()).collect();
    let location_names = location_names.join(", ");
    let filter = StatusFilter { query: &query };
    let body = format!(
        "<div class=\"heading\"><h1>Monitors <small>checked from {}</small></h1>{}</div>{}<div id=\"list\">{}</div>",
        escape(&location_names),
        if viewer.may_edit() { r#"<a class="button" href="/monitors/new">New monitor</a>"# } else { "" },
        // Writing into a string cannot fail.
        filter.render().unwrap_or_default(),
        page.render(&query.to_path()),
    );
    let frame = PageFrame {
        section: Some(Section::Monitors),
        ..PageFrame::new(&page.title, &viewer).at(state.clock.now())
    };
    render_page(frame, &body).into_response()
}

/// Makes what changes by itself of the page at `uri`.
pub(super) async fn live_page(state: &PageState, viewer: &Viewer, uri: &Uri) -> Result<LivePage, Response> {
    let query = StatusPageQuery::from_uri(uri);
    load_page(state, viewer, &query).await.map_err(|error| store_unavailable(&error))
}

/// Returns the monitors that `viewer` may see.
pub(super) async fn visible_board(
    state: &PageState,
    viewer: &Viewer,
    now: Timestamp,
) -> Result<Arc<StatusBoard>, StoreError> {
    let board = state.monitor_reader.status_board(now).await?;
    Ok(match viewer.visible_account {
        Some(customer) => Arc::new(board.for_customer(customer)),
        None => board,
    })
}

/// Makes the tiles and the rows of the page.
async fn load_page(
    state: &PageState,
    viewer: &Viewer,
    page_query: &StatusPageQuery,
) -> Result<LivePage, StoreError> {
    let now = state.clock.now();
    let board = visible_board(state, viewer, now).await?;
    let query = StatusQuery {
        limit: ROWS_PER_PAGE,
        offset: (page_query.page_number - 1).saturating_mul(ROWS_PER_PAGE),
        ..page_query.to_status_query(&state.monitor_reader, &board).await?
    };
    let page = state.monitor_reader.status_rows(&board, &query).await?;
    let error_count = board
        .counts_by_status()
        .iter()
        .find(|(status, _)| status.as_str() == "error")
        .map_or(0, |(_, count)| *count);
    let title = if error_count > 0 { format!("({error_count}) Vigie") } else { "Vigie".to_owned() };
    let overall_health = |monitor: &Monitor| state.monitor_reader.overall_health(monitor, now);
    let tiles = LiveBlock::new("tiles", render_status_tiles(&board, page_query));
    let mut rows = render_rows(&board, &page, &overall_health, now);
    rows.after.push_str(&render_pager(page_query, page.total));
    if page.total > 0 && viewer.caller.is_some() {
        let csv_path = page_query.to_csv_path();
        // Writing into a string cannot fail.
        let _ =
            write!(rows.after, r#"<p class="hint"><a href="{}">Download as CSV</a></p>"#, escape(&csv_path));
    }
    Ok(LivePage { title, blocks: vec![tiles, rows] })
}

/// A state with the number of monitors in it.
struct StatusTile {
    name: &'static str,
    href: String,
    count: usize,
    is_current: bool,
}

#[derive(Template)]
#[template(path = "status_tiles.html", config = "src/web/askama.toml")]
struct StatusTiles {
    tiles: Vec<StatusTile>,
}

/// The form by which monitors are found.
#[derive(Template)]
#[template(path = "status_filter.html", config = "src/web/askama.toml")]
struct StatusFilter<'a> {
    query: &'a StatusPageQuery,
}

/// A monitor in the list.
#[derive(Template)]
#[template(path = "status_row.html", config = "src/web/askama.toml")]
struct StatusRowView<'a> {
    row: &'a StatusRow,
    health: OverallHealth,
    /// Until when it is paused, as HTML.
    pause_note: String,
    last_run: Option<LastRunView>,
}

/// The last run of a monitor, as HTML.
struct LastRunView {
    age: String,
    duration: String,
    phase_bar: String,
    reason: String,
    since: String,
}

fn render_status_tiles(board: &StatusBoard, query: &StatusPageQuery) -> String {
    let tile = |status: Option<MonitorStatus>, count: usize| StatusTile {
        name: status.map_or("all", MonitorStatus::as_str),
        href: StatusPageQuery { status, page_number: 1, ..query.clone() }.to_path(),
        count,
        is_current: query.status == status,
    };
    let counts = board.counts_by_status().into_iter();
    let shown = counts.filter(|(status, count)| *count > 0 || query.status == Some(*status));
    let all = std::iter::once(tile(None, board.len()));
    let tiles = all.chain(shown.map(|(status, count)| tile(Some(status), count))).collect();
    // Writing into a string cannot fail.
    StatusTiles { tiles }.render().unwrap_or_default()
}

fn render_rows(
    board: &StatusBoard,
    page: &PaginatedStatusRows,
    overall_health: &dyn Fn(&Monitor) -> OverallHealth,
    now: Timestamp,
) -> LiveBlock {
    let notice = |text: &str| LiveBlock::new("rows", format!(r#"<p class="notice">{text}</p>"#));
    if board.is_empty() {
        return notice(
            r#"There are no monitors yet. Put a file into the monitors folder, or create one with <code>vigie apply</code> or the <a href="/api/v3/docs">API</a>; it appears here at once."#,
        );
    }
    if page.rows.is_empty() {
        return notice(r#"No monitor matches. <a href="/">Show all</a>"#);
    }
    let rows = page.rows.iter().map(|row| render_row(row, overall_health(&row.monitor), now)).collect();
    let last_phases = page.rows.iter().filter_map(|row| Some(row.last_result.as_ref()?.phases()));
    LiveBlock {
        id: "rows",
        before: r#"<div class="scroll"><table class="rows"><thead><tr><th>State</th><th>Monitor</th><th>Type</th><th>Last run</th><th class="n">Duration</th><th>Phases</th><th>Reason</th><th>Since</th></tr></thead><tbody>"#.to_owned(),
        rows,
        after: format!("</tbody></table></div>{}", render_phase_legend(last_phases)),
    }
}

fn render_row(row: &StatusRow, health: OverallHealth, now: Timestamp) -> LiveRow {
    let paused_until = row.monitor.paused_until(now).filter(|_| row.status == MonitorStatus::Paused);
    let pause_note = paused_until
        .map(|until| format!("until {} UTC, {} from now", format_time(until), render_time_until(until, now)));
    let last_run = row.state.as_ref().map(|state| {
        let last_result = row.last_result.as_ref();
        let reason = last_result.map_or_else(|| state.status.text().to_owned(), deciding_reason);
        LastRunView {
            age: render_age(state.planned_at, now),
            duration: if state.duration_us > 0 { format_micros(state.duration_us) } else { String::new() },
            phase_bar: last_result.map(|result| render_phase_bar(&result.phases())).unwrap_or_default(),
            reason: pause_note.clone().unwrap_or_else(|| escape(&reason).into_owned()),
            since: render_time_since(state.streak_started_at, now),
        }
    });
    let view = StatusRowView { row, health, pause_note: pause_note.unwrap_or_default(), last_run };
    // Writing into a string cannot fail.
    LiveRow { id: format!("monitor-{}", row.monitor.id), html: view.render().unwrap_or_default() }
}

fn render_pager(query: &StatusPageQuery, monitor_count: usize) -> String {
    let page_count = monitor_count.div_ceil(ROWS_PER_PAGE).max(1);
    if page_count == 1 && query.page_number == 1 {
        return String::new();
    }
    let page_link = |page: usize, text: &str| {
        let path = StatusPageQuery { page_number: page, ..query.clone() }.to_path();
        format!(r#"<a href="{}">{text}</a>"#, escape(&path))
    };
    let mut out = String::from(r#"<nav class="pager" aria-label="Pages">"#);
    if query.page_number > 1 {
        out.push_str(&page_link((query.page_number - 1).min(page_count), "← previous"));
    }
    // Writing into a string cannot fail.
    let _ = write!(out, "<span>page {} of {page_count}, {monitor_count} monitors</span>", query.page_number);
    if query.page_number < page_count {
        out.push_str(&page_link(query.page_number + 1, "next →"));
    }
    out.push_str("</nav>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_page_has_no_next() {
        let page_query = |page| StatusPageQuery { page_number: page, ..StatusPageQuery::default() };
        assert_eq!(render_pager(&page_query(1), ROWS_PER_PAGE), "");
        assert!(render_pager(&page_query(1), ROWS_PER_PAGE + 1).contains("/?page=2"));
        assert!(!render_pager(&page_query(2), ROWS_PER_PAGE + 1).contains("page=3"));
        assert!(render_pager(&page_query(900), ROWS_PER_PAGE + 1).contains("/?page=2"));
    }
}
