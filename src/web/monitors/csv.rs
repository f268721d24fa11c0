//! The list of monitors as a file for spreadsheets (RFC 4180).

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use tokio::sync::Semaphore;

use super::page::visible_board;
use super::query::{read_query, to_status_query};
use crate::domain::StoreError;
use crate::service::{ListQuery, StatusRow};
use crate::web::monitor_page::display_target;
use crate::web::notice::render_notice_page;
use crate::web::page_state::PageState;
use crate::web::responses::store_unavailable;
use crate::web::viewer::Viewer;

/// Files that are made or sent at once, which bounds their memory.
static FILES: Semaphore = Semaphore::const_new(4);
/// Size of a part that is sent, without the rest of its last line.
const PART_BYTES: usize = 64 * 1024;
/// Names of the columns.
const HEAD: [&str; 10] =
    ["id", "key", "name", "type", "target", "state", "last_run", "duration_ms", "status", "since"];

/// `GET /monitors.csv`: all monitors of the same query as the list.
pub(in crate::web) async fn get_file(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    uri: Uri,
) -> Response {
    if viewer.caller.is_none() {
        let message = "The file is for users who are signed in";
        return (StatusCode::FORBIDDEN, render_notice_page("Not permitted", message)).into_response();
    }
    let Ok(permit) = FILES.try_acquire() else {
        let retry = [(header::RETRY_AFTER, "10")];
        return (StatusCode::SERVICE_UNAVAILABLE, retry, "Too many files are made now; try again")
            .into_response();
    };
    match render_file(&state, &viewer, &read_query(uri.query().unwrap_or_default(), &viewer)).await {
        Ok(text) => {
            // The permit is held until the last part is sent: as long as the text is in memory.
            let parts = stream::unfold((text, permit), async |(mut text, permit)| {
                let part = take_lines(&mut text);
                (!part.is_empty()).then_some((Ok::<_, std::convert::Infallible>(part), (text, permit)))
            });
            let headers = [
                (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
                (header::CONTENT_DISPOSITION, r#"attachment; filename="monitors.csv""#),
            ];
            (headers, Body::from_stream(parts)).into_response()
        }
        Err(error) => store_unavailable(&error),
    }
}

async fn render_file(
    state: &PageState,
    viewer: &Viewer,
    page_query: &ListQuery,
) -> Result<Bytes, StoreError> {
    let now = state.clock.now();
    let board = visible_board(state, viewer, now).await?;
    let query =
        to_status_query(page_query, &state.monitor_reader, &board, |account| viewer.knows_account(account))
            .await?;
    let rows = state.monitor_reader.matching_rows(&board, &query, now);
    // Writing 100,000 lines takes long enough to delay the checks that share this thread.
    let text = tokio::task::spawn_blocking(move || {
        let head = HEAD.map(str::to_owned);
        std::iter::once(line(&head)).chain(rows.iter().map(|row| line(&cells(row)))).collect::<String>()
    });
    // Fails only when the runtime shuts down.
    text.await.map(Bytes::from).map_err(|_| StoreError::Closed)
}

/// Takes some whole lines off the start of `text`: the masks of queries must not meet a half of one.
fn take_lines(text: &mut Bytes) -> Bytes {
    let rest = text.get(PART_BYTES..).unwrap_or_default();
    let line_end = rest.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| PART_BYTES + at + 1);
    text.split_to(line_end)
}

fn cells(row: &StatusRow) -> [String; 10] {
    let StatusRow { monitor, state, status, .. } = row;
    let last_run = state.as_ref();
    [
        monitor.id.to_string(),
        monitor.origin.key().unwrap_or_default().to_owned(),
        monitor.name().to_owned(),
        monitor.monitor_type().to_string(),
        display_target(monitor),
        status.as_str().to_owned(),
        last_run.map(|state| state.planned_at.to_string()).unwrap_or_default(),
        last_run.map(|state| format!("{:.3}", state.duration_us as f64 / 1e3)).unwrap_or_default(),
        last_run.map(|state| state.status.to_string()).unwrap_or_default(),
        last_run.map(|state| state.streak_started_at.to_string()).unwrap_or_default(),
    ]
}

/// Renders one line.
fn line(cells: &[String; 10]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    format!("{}\r\n", cells.join(","))
}

/// Quotes a cell. A text that a spreadsheet would take for a formula gets an apostrophe before it, since names may come from
/// anybody.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let apostrophe = if is_formula { "'" } else { "" };
    format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_no_formulas() {
        for (text, written) in [
            ("a,b", "\"a,b\""),
            ("say \"a\"", "\"say \"\"a\"\"\""),
            ("=1+1", "\"'=1+1\""),
            ("@x,y", "\"'@x,y\""),
        ] {
            assert_eq!(cell(text), written);
        }
    }

    #[test]
    fn parts_are_whole_lines() {
        let whole = "0123456789\r\n".repeat(20_000);
        let mut text = Bytes::from(whole.clone());
        let mut sent = String::new();
        loop {
            let part = take_lines(&mut text);
            if part.is_empty() {
                break;
            }
            assert!(part.ends_with(b"\n") && part.len() < PART_BYTES + 16);
            sent.push_str(std::str::from_utf8(&part).unwrap());
        }
        assert_eq!(sent, whole);
    }
}
