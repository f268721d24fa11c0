//! The command palette: where a person can go, narrowed by what they type.

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::{Html, IntoResponse, Response};
use serde::Deserialize;

use super::form::records::PAGES;
use super::monitors::{VIEWS_PATH, visible_board};
use super::page_frame::Section;
use super::page_state::PageState;
use super::responses::store_unavailable;
use super::viewer::Viewer;
use crate::domain::StoreError;
use crate::service::StatusQuery;
use crate::texts::{Locale, key};

/// Most monitors that are offered.
const MAX_MONITORS: usize = 8;

/// What a person typed: `?q=`.
#[derive(Deserialize)]
pub(super) struct PaletteQuery {
    #[serde(default)]
    q: String,
}

/// A place to go to.
struct Place {
    name: String,
    path: String,
    kind: &'static str,
}

#[derive(Template)]
#[template(path = "palette.html", config = "src/web/askama.toml")]
struct Places {
    places: Vec<Place>,
    t: Locale,
}

/// `GET /palette?q=`: links to pages and monitors whose names contain `q`.
pub(super) async fn get_places(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    Query(query): Query<PaletteQuery>,
) -> Response {
    let t = viewer.locale();
    let text: String = query.q.trim().chars().take(255).collect();
    let mut places = matching_pages(&viewer, &text.to_lowercase());
    match matching_views(&state, &viewer, &text.to_lowercase()).await {
        Ok(views) => places.extend(views),
        Err(error) => return store_unavailable(&error),
    }
    match matching_monitors(&state, &viewer, text).await {
        Ok(monitors) => places.extend(monitors),
        Err(error) => return store_unavailable(&error),
    }
    // Writing into a string cannot fail.
    Html(Places { places, t }.render().unwrap_or_default()).into_response()
}

fn matching_pages(viewer: &Viewer, text: &str) -> Vec<Place> {
    let sections = Section::ALL.iter().map(|section| (section.name(), section.path()));
    let account: Vec<_> =
        PAGES.iter().map(|pages| (pages.title, format!("/account/{}", pages.path))).collect();
    let account =
        account.iter().filter(|_| viewer.caller.is_some()).map(|(title, path)| (*title, path.as_str()));
    let new = viewer.may_edit().then_some((key("New monitor"), "/monitors/new"));
    let apply = viewer.may_edit().then_some((key("Apply monitors"), "/apply"));
    let shares = viewer.caller.is_some().then_some((key("Shared results"), "/shares"));
    let others = [
        (key("Preferences"), "/preferences"),
        (key("Keys"), "/manual/console#keys"),
        (key("Metrics"), "/metrics"),
    ];
    let all = sections.chain(account).chain(new).chain(apply).chain(shares).chain(others);
    let t = viewer.locale();
    let named = all.map(|(name, path)| (t.text(name), path));
    let matching = named.filter(|(name, _)| name.to_lowercase().contains(text));
    matching
        .map(|(name, path)| Place { name: name.to_owned(), path: path.to_owned(), kind: key("page") })
        .collect()
}

async fn matching_views(state: &PageState, viewer: &Viewer, text: &str) -> Result<Vec<Place>, StoreError> {
    let Some(caller) = &viewer.caller else { return Ok(Vec::new()) };
    let views = state.monitor_reader.saved_views(caller).await?.into_iter();
    let matching = views.filter(|view| view.name.to_lowercase().contains(text)).take(MAX_MONITORS);
    Ok(matching
        .map(|view| Place { path: format!("{VIEWS_PATH}{}", view.id), name: view.name, kind: "view" })
        .collect())
}

async fn matching_monitors(
    state: &PageState,
    viewer: &Viewer,
    text: String,
) -> Result<Vec<Place>, StoreError> {
    let now = state.clock.now();
    let board = visible_board(state, viewer, now).await?;
    let query = StatusQuery { search_text: text, limit: MAX_MONITORS, ..StatusQuery::default() };
    let found = state.monitor_reader.status_rows(&board, &query, now).await?;
    let to_place = |row: crate::service::StatusRow| Place {
        name: row.monitor.name().to_owned(),
        path: format!("/monitors/{}", row.monitor.id),
        kind: row.status.as_str(),
    };
    Ok(found.rows.into_iter().map(to_place).collect())
}
