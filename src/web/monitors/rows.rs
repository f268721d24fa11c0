//! The rows of the list.

use std::collections::HashMap;
use std::fmt::Write;

use askama::Template;
use futures::{StreamExt, TryStreamExt};

use crate::domain::{MonitorId, StoreError, Timestamp};
use crate::service::result_view::deciding_reason;
use crate::service::{Column, Columns, MonitorStatus, OverallHealth, PaginatedStatusRows, StatusRow};
use crate::texts::Locale;
use crate::web::history_bars::{MonitorDay, load_day};
use crate::web::html::{escape, render_age, render_time_since, render_time_until};
use crate::web::live::{LiveBlock, LiveRow};
use crate::web::monitor_page::display_target;
use crate::web::page_state::PageState;
use crate::web::phase_bar::{render_phase_bar, render_phase_legend};
use crate::web::viewer::Viewer;

/// Monitors whose last day is read at the same time.
const DAYS_AT_ONCE: usize = 8;

/// A monitor in the list.
#[derive(Template)]
#[template(path = "monitors_row.html", config = "src/web/askama.toml")]
struct RowView<'a> {
    row: &'a StatusRow,
    health: OverallHealth,
    /// Whether the row has a box to choose it; `None` without the column of boxes.
    choice: Option<bool>,
    /// The cells of the columns of choice, as HTML.
    cells: String,
    t: Locale,
}

/// Renders the table of `page`.
pub(super) async fn render_rows(
    state: &PageState,
    page: &PaginatedStatusRows,
    columns: &Columns,
    viewer: &Viewer,
    now: Timestamp,
) -> Result<LiveBlock, StoreError> {
    let mut days = HashMap::<MonitorId, MonitorDay>::new();
    if columns.contains(Column::Day) || columns.contains(Column::DayDurations) {
        let load = |row: &StatusRow| {
            let monitor = row.monitor.clone();
            async move { Ok::<_, StoreError>((monitor.id, load_day(state, &monitor, now).await?)) }
        };
        let loads: Vec<_> = page.rows.iter().map(load).collect();
        days = futures::stream::iter(loads).buffered(DAYS_AT_ONCE).try_collect().await?;
    }
    let t = viewer.locale();
    let to_row = |row: &StatusRow| {
        let day = days.get(&row.monitor.id);
        let cells = columns.described().map(|(column, ..)| render_cell(column, row, day, now, t)).collect();
        let health = state.monitor_reader.overall_health(&row.monitor, now);
        let choice = viewer.may_edit().then(|| viewer.caller_for(row.monitor.customer).is_some());
        // Writing into a string cannot fail.
        let html = RowView { row, health, choice, cells, t }.render().unwrap_or_default();
        LiveRow { id: format!("monitor-{}", row.monitor.id), html }
    };
    let mut after = "</tbody></table></div>".to_owned();
    if columns.contains(Column::Phases) {
        let last_phases = page.rows.iter().filter_map(|row| Some(row.last_result.as_ref()?.phases()));
        after.push_str(&render_phase_legend(last_phases, t));
    }
    Ok(LiveBlock {
        id: "rows",
        before: format!(
            r#"<div class="scroll"><table class="rows">{}<tbody>"#,
            render_head(columns, viewer.may_edit(), t)
        ),
        rows: page.rows.iter().map(to_row).collect(),
        after,
    })
}

/// Renders a cell. On a phone, `data-h` stands before its text.
fn render_cell(
    column: Column,
    row: &StatusRow,
    day: Option<&MonitorDay>,
    now: Timestamp,
    t: Locale,
) -> String {
    let monitor = &row.monitor;
    let state = row.state.as_ref();
    match column {
        Column::Id => format!(r#"<td class="n" data-h="{}">{}</td>"#, t.text("id"), monitor.id),
        Column::Key => format!("<td>{}</td>", escape(monitor.origin.key().unwrap_or_default())),
        Column::Type => format!("<td>{}</td>", monitor.monitor_type()),
        Column::Target => format!(r#"<td class="target">{}</td>"#, escape(&display_target(monitor))),
        Column::LastRun => {
            let age = state.map_or_else(|| "–".to_owned(), |state| render_age(state.planned_at, now, t));
            format!("<td>{age}</td>")
        }
        Column::Duration => {
            let micros = state.map(|state| state.duration_us).filter(|micros| *micros > 0);
            format!(
                r#"<td class="n" data-h="{}">{}</td>"#,
                t.text("took"),
                micros.map(|micros| t.micros(micros)).unwrap_or_default()
            )
        }
        Column::Phases => {
            let last_result = row.last_result.as_ref().filter(|_| state.is_some());
            let bar = last_result.map(|result| render_phase_bar(&result.phases(), t));
            format!("<td>{}</td>", bar.unwrap_or_default())
        }
        Column::Day => format!("<td>{}</td>", day.map(|day| day.render_bars(t)).unwrap_or_default()),
        Column::DayDurations => {
            format!("<td>{}</td>", day.map(|day| day.render_durations(t)).unwrap_or_default())
        }
        Column::Reason => format!(r#"<td class="reason">{}</td>"#, render_reason(row, now, t)),
        Column::Since => {
            let since = state.map(|state| render_time_since(state.streak_started_at, now, t));
            format!(r#"<td data-h="{}">{}</td>"#, t.text("since"), since.unwrap_or_default())
        }
    }
}

/// Renders until when a monitor is paused, or else why its last run ended as it did.
fn render_reason(row: &StatusRow, now: Timestamp, t: Locale) -> String {
    let paused_until = row.monitor.paused_until(now).filter(|_| row.status == MonitorStatus::Paused);
    if let Some(until) = paused_until {
        let text = t.fill("until {time}, {duration} from now", &[("time", &t.zoned_time(until))]);
        return text.replace("{duration}", &render_time_until(until, now, t));
    }
    let Some(state) = &row.state else { return String::new() };
    let last_result = row.last_result.as_deref();
    t.english_html(&last_result.map_or_else(|| state.status.text().to_owned(), deciding_reason))
}

/// Renders the head of the table.
fn render_head(columns: &Columns, is_choosable: bool, t: Locale) -> String {
    let mut out = String::from("<thead><tr>");
    if is_choosable {
        // Writing into a string cannot fail, here and below.
        let _ = write!(out, r#"<th><span class="unseen">{}</span></th>"#, t.text("Choose"));
    }
    let _ = write!(out, "<th>{}</th><th>{}</th>", t.text("State"), t.text("Monitor"));
    for (column, _, heading) in columns.described() {
        let class = if column == Column::Duration { r#" class="n""# } else { "" };
        let _ = write!(out, "<th{class}>{}</th>", t.text(heading));
    }
    out.push_str("</tr></thead>");
    out
}
