//! The page of one result, and its record as JSON.

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};

use super::content::{record_json, render_content};
use super::context::{Reader, ResultContext};
use super::lookup::{find_result, find_result_if_captures_visible};
use crate::domain::{CheckResult, StoreError};
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::page_state::PageState;
use crate::web::responses::{not_found, store_unavailable};
use crate::web::viewer::Viewer;

/// `GET /results/{id}`
pub(in crate::web) async fn get_page(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let result = match find_result(&state, &viewer, &id).await {
        Ok(Some(result)) => result,
        Ok(None) => return not_found("The result does not exist"),
        Err(error) => return store_unavailable(&error),
    };
    match load_context(&state, &viewer, &result, &id).await {
        Ok(context) => render_result_page(&result, &context, &viewer).into_response(),
        Err(error) => store_unavailable(&error),
    }
}

/// `GET /results/{id}/json`: the record, as version 3 of the API returns it.
pub(in crate::web) async fn get_record(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    match find_result(&state, &viewer, &id).await {
        Ok(Some(result)) => {
            ([(header::CONTENT_TYPE, "application/json")], record_json(&result)).into_response()
        }
        Ok(None) => not_found("The result does not exist"),
        Err(error) => store_unavailable(&error),
    }
}

async fn load_context(
    state: &PageState,
    viewer: &Viewer,
    result: &CheckResult,
    id: &str,
) -> Result<ResultContext, StoreError> {
    let shows_captures = find_result_if_captures_visible(state, viewer, id).await?.is_some();
    let captures_path = shows_captures.then(|| format!("/results/{}/captures", result.check_id));
    let share_token = if viewer.may_edit() {
        let customer = state.monitor_reader.customer_for_monitor(result.monitor_id).await?;
        let is_own = customer.is_some_and(|customer| viewer.caller_for(customer).is_some());
        viewer.form_token().filter(|_| is_own).map(str::to_owned)
    } else {
        None
    };
    let audience = viewer.location_audience();
    ResultContext::load(state, result, Reader::Console { share_token }, captures_path, audience).await
}

fn render_result_page(result: &CheckResult, context: &ResultContext, viewer: &Viewer) -> Html<String> {
    let title = format!("{} · Vigie", result.monitor_name);
    let monitor_path = format!("/monitors/{}", result.monitor_id);
    let monitor = Breadcrumb { name: result.monitor_name.to_string(), path: monitor_path };
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(viewer.locale()), monitor],
        ..PageFrame::new(&title, viewer)
    };
    render_page(frame, &render_content(result, context, viewer.locale()))
}
