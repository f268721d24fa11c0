//! The status page: monitors counted by state, and a list of them, those that need attention first.

use std::fmt::Write;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{Html, IntoResponse, Response};

use super::html::{
    escape, format_coarse_duration, format_micros, format_time, render_age, render_reloading_document,
};
use super::page_state::PageState;
use super::phase_bar::{render_phase_bar, render_phase_legend};
use super::responses::store_unavailable;
use super::viewer::Viewer;
use crate::domain::{MonitorType, StoreError, Timestamp};
use crate::schema::Monitor;
use crate::service::result_view::deciding_reason;
use crate::service::{
    MonitorStatus, OverallHealth, PaginatedStatusRows, StatusBoard, StatusQuery, StatusRow,
};

/// Most values of custom properties in a query.
const MAX_PROPERTIES: usize = 20;
/// Monitors per page.
const ROWS_PER_PAGE: usize = 50;

/// The query of the page. Unknown values are ignored: a page is not an API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct StatusPageQuery {
    status: Option<MonitorStatus>,
    monitor_type: Option<MonitorType>,
    name_contains: String,
    /// Values of custom properties, each `name:value`.
    properties: Vec<String>,
    page_number: usize,
}

/// `GET /?standing=&type=&q=&property=&page=`
pub(super) async fn get_page(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    uri: Uri,
) -> Response {
    match render_status_page(&state, &viewer, StatusPageQuery::from_uri(&uri)).await {
        Ok(html) => html.into_response(),
        Err(error) => store_unavailable(&error),
    }
}

async fn render_status_page(
    state: &PageState,
    viewer: &Viewer,
    page_query: StatusPageQuery,
) -> Result<Html<String>, StoreError> {
    let now = state.clock.now();
    let mut board = state.monitor_reader.status_board(now).await?;
    if let Some(customer) = viewer.visible_account {
        board = Arc::new(board.for_customer(customer));
    }
    let query = StatusQuery {
        status: page_query.status,
        monitor_type: page_query.monitor_type,
        name_contains: page_query.name_contains.clone(),
        properties: state.monitor_reader.property_filters(&board, &page_query.properties).await?,
        limit: ROWS_PER_PAGE,
        offset: (page_query.page_number - 1).saturating_mul(ROWS_PER_PAGE),
    };
    let page = state.monitor_reader.status_rows(&board, &query).await?;
    let error_count = board
        .counts_by_status()
        .iter()
        .find(|(status, _)| status.as_str() == "error")
        .map_or(0, |(_, count)| *count);
    let title = if error_count > 0 { format!("({error_count}) Vigie") } else { "Vigie".to_owned() };
    let locations = state.monitor_reader.locations();
    let location_names: Vec<_> = locations.iter().map(|location| location.name.as_str()).collect();
    let location_names = location_names.join(", ");
    let escaped_locations = escape(&location_names);
    let mut body = format!(
        "<h1>Monitors <small>checked from {escaped_locations}, {} UTC · <a href=\"/locations\">locations and agents</a></small></h1>",
        format_time(now)
    );
    body.push_str(&render_status_tiles(&board, &page_query));
    body.push_str(&render_filter_form(&page_query));
    let overall_health = |monitor: &Monitor| state.monitor_reader.overall_health(monitor, now);
    body.push_str(&render_rows(&board, &page, &overall_health, now));
    body.push_str(&render_pager(&page_query, page.total));
    Ok(render_reloading_document(&title, &body, viewer))
}

