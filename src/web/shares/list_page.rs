//! The list of the results that an account shares.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};

use super::state::SharesState;
use crate::service::{ResultShare, ServiceError};
use crate::texts::Locale;
use crate::web::actions::{MAX_BUTTON_FORM_BYTES, read_own_form, refused};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::forms::see_other;
use crate::web::html::render_time_until;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::responses::{not_found, store_unavailable};
use crate::web::viewer::Viewer;

/// Most shares on the page: as many as an account may have. The host sees those of all accounts.
const MAX_ROWS: usize = 1_000;

/// A row of the list.
struct ShareRow {
    id: i64,
    result_path: String,
    monitor_name: String,
    created_at: String,
    created_by: String,
    expires_at: String,
    remaining: String,
}

#[derive(Template)]
#[template(path = "shares.html", config = "src/web/askama.toml")]
struct ShareList<'a> {
    rows: Vec<ShareRow>,
    count: usize,
    /// `None` for a viewer who may not end a share.
    form_token: Option<&'a str>,
    t: Locale,
}

/// `GET /shares`
pub(in crate::web) async fn get_list(
    State(state): State<SharesState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    // What an account shares is nothing for viewers of public pages.
    let Ok(customer) = viewer.account_of_caller() else {
        return not_found("This page does not exist");
    };
    let shares = match state.result_shares.shares(customer).await {
        Ok(shares) => shares,
        Err(error) => return store_unavailable(&error),
    };
    let now = state.pages.clock.now();
    let t = viewer.locale();
    let to_row = |share: &ResultShare| ShareRow {
        id: share.id,
        result_path: format!("/results/{}", share.check_id),
        monitor_name: share.monitor_name.clone(),
        created_at: t.time(share.created_at),
        created_by: share.created_by.clone(),
        expires_at: t.time(share.expires_at),
        remaining: render_time_until(share.expires_at, now, t),
    };
    let list = ShareList {
        rows: shares.iter().rev().take(MAX_ROWS).map(to_row).collect(),
        count: shares.len(),
        form_token: viewer.form_token().filter(|_| viewer.may_edit()),
        t,
    };
    let title = format!("{} · Vigie", t.text("Shared results"));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(viewer.locale())],
        ..PageFrame::new(&title, &viewer).at(now)
    };
    // Writing into a string cannot fail.
    render_page(frame, &list.render().unwrap_or_default()).into_response()
}

/// `POST /shares/{id}/revoke`
pub(in crate::web) async fn post_revoke(
    State(state): State<SharesState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let form = match read_own_form(&state.auth, request, MAX_BUTTON_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let Ok(id) = id.parse() else { return share_not_found() };
    let customer = match state.result_shares.customer_of(id).await {
        Ok(customer) => customer,
        Err(error) => return store_unavailable(&error),
    };
    let Some(caller) = customer.and_then(|customer| form.viewer.caller_for(customer)) else {
        return share_not_found();
    };
    match state.result_shares.revoke(&caller, id).await {
        Ok(()) => see_other("/shares", None),
        Err(ServiceError::NotFound) => share_not_found(),
        Err(error) => refused(&error),
    }
}

fn share_not_found() -> Response {
    not_found("The share does not exist, or has ended")
}
