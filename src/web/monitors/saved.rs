//! Saved views of the list: links to them, and saving what the list shows.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::query::{VIEWS_PATH, read_query};
use crate::domain::{ConfigRecordKind, Revision};
use crate::service::{Caller, ListQuery, SavedView, ServiceError};
use crate::syntax::node::Node;
use crate::texts::Locale;
use crate::web::actions::{MAX_BUTTON_FORM_BYTES, OwnForm, read_own_form, refused};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::form::records::AccountState;
use crate::web::forms::see_other;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::responses::store_unavailable;
use crate::web::viewer::Viewer;

/// The links to views, and the form that saves what the list shows.
#[derive(Template)]
#[template(path = "monitors_views.html", config = "src/web/askama.toml")]
struct ViewsBar<'a> {
    views: &'a [SavedView],
    query: &'a ListQuery,
    /// The query as in an address.
    text: String,
    /// `None` for a viewer who may not save a view.
    form_token: Option<&'a str>,
    path_of_all: String,
    t: Locale,
}

impl ViewsBar<'_> {
    fn is_current(&self, view: &SavedView) -> bool {
        self.query.view == Some(view.id)
    }
}

/// Renders the links to `views` above the list of `query`, and the form that saves it.
pub(super) fn render_views(views: &[SavedView], query: &ListQuery, viewer: &Viewer) -> String {
    let form_token = viewer.form_token().filter(|_| viewer.may_edit());
    if views.is_empty() && form_token.is_none() {
        return String::new();
    }
    let text = ListQuery { page_number: 1, ..query.clone() }.to_text();
    let path_of_all = viewer.location_switch.path_of_all();
    // Writing into a string cannot fail.
    ViewsBar { views, query, text, form_token, path_of_all, t: viewer.locale() }.render().unwrap_or_default()
}

/// The question whether a view is to show something else.
#[derive(Template)]
#[template(path = "view_replacement.html", config = "src/web/askama.toml")]
struct Replacement<'a> {
    view: &'a SavedView,
    query: &'a str,
    list_path: String,
    form_token: &'a str,
    t: Locale,
}

/// `POST /views`: saves a query as a view of this name. If there is one already, asks; `replace` answers.
pub(in crate::web) async fn post_view(State(state): State<AccountState>, request: Request) -> Response {
    let form = match read_own_form(&state.actions.auth, request, MAX_BUTTON_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let Some(caller) = form.viewer.caller.clone() else {
        return refused(&ServiceError::NotFound);
    };
    match save(&state, &caller, &form).await {
        Ok(id) => see_other(&format!("{VIEWS_PATH}{id}"), None),
        Err(error @ ServiceError::Conflict(_)) => ask(&state, &caller, &form, &error).await,
        Err(error) => refused(&error),
    }
}

/// Saves the view that `form` describes; returns its id.
async fn save(state: &AccountState, caller: &Caller, form: &OwnForm) -> Result<i64, ServiceError> {
    let field = |name: &str| form.fields.get(name).map(|text| text.trim()).unwrap_or_default();
    let (service, kind) = (&state.config_record_service, ConfigRecordKind::View);
    if field("replace").is_empty() {
        let is_shared = !field("shared").is_empty();
        let body = json!({"name": field("name"), "query": field("query"), "shared": is_shared});
        return Ok(service.create(caller, kind, &Node::from(body)).await?.id);
    }
    let id = field("replace").parse().map_err(|_| ServiceError::NotFound)?;
    let seen = field("revision").parse().map(Revision).map_err(|_| ServiceError::PreconditionFailed)?;
    let body = json!({"query": field("query")});
    Ok(service.patch(caller, kind, id, &Node::from(body), Some(seen)).await?.id)
}

/// Asks whether the view with the name in `form` is to be replaced, if the caller may see it; otherwise says `error`.
async fn ask(state: &AccountState, caller: &Caller, form: &OwnForm, error: &ServiceError) -> Response {
    let views = match state.actions.pages.monitor_reader.saved_views(caller).await {
        Ok(views) => views,
        Err(error) => return store_unavailable(&error),
    };
    let name = form.fields.get("name").map(|name| name.trim()).unwrap_or_default();
    let Some(view) = views.iter().find(|view| view.name == name) else {
        return refused(error);
    };
    let query = form.fields.get("query").map(String::as_str).unwrap_or_default();
    let page = Replacement {
        view,
        query,
        list_path: read_query(query, &form.viewer).to_path(),
        form_token: form.viewer.form_token().unwrap_or_default(),
        t: form.viewer.locale(),
    };
    let title = format!("{} · Vigie", page.t.text("Replace a view"));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(form.viewer.locale())],
        ..PageFrame::new(&title, &form.viewer)
    };
    // Writing into a string cannot fail.
    (StatusCode::CONFLICT, render_page(frame, &page.render().unwrap_or_default())).into_response()
}