impl StatusPageQuery {
    fn from_uri(uri: &Uri) -> Self {
        let mut query = Self { page_number: 1, ..Self::default() };
        for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            match &*name {
                "standing" => query.status = MonitorStatus::parse(&value),
                "type" => query.monitor_type = MonitorType::from_name(&value),
                "q" => query.name_contains = value.trim().chars().take(255).collect(),
                "property" => {
                    let texts = value.split(',').map(str::trim).filter(|text| !text.is_empty());
                    query.properties.extend(texts.map(str::to_owned));
                    query.properties.truncate(MAX_PROPERTIES);
                }
                "page" => query.page_number = value.parse().unwrap_or(1).max(1),
                _ => {}
            }
        }
        query
    }

    /// Returns the address of this query, escaped for an attribute.
    fn to_href(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let parameters = [
            ("standing", self.status.map(|status| status.as_str().to_owned())),
            ("type", self.monitor_type.map(|monitor_type| monitor_type.name().to_owned())),
            ("q", Some(self.name_contains.clone()).filter(|text| !text.is_empty())),
            ("property", Some(self.properties.join(",")).filter(|text| !text.is_empty())),
            ("page", Some(self.page_number.to_string()).filter(|_| self.page_number > 1)),
        ];
        for (name, value) in parameters {
            if let Some(value) = value {
                query.append_pair(name, &value);
            }
        }
        match query.finish() {
            query if query.is_empty() => "/".to_owned(),
            query => format!("/?{}", escape(&query)),
        }
    }
}

