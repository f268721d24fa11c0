//! The page of the list: monitors counted by state, and a list of them, those that need attention first.

use std::fmt::Write;
use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};

use super::groups::render_groups;
use super::query::{ListView, read_query, read_view, to_status_query};
use super::rows::render_rows;
use super::saved::render_views;
use crate::domain::{Location, MonitorId, MonitorType, Outcome, RecipientId, StoreError, Timestamp};
use crate::service::{
    ALL_LOCATIONS, AccountChoices, Column, ListQuery, MonitorStatus, SavedView, StatusBoard, StatusOrder,
    StatusQuery,
};
use crate::texts::{Locale, key};
use crate::web::bulk::render_bulk_form;
use crate::web::forms::see_other;
use crate::web::html::escape;
use crate::web::live::{LiveBlock, LivePage};
use crate::web::page_frame::{PageFrame, Section, render_page};
use crate::web::page_state::PageState;
use crate::web::responses::{not_found, store_unavailable};
use crate::web::viewer::Viewer;

/// Monitors per page.
const ROWS_PER_PAGE: usize = 50;

/// What is said about a view that the viewer may not see, or that nobody has.
const NO_SUCH_VIEW: &str = "This view does not exist";

/// `GET /`, see [`ListQuery`]; `GET /views/{view}`, a saved view by its id or name.
pub(in crate::web) async fn get_page(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let view = match read_view(&state, &viewer, uri.path(), uri.query().unwrap_or_default()).await {
        Ok(Some(view)) => view,
        Ok(None) => return not_found(NO_SUCH_VIEW),
        Err(error) => return store_unavailable(&error),
    };
    if let Some(path) = path_at_chosen_location(&view, &viewer) {
        return see_other(&path, None);
    }
    let page = match load_page(&state, &viewer, &view).await {
        Ok(page) => page,
        Err(error) => return store_unavailable(&error),
    };
    let ListView { query, name } = view;
    let filter = match Filter::load(&state, &viewer, &query).await {
        Ok(filter) => filter,
        Err(error) => return store_unavailable(&error),
    };
    let t = viewer.locale();
    let views = render_views(&filter.views, &query, &viewer);
    let location_names: Vec<_> = filter.locations.iter().map(|location| location.name.as_str()).collect();
    let location_names = location_names.join(", ");
    let path = query.to_path();
    let bulk_form = match viewer.form_token().filter(|_| viewer.may_edit() && query.group.is_empty()) {
        // Not among what is updated, so that a choice stays.
        Some(token) => render_bulk_form(token, &query.to_text(), &filter.account, t),
        None => String::new(),
    };
    let new_link = format!(r#"<a class="button" href="/monitors/new">{}</a>"#, t.text("New monitor"));
    let body = format!(
        "<div class=\"heading\"><h1>{} <small>{}</small></h1>{}</div>{}<div id=\"list\">{views}{}{bulk_form}</div>",
        name.as_deref()
            .map_or_else(|| t.text(Section::Monitors.name()).to_owned(), |name| escape(name).into_owned()),
        t.html("checked from {locations}", &[("locations", &location_names)]),
        if viewer.may_edit() { new_link.as_str() } else { "" },
        // Writing into a string cannot fail.
        filter.render().unwrap_or_default(),
        page.render(&path),
    );
    let frame = PageFrame {
        section: Some(Section::Monitors),
        ..PageFrame::new(&page.title, &viewer).at(state.clock.now())
    };
    // The address of the form has all of its fields; this one has those that are set. A choice may be sent twice.
    let is_shown = headers.get("hx-current-url").is_some_and(|url| url.as_bytes().ends_with(path.as_bytes()));
    let pushed = if is_shown { "false".to_owned() } else { path };
    ([("hx-push-url", pushed)], render_page(frame, &body)).into_response()
}

/// Returns the path of the list at the location that `viewer` looks at, unless the list says where it looks.
fn path_at_chosen_location(ListView { query, .. }: &ListView, viewer: &Viewer) -> Option<String> {
    let location = viewer.location_switch.chosen()?;
    let names_no_location = query.view.is_none() && query.location.is_none() && !query.at_all_locations;
    names_no_location.then(|| ListQuery { location: Some(location), ..query.clone() }.to_path())
}

/// Makes what changes by itself of the page at `uri`.
pub(in crate::web) async fn live_page(
    state: &PageState,
    viewer: &Viewer,
    uri: &Uri,
) -> Result<LivePage, Response> {
    let view = read_view(state, viewer, uri.path(), uri.query().unwrap_or_default()).await;
    match view.map_err(|error| store_unavailable(&error))? {
        Some(view) => load_page(state, viewer, &view).await.map_err(|error| store_unavailable(&error)),
        None => Err(not_found(NO_SUCH_VIEW)),
    }
}

/// Returns the monitors that `viewer` may see.
pub(in crate::web) async fn visible_board(
    state: &PageState,
    viewer: &Viewer,
    now: Timestamp,
) -> Result<Arc<StatusBoard>, StoreError> {
    let board = state.monitor_reader.status_board(now).await?;
    Ok(match viewer.visible_account {
        Some(customer) => board.for_customer(customer),
        None => board,
    })
}

/// Returns the ids of all monitors of the list with this query.
pub(in crate::web) async fn ids_of_list(
    state: &PageState,
    viewer: &Viewer,
    query: &str,
) -> Result<Vec<MonitorId>, StoreError> {
    let now = state.clock.now();
    let board = visible_board(state, viewer, now).await?;
    let query = to_status_query(&read_query(query, viewer), &state.monitor_reader, &board, |account| {
        viewer.knows_account(account)
    })
    .await?;
    Ok(state.monitor_reader.matching_rows(&board, &query, now).iter().map(|row| row.monitor.id).collect())
}

/// Returns the path of the list with this query.
pub(in crate::web) fn path_of_list(query: &str, viewer: &Viewer) -> String {
    read_query(query, viewer).to_path()
}

/// Makes the tiles and the rows of the page.
async fn load_page(
    state: &PageState,
    viewer: &Viewer,
    ListView { query: page_query, name }: &ListView,
) -> Result<LivePage, StoreError> {
    let now = state.clock.now();
    let board = visible_board(state, viewer, now).await?;
    let status_query =
        to_status_query(page_query, &state.monitor_reader, &board, |account| viewer.knows_account(account))
            .await?;
    let error_count = board.count(MonitorStatus::LastOutcome(Outcome::Error));
    let title = name.as_ref().map_or_else(|| "Vigie".to_owned(), |name| format!("{name} · Vigie"));
    let title = if error_count > 0 { format!("({error_count}) {title}") } else { title };
    let t = viewer.locale();
    let tiles = LiveBlock::new("tiles", render_tiles(&board, page_query, t));
    let rows = if board.is_empty() {
        notice(t.text(NO_MONITORS))
    } else if !page_query.group.is_empty() {
        let reader = &state.monitor_reader;
        let is_known = |customer| viewer.knows_account(customer);
        let groups = reader.status_groups(&board, &status_query, &page_query.group, is_known, now).await?;
        render_groups(page_query, &groups, t)
    } else {
        let query = StatusQuery {
            limit: ROWS_PER_PAGE,
            offset: (page_query.page_number - 1).saturating_mul(ROWS_PER_PAGE),
            ..status_query
        };
        let page = state.monitor_reader.status_rows(&board, &query, now).await?;
        if page.rows.is_empty() {
            let mut nothing = notice(&format!(
                r#"{} <a href="{}">{}</a>"#,
                t.text("No monitor matches."),
                viewer.location_switch.path_of_all(),
                t.text("Show all")
            ));
            if page.total > 0 {
                nothing = notice(t.text("This page of the list is empty"));
                nothing.before.push_str(&render_pager(page_query, page.total, t));
            }
            nothing
        } else {
            let mut rows = render_rows(state, &page, &page_query.columns, viewer, now).await?;
            rows.after.push_str(&render_pager(page_query, page.total, t));
            if viewer.caller.is_some() {
                let csv_path = page_query.to_csv_path();
                // Writing into a string cannot fail.
                let _ = write!(
                    rows.after,
                    r#"<p class="hint"><a href="{}">{}</a></p>"#,
                    escape(&csv_path),
                    t.text("Download as CSV")
                );
            }
            rows
        }
    };
    Ok(LivePage { title, blocks: vec![tiles, rows] })
}

/// What is shown instead of a list without monitors.
const NO_MONITORS: &str = key(
    "There are no monitors yet. Put a file into the monitors folder, or create one with <code>vigie apply</code> or the <a href='/api/v3/docs'>API</a>; it appears here at once.",
);

fn notice(html: &str) -> LiveBlock {
    LiveBlock::new("rows", format!(r#"<p class="notice">{html}</p>"#))
}

/// A state with the number of monitors in it.
struct Tile {
    name: &'static str,
    href: String,
    count: usize,
    is_current: bool,
}

#[derive(Template)]
#[template(path = "monitors_tiles.html", config = "src/web/askama.toml")]
struct Tiles {
    tiles: Vec<Tile>,
    t: Locale,
}

/// The form by which monitors are found.
#[derive(Template)]
#[template(path = "monitors_filter.html", config = "src/web/askama.toml")]
struct Filter<'a> {
    query: &'a ListQuery,
    locations: Arc<[Location]>,
    /// What of the viewer's account can be chosen; nothing for a viewer of public pages.
    account: AccountChoices,
    /// The saved views that the viewer may see.
    views: Vec<SavedView>,
    /// Whether the list starts with the location that the viewer looks at.
    has_own_location: bool,
    t: Locale,
}

impl<'a> Filter<'a> {
    async fn load(state: &PageState, viewer: &Viewer, query: &'a ListQuery) -> Result<Self, StoreError> {
        let reader = &state.monitor_reader;
        let (account, views) = match &viewer.caller {
            Some(caller) => {
                (reader.account_choices(caller.customer).await?, reader.saved_views(caller).await?)
            }
            None => (AccountChoices::default(), Vec::new()),
        };
        let has_own_location = viewer.location_switch.chosen().is_some();
        Ok(Self {
            query,
            locations: reader.locations_for(viewer.location_audience()),
            account,
            views,
            has_own_location,
            t: viewer.locale(),
        })
    }

    fn is_at(&self, location: &Location) -> bool {
        self.query.location == Some(location.id)
    }

    fn is_chosen_recipient(&self, recipient: &(RecipientId, String)) -> bool {
        self.query.recipient == Some(recipient.0)
    }

    fn shows(&self, column: Column) -> bool {
        self.query.columns.contains(column)
    }
}

fn render_tiles(board: &StatusBoard, query: &ListQuery, t: Locale) -> String {
    let tile = |status: Option<MonitorStatus>, count: usize| Tile {
        name: status.map_or(key("all"), MonitorStatus::as_str),
        href: ListQuery { view: None, status, page_number: 1, ..query.clone() }.to_path(),
        count,
        is_current: query.status == status,
    };
    let counts = board.counts_by_status().into_iter();
    let shown = counts.filter(|(status, count)| *count > 0 || query.status == Some(*status));
    let all = std::iter::once(tile(None, board.len()));
    let tiles = all.chain(shown.map(|(status, count)| tile(Some(status), count))).collect();
    // Writing into a string cannot fail.
    Tiles { tiles, t }.render().unwrap_or_default()
}

fn render_pager(query: &ListQuery, monitor_count: usize, t: Locale) -> String {
    let page_count = monitor_count.div_ceil(ROWS_PER_PAGE).max(1);
    if page_count == 1 && query.page_number == 1 {
        return String::new();
    }
    let page_link = |page: usize, text: &str| {
        let path = ListQuery { page_number: page, ..query.clone() }.to_path();
        format!(r#"<a href="{}">{text}</a>"#, escape(&path))
    };
    let mut out = format!(r#"<nav class="pager" aria-label="{}">"#, t.text("Pages"));
    if query.page_number > 1 {
        out.push_str(&page_link((query.page_number - 1).min(page_count), t.text("← previous")));
    }
    let numbers = [query.page_number, page_count, monitor_count].map(|number| number.to_string());
    let [page, pages, monitors] = numbers.each_ref().map(String::as_str);
    let values = [("page", page), ("pages", pages), ("monitors", monitors)];
    let place = t.fill("page {page} of {pages}, {monitors} monitors", &values);
    // Writing into a string cannot fail.
    let _ = write!(out, "<span>{place}</span>");
    if query.page_number < page_count {
        out.push_str(&page_link(query.page_number + 1, t.text("next →")));
    }
    out.push_str("</nav>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_page_has_no_next() {
        let t = Locale::default();
        let page_query = |page| ListQuery { page_number: page, ..ListQuery::default() };
        assert_eq!(render_pager(&page_query(1), ROWS_PER_PAGE, t), "");
        assert!(render_pager(&page_query(1), ROWS_PER_PAGE + 1, t).contains("/?page=2"));
        assert!(!render_pager(&page_query(2), ROWS_PER_PAGE + 1, t).contains("page=3"));
        assert!(render_pager(&page_query(900), ROWS_PER_PAGE + 1, t).contains("/?page=2"));
    }
}
