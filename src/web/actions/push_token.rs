//! Makes the push URL of a monitor, and shows it once.

use askama::Template;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};

use super::monitor_actions::read_action;
use super::refusal::refused;
use super::state::ActionsState;
use crate::texts::key;
use crate::web::form::SavedPage;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};

/// `POST /monitors/{id}/push-token`
pub(in crate::web) async fn post_push_token(
    State(state): State<ActionsState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (form, monitor, caller) = match read_action(&state, &id, request).await {
        Ok(action) => action,
        Err(response) => return response,
    };
    let saved = match state.push_service.create_token(&caller, monitor.id).await {
        Ok(saved) => saved,
        Err(error) => return refused(&error),
    };
    let (viewer, path) = (&form.viewer, saved.create_response_fields.get("path"));
    let path = path.and_then(serde_json::Value::as_str).unwrap_or_default();
    let t = viewer.locale();
    let page = SavedPage {
        heading: t.fill(key("A new push URL of {name}"), &[("name", monitor.name())]),
        values: vec![(
            t.text("Path of the URL below the address of this server").to_owned(),
            path.to_owned(),
        )],
        warnings: &[],
        next: (format!("/monitors/{}", monitor.id), t.text("Back to the monitor")),
        edit_path: None,
        t,
    };
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(t)],
        ..PageFrame::new(&page.heading, viewer).at(state.pages.clock.now())
    };
    // Writing into a string cannot fail.
    render_page(frame, &page.render().unwrap_or_default()).into_response()
}