fn render_status_tiles(board: &StatusBoard, query: &StatusPageQuery) -> String {
    let mut out = String::from(r#"<nav class="tiles">"#);
    let mut push_tile = |status: Option<MonitorStatus>, count: usize| {
        let name = status.map_or("all", MonitorStatus::as_str);
        let current_attribute = if query.status == status { r#" aria-current="page""# } else { "" };
        let href = StatusPageQuery { status, page_number: 1, ..query.clone() }.to_href();
        let _ = write!(
            out,
            r#"<a class="tile s-{name}" href="{href}"{current_attribute}><b>{count}</b>{name}</a>"#
        );
    };
    push_tile(None, board.len());
    for (status, count) in board.counts_by_status() {
        if count > 0 || query.status == Some(status) {
            push_tile(Some(status), count);
        }
    }
    out.push_str("</nav>");
    out
}

fn render_filter_form(query: &StatusPageQuery) -> String {
    let mut out = String::from(r#"<form class="filter" action="/" method="get">"#);
    if let Some(status) = query.status {
        let _ = write!(out, r#"<input type="hidden" name="standing" value="{}">"#, status.as_str());
    }
    let text = escape(&query.name_contains);
    let _ = write!(
        out,
        r#"<label>Name <input type="search" name="q" value="{text}" maxlength="255"></label> <label>Type <select name="type"><option value="">all</option>"#
    );
    for monitor_type in MonitorType::ALL {
        let selected = if query.monitor_type == Some(*monitor_type) { " selected" } else { "" };
        let _ = write!(out, "<option{selected}>{monitor_type}</option>");
    }
    let properties = query.properties.join(",");
    let properties = escape(&properties);
    let _ = write!(
        out,
        r#"</select></label> <label>Property <input type="search" name="property" value="{properties}" placeholder="team:a" maxlength="255"></label> <button>Show</button></form>"#
    );
    out
}

fn render_rows(
    board: &StatusBoard,
    page: &PaginatedStatusRows,
    overall_health: &dyn Fn(&Monitor) -> OverallHealth,
    now: Timestamp,
) -> String {
    if board.is_empty() {
        return r#"<p class="notice">There are no monitors yet. Put a file into the monitors folder, or create one with <code>vigie apply</code> or the <a href="/api/v3/docs">API</a>; it appears here at once.</p>"#.to_owned();
    }
    if page.rows.is_empty() {
        return r#"<p class="notice">No monitor matches. <a href="/">Show all</a></p>"#.to_owned();
    }
    let mut out = String::from(
        r#"<div class="scroll"><table class="rows"><thead><tr><th>State</th><th>Monitor</th><th>Type</th><th>Last run</th><th class="n">Duration</th><th>Phases</th><th>Reason</th><th>Since</th></tr></thead><tbody>"#,
    );
    for row in &page.rows {
        out.push_str(&render_row(row, overall_health(&row.monitor), now));
    }
    out.push_str("</tbody></table></div>");
    out.push_str(&render_phase_legend(
        page.rows.iter().filter_map(|row| Some(row.last_result.as_ref()?.phases())),
    ));
    out
}

fn render_row(row: &StatusRow, overall_health: OverallHealth, now: Timestamp) -> String {
    let (id, name, monitor_type) = (row.monitor.id, escape(row.monitor.name()), row.monitor.monitor_type());
    let status = row.status.as_str();
    let health_note = if overall_health.is_failing() {
        format!(" <small>{}</small>", overall_health.as_str())
    } else {
        String::new()
    };
    let mut out = format!(
        r#"<tr><td><span class="pill s-{status}">{status}</span>{health_note}</td><td><a href="/monitors/{id}">{name}</a></td><td>{monitor_type}</td>"#
    );
    let pause_text = row.monitor.paused_until(now).filter(|_| row.status == MonitorStatus::Paused);
    let pause_text = pause_text.map(|until| {
        format!("until {} UTC, {} from now", format_time(until), format_coarse_duration(until.since(now)))
    });
    if let Some(state) = &row.state {
        let duration_text =
            if state.duration_us > 0 { format_micros(state.duration_us) } else { String::new() };
        let bar =
            row.last_result.as_ref().map(|result| render_phase_bar(&result.phases())).unwrap_or_default();
        let reason = row.last_result.as_ref().map_or_else(|| state.status.text().to_owned(), deciding_reason);
        let reason = pause_text.unwrap_or(reason);
        let (last_run_age, state_age) =
            (render_age(state.planned_at, now), format_coarse_duration(now.since(state.streak_started_at)));
        let _ = write!(
            out,
            r#"<td>{last_run_age}</td><td class="n" data-h="took">{duration_text}</td><td>{bar}</td><td class="reason">{}</td><td data-h="since">{state_age}</td></tr>"#,
            escape(&reason)
        );
    } else {
        let pause_text = pause_text.unwrap_or_default();
        let _ =
            write!(out, r#"<td>–</td><td></td><td></td><td class="reason">{pause_text}</td><td></td></tr>"#);
    }
    out
}

fn render_pager(query: &StatusPageQuery, monitor_count: usize) -> String {
    let page_count = monitor_count.div_ceil(ROWS_PER_PAGE).max(1);
    if page_count == 1 && query.page_number == 1 {
        return String::new();
    }
    let page_link = |page: usize, text: &str| {
        let href = StatusPageQuery { page_number: page, ..query.clone() }.to_href();
        format!(r#"<a href="{href}">{text}</a>"#)
    };
    let mut out = String::from(r#"<nav class="pager">"#);
    if query.page_number > 1 {
        out.push_str(&page_link((query.page_number - 1).min(page_count), "← previous"));
    }
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
    fn a_query_survives_its_address() {
        let address = "/?standing=error&type=website-ssl&q=a+%26+b&property=team%3Aa%2Cenv%3Ab&page=3";
        let query = StatusPageQuery::from_uri(&address.parse().unwrap());
        assert_eq!(query.properties, ["team:a", "env:b"]);
        let repeated = StatusPageQuery::from_uri(&"/?property=team:a&property=env:b".parse().unwrap());
        assert_eq!(repeated.properties, query.properties);
        assert_eq!((query.name_contains.as_str(), query.page_number), ("a & b", 3));
        assert_eq!(query.to_href().replace("&amp;", "&"), address);
        assert_eq!(StatusPageQuery::from_uri(&"/?page=0&standing=odd".parse().unwrap()).to_href(), "/");
    }

    #[test]
    fn the_last_page_has_no_next() {
        let page_query = |page| StatusPageQuery { page_number: page, ..StatusPageQuery::default() };
        assert_eq!(render_pager(&page_query(1), ROWS_PER_PAGE), "");
        assert!(render_pager(&page_query(1), ROWS_PER_PAGE + 1).contains("/?page=2"));
        assert!(!render_pager(&page_query(2), ROWS_PER_PAGE + 1).contains("page=3"));
        assert!(render_pager(&page_query(900), ROWS_PER_PAGE + 1).contains("/?page=2"));
    }
}
