//! Removing a monitor: a question first.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};

use super::form_page::find_editable;
use crate::domain::Revision;
use crate::service::{ServiceError, monitors};
use crate::texts::Locale;
use crate::web::actions::{ActionsState, MAX_BUTTON_FORM_BYTES, find_own, read_own_form, refused};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::forms::see_other;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::viewer::Viewer;

#[derive(Template)]
#[template(path = "monitor_removal.html", config = "src/web/askama.toml")]
struct Removal<'a> {
    name: &'a str,
    id: String,
    revision: String,
    form_token: &'a str,
    t: Locale,
}

/// `GET /monitors/{id}/remove`: asks.
pub(in crate::web) async fn get_removal(
    State(state): State<ActionsState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let (monitor, _) = match find_editable(&state, &viewer, &id) {
        Ok(found) => found,
        Err(error) => return refused(&error),
    };
    let t = viewer.locale();
    let removal = Removal {
        name: monitor.name(),
        id: monitor.id.to_string(),
        revision: monitor.revision.to_string(),
        form_token: viewer.form_token().unwrap_or_default(),
        t,
    };
    let crumb = Breadcrumb { name: monitor.name().to_owned(), path: format!("/monitors/{}", monitor.id) };
    let title = format!("{} · Vigie", t.fill("Remove {name}", &[("name", monitor.name())]));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(viewer.locale()), crumb],
        ..PageFrame::new(&title, &viewer)
    };
    // Writing into a string cannot fail.
    render_page(frame, &removal.render().unwrap_or_default()).into_response()
}

/// `POST /monitors/{id}/remove`: removes the monitor that the person saw.
pub(in crate::web) async fn post_removal(
    State(state): State<ActionsState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let form = match read_own_form(&state.auth, request, MAX_BUTTON_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let Some((monitor, caller)) = find_own(&state, &form.viewer, &id) else {
        return refused(&ServiceError::NotFound);
    };
    let Some(revision) = form.fields.get("revision").and_then(|text| text.parse().ok()).map(Revision) else {
        return refused(&ServiceError::PreconditionFailed);
    };
    match monitors::delete(&state.monitor_service, &caller, monitor.id, Some(revision)).await {
        Ok(()) => see_other("/", None),
        Err(error) => refused(&error),
    }
}
