//! The page of one result: all that is recorded of a check, as the API returns it.

use std::fmt::Write;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Response};

use super::captures::render_captures;
use super::details::render_details;
use super::html::{escape, format_time, render_reloading_document};
use super::page_state::PageState;
use super::responses::{not_found, store_unavailable};
use super::result_lookup::{find_result, find_result_if_captures_visible};
use super::viewer::Viewer;
use crate::domain::{CheckResult, CheckTrigger};
use crate::service::result_view::{deciding_reason, suppression_text};

/// Tells that a result is that of a first check.
const FIRST_CHECK_NOTICE: &str = r#"<p class="notice">This is a first check: it ran since the monitor was created, or what it checks was changed. It opens no outage, and reports leave it out.</p>"#;

/// `GET /results/{id}`
pub(super) async fn get_page(
    State(state): State<PageState>,
    Extension(viewer): Extension<Viewer>,
    Path(id): Path<String>,
) -> Response {
    let result = match find_result(&state, &viewer, &id).await {
        Ok(Some(result)) => result,
        Ok(None) => return not_found("The result does not exist"),
        Err(error) => return store_unavailable(&error),
    };
    match find_result_if_captures_visible(&state, &viewer, &id).await {
        Ok(shown) => render_result_page(&result, shown.is_some(), &viewer).into_response(),
        Err(error) => store_unavailable(&error),
    }
}

fn render_result_page(result: &CheckResult, shows_captures: bool, viewer: &Viewer) -> Html<String> {
    let (name, outcome, monitor_id) = (escape(&result.monitor_name), result.outcome, result.monitor_id);
    let (planned_time, reason) = (format_time(result.planned_at), deciding_reason(result));
    let mut body = format!(
        r#"<h1>{name} <small>{planned_time} UTC</small></h1><p><span class="pill s-{outcome}">{outcome}</span> {} <a href="/monitors/{monitor_id}">All results</a></p>"#,
        escape(&reason)
    );
    if !result.suppressed_by.is_empty() {
        let text = suppression_text(result);
        let _ = write!(body, r#"<p class="notice">This error opens no outage, {}.</p>"#, escape(&text));
    }
    if result.trigger == CheckTrigger::First {
        body.push_str(FIRST_CHECK_NOTICE);
    }
    body.push_str(&render_details(&result.details));
    if shows_captures {
        render_captures(&mut body, result);
    }
    // A result has only values that JSON can represent.
    let result_json = serde_json::to_string_pretty(result).unwrap_or_default();
    let _ = write!(body, r#"<pre class="record">{}</pre>"#, escape(&result_json));
    render_reloading_document(&format!("{} · Vigie", result.monitor_name), &body, viewer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::result_view::sample_result;

    #[test]
    fn the_page_of_a_browser_script_shows_its_steps_and_all_that_the_browser_saw() {
        let html = render_details(&sample_result::sample_result().details);
        insta::assert_snapshot!(html.replace("><", ">\n<"));
    }
}
