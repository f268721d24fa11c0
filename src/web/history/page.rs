//! The page with the history of a monitor.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::changes::{ChangeView, VersionView};
use super::outages::OutageView;
use super::state::HistoryState;
use crate::domain::{AuditFilter, EpisodeFilter, EpisodeId, Paginated, Pagination, Permission};
use crate::schema::Monitor;
use crate::service::monitors::{older_versions, require_not_file_managed};
use crate::service::{Caller, ServiceError};
use crate::texts::Locale;
use crate::web::actions::{MAX_BUTTON_FORM_BYTES, find_own, read_own_form, refused};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::forms::see_other;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::viewer::Viewer;

/// Most outages and most changes on the page.
const MAX_ROWS: u32 = 100;

#[derive(Template)]
#[template(path = "history.html", config = "src/web/askama.toml")]
struct History<'a> {
    name: &'a str,
    id: String,
    outages: Vec<OutageView>,
    outage_count: u64,
    changes: Vec<ChangeView>,
    change_count: u64,
    /// `None` for a viewer who may not acknowledge an outage.
    form_token: Option<&'a str>,
    t: Locale,
}

/// `GET /monitors/{id}/history`
pub(in crate::web) async fn get_page(
    State(state): State<HistoryState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    // Whom an account has, and what they did, is nothing for viewers of public pages.
    let Some((monitor, caller)) = find_own(&state.actions, &viewer, &id) else {
        return refused(&ServiceError::NotFound);
    };
    let (outages, changes) = match load(&state, &monitor, &caller, viewer.locale()).await {
        Ok(loaded) => loaded,
        Err(error) => return refused(&error),
    };
    let history = History {
        name: monitor.name(),
        id: monitor.id.to_string(),
        outage_count: outages.total,
        outages: outages.items,
        change_count: changes.total,
        changes: changes.items,
        form_token: viewer.form_token().filter(|_| viewer.may_edit()),
        t: viewer.locale(),
    };
    let crumb = Breadcrumb { name: monitor.name().to_owned(), path: format!("/monitors/{}", monitor.id) };
    let title = format!("{} · Vigie", history.t.fill("History of {name}", &[("name", monitor.name())]));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(viewer.locale()), crumb],
        ..PageFrame::new(&title, &viewer).at(state.actions.pages.clock.now())
    };
    // Writing into a string cannot fail.
    render_page(frame, &history.render().unwrap_or_default()).into_response()
}

/// The rows of a list, and how many there are in all.
struct Listed<T> {
    total: u64,
    items: Vec<T>,
}

async fn load(
    state: &HistoryState,
    monitor: &Monitor,
    caller: &Caller,
    t: Locale,
) -> Result<(Listed<OutageView>, Listed<ChangeView>), ServiceError> {
    let (page, now) = (Pagination { limit: MAX_ROWS, offset: 0 }, state.actions.pages.clock.now());
    let filter = EpisodeFilter { monitor: Some(monitor.id), ..EpisodeFilter::default() };
    let outages = state.alert_service.episodes(caller, filter, page).await?;
    let items = outages.items.iter().filter_map(|outage| OutageView::new(outage, now, t)).collect();
    let outages = Listed { total: outages.total, items };
    let changes = load_changes(state, monitor, caller).await?;
    let mut items: Vec<ChangeView> = changes.items.iter().map(|entry| ChangeView::new(entry, t)).collect();
    if caller.allows(Permission::Edit) && require_not_file_managed(monitor).is_ok() {
        for (item, version) in items.iter_mut().zip(older_versions(monitor, &changes.items)) {
            item.version = VersionView::new(&version);
        }
    }
    Ok((outages, Listed { total: changes.total, items }))
}

/// Reads the newest changes of `monitor` from the audit trail.
pub(super) async fn load_changes(
    state: &HistoryState,
    monitor: &Monitor,
    caller: &Caller,
) -> Result<Paginated<Map<String, Value>>, ServiceError> {
    let filter = AuditFilter {
        object_kind: Some("monitor".to_owned()),
        object_id: Some(monitor.id.0),
        ..AuditFilter::default()
    };
    let page = Pagination { limit: MAX_ROWS, offset: 0 };
    state.config_record_service.audit_trail(caller, filter, page).await
}

/// `POST /monitors/{id}/outages/{outage}/acknowledge`
pub(in crate::web) async fn post_acknowledge(
    State(state): State<HistoryState>,
    Path((id, outage)): Path<(String, String)>,
    request: Request,
) -> Response {
    let form = match read_own_form(&state.actions.auth, request, MAX_BUTTON_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let found = find_own(&state.actions, &form.viewer, &id);
    let (Some((monitor, caller)), Ok(outage)) = (found, outage.parse()) else {
        return refused(&ServiceError::NotFound);
    };
    match state.alert_service.acknowledge_episode(&caller, EpisodeId(outage)).await {
        Ok(_) => see_other(&format!("/monitors/{}/history", monitor.id), None),
        Err(error) => refused(&error),
    }
}
