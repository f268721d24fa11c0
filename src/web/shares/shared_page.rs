//! What a link opens without a login: the page of one result, without what may be secret, and its pictures.

use axum::extract::{Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::state::SharesState;
use crate::domain::{CheckResult, StoreError};
use crate::service::ResultShare;
use crate::service::result_view::without_secrets;
use crate::texts::key;
use crate::web::html::escape;
use crate::web::page_frame::{PageFrame, render_page};
use crate::web::preferences::Preferences;
use crate::web::query_masks::HideQueryValues;
use crate::web::responses::store_unavailable;
use crate::web::result::{capture_response, render_shared_result};

/// Title of pages that show no result.
const TITLE: &str = key("Shared result");
/// Where a link leads that opens nothing, for whatever reason.
const NO_SHARE: &str = key("This link opens nothing. It has ended, somebody ended it, or it is incomplete.");
/// Where a link leads whose result was removed.
const GONE: &str = key("The result is gone: it was older than the results that are kept.");

/// What a link leads to.
struct Shared {
    share: ResultShare,
    /// The result without what may be secret; `None` after it was removed.
    result: Option<CheckResult>,
}

/// `GET /shared/{token}`
pub(in crate::web) async fn get_shared_page(
    State(state): State<SharesState>,
    Path(token): Path<String>,
    head: Parts,
) -> Response {
    let Shared { share, result } = match find_shared(&state, &token, &head).await {
        Ok(shared) => shared,
        Err(response) => return response,
    };
    let Some(result) = result else { return render_notice(StatusCode::GONE, key("Gone"), GONE, &head) };
    let preferences = Preferences::from_head(&head);
    let t = preferences.locale();
    let content = match render_shared_result(&state.pages, &result, &format!("/shared/{token}"), t).await {
        Ok(content) => content,
        Err(error) => return store_unavailable(&error),
    };
    let until = t.zoned_time(share.expires_at);
    let body = format!(
        r#"{content}<p class="hint">{}</p>"#,
        t.fill("Shared by a link that ends on {time}. Heads and bodies of requests and responses, values of queries and messages of the console of the browser are left out.", &[("time", &until)])
    );
    let title = format!("{} · Vigie", result.monitor_name);
    let frame = PageFrame::bare(&title, preferences);
    private(render_page(frame, &body).into_response())
}

/// `GET /shared/{token}/captures/{name}`: the pictures of the page.
pub(in crate::web) async fn get_shared_capture(
    State(state): State<SharesState>,
    Path((token, name)): Path<(String, String)>,
    head: Parts,
) -> Response {
    let shared = match find_shared(&state, &token, &head).await {
        Ok(shared) => shared,
        Err(response) => return response,
    };
    let is_shown = |result: &CheckResult| {
        result.captures.iter().any(|capture| capture.name == name && capture.is_image())
    };
    let Some(result) = shared.result.filter(is_shown) else {
        return render_notice(StatusCode::NOT_FOUND, "Not found", NO_SHARE, &head);
    };
    match state.pages.monitor_reader.capture(result.check_id, name).await {
        Ok(Some(capture)) => match capture_response(capture, "no-store") {
            Some(response) => private(response),
            None => render_notice(StatusCode::NOT_FOUND, "Not found", NO_SHARE, &head),
        },
        Ok(None) => render_notice(StatusCode::NOT_FOUND, "Not found", NO_SHARE, &head),
        Err(error) => store_unavailable(&error),
    }
}

/// Finds what the link with `token` leads to; the response to one that opens nothing does not say why.
async fn find_shared(state: &SharesState, token: &str, head: &Parts) -> Result<Shared, Response> {
    if let Some(refusal) = state.auth.unknown_host_refusal(head) {
        return Err(refusal);
    }
    let unavailable = |error: StoreError| store_unavailable(&error);
    let share = state.result_shares.share_by_token(token).await.map_err(unavailable)?;
    let Some(share) = share else {
        return Err(render_notice(StatusCode::NOT_FOUND, "Not found", NO_SHARE, head));
    };
    let reader = &state.pages.monitor_reader;
    let result = reader.result_for_customer(share.customer, share.check_id).await.map_err(unavailable)?;
    Ok(Shared { share, result: result.map(without_secrets) })
}

fn render_notice(status: StatusCode, title: &str, text: &str, head: &Parts) -> Response {
    let preferences = Preferences::from_head(head);
    let t = preferences.locale();
    let body = format!(r#"<h1>{}</h1><p class="notice">{}</p>"#, escape(t.text(title)), escape(t.text(text)));
    let title = format!("{} · Vigie", t.text(TITLE));
    let frame = PageFrame::bare(&title, preferences);
    private((status, render_page(frame, &body)).into_response())
}

/// Keeps a response out of search engines and caches, and masks the values of queries in it.
fn private(mut response: Response) -> Response {
    let headers: [(HeaderName, HeaderValue); 3] = [
        (HeaderName::from_static("x-robots-tag"), HeaderValue::from_static("noindex")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    response.headers_mut().extend(headers);
    response.extensions_mut().insert(HideQueryValues);
    response
}
