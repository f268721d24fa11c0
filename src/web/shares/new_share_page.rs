//! Shares a result, and shows the link once.

use askama::Template;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};

use super::state::SharesState;
use crate::domain::CheckResult;
use crate::service::{ClientConnection, NewResultShare, ServiceError, shared_result_path};
use crate::texts::Locale;
use crate::web::actions::{MAX_BUTTON_FORM_BYTES, read_own_form, refused};
use crate::web::csrf::request_authority;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::responses::{not_found, store_unavailable};
use crate::web::result::find_result;
use crate::web::viewer::Viewer;

#[derive(Template)]
#[template(path = "share_created.html", config = "src/web/askama.toml")]
struct CreatedShare<'a> {
    result: &'a CheckResult,
    path: String,
    url: String,
    expires_at: String,
    t: Locale,
}

/// `POST /results/{id}/share` with `days`
pub(in crate::web) async fn post_share(
    State(state): State<SharesState>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let server_url = server_url(&request);
    let form = match read_own_form(&state.auth, request, MAX_BUTTON_FORM_BYTES).await {
        Ok(form) => form,
        Err(response) => return response,
    };
    let reader = &state.pages.monitor_reader;
    let result = match find_result(&state.pages, &form.viewer, &id).await {
        Ok(Some(result)) => result,
        Ok(None) => return not_found("The result does not exist"),
        Err(error) => return store_unavailable(&error),
    };
    let customer = match reader.customer_for_monitor(result.monitor_id).await {
        Ok(customer) => customer,
        Err(error) => return store_unavailable(&error),
    };
    let Some(caller) = customer.and_then(|customer| form.viewer.caller_for(customer)) else {
        return not_found("The result does not exist");
    };
    // A number that is none is out of bounds as well.
    let days = form.fields.get("days").and_then(|days| days.trim().parse().ok()).unwrap_or(0);
    match state.result_shares.create(&caller, result.check_id, days).await {
        Ok(share) => render_created(&result, &share, &server_url, &form.viewer),
        Err(ServiceError::NotFound) => not_found("The result does not exist"),
        Err(error) => refused(&error),
    }
}

fn render_created(
    result: &CheckResult,
    created: &NewResultShare,
    server_url: &str,
    viewer: &Viewer,
) -> Response {
    let t = viewer.locale();
    let path = shared_result_path(&created.token);
    let page = CreatedShare {
        result,
        url: format!("{server_url}{path}"),
        path,
        expires_at: t.zoned_time(created.share.expires_at),
        t,
    };
    let result_crumb =
        Breadcrumb { name: t.time(result.planned_at), path: format!("/results/{}", result.check_id) };
    let monitor_crumb = Breadcrumb {
        name: result.monitor_name.to_string(),
        path: format!("/monitors/{}", result.monitor_id),
    };
    let title = format!("{} · Vigie", t.text("Shared"));
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(t), monitor_crumb, result_crumb],
        // The address is that of a form that was sent: nothing leads back to it.
        has_preferences: false,
        ..PageFrame::new(&title, viewer)
    };
    // Writing into a string cannot fail.
    render_page(frame, &page.render().unwrap_or_default()).into_response()
}

/// Returns the address of this server as the browser has it.
fn server_url(request: &Request) -> String {
    let scheme =
        if ClientConnection::from_extensions(request.extensions()).is_tls { "https" } else { "http" };
    let authority = request_authority(request.uri(), request.headers());
    authority.map_or_else(String::new, |authority| format!("{scheme}://{authority}"))
}
