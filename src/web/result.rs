//! The page of one result: all that is kept of a check, as the API shows it.

use std::fmt::Write;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Response};

use super::capture::captures;
use super::details::details;
use super::found::found;
use super::gate::Audience;
use super::html::{document, escape, time};
use super::responses::{not_found, store_unavailable};
use super::site::Site;
use crate::domain::CheckResult;
use crate::service::details::deciding_reason;

/// `GET /results/{id}`
pub(super) async fn page(
    State(site): State<Site>,
    Extension(audience): Extension<Audience>,
    Path(id): Path<String>,
) -> Response {
    match found(&site, audience, &id).await {
        Ok(Some(result)) => render(&result, audience).into_response(),
        Ok(None) => not_found("There is no result with this id"),
        Err(error) => store_unavailable(&error),
    }
}

fn render(result: &CheckResult, audience: Audience) -> Html<String> {
    let (name, word, monitor) = (escape(&result.monitor_name), result.outcome, result.monitor_id);
    let (planned, why) = (time(result.planned_at), deciding_reason(result));
    let mut body = format!(
        r#"<h1>{name} <small>{planned} UTC</small></h1><p><span class="pill s-{word}">{word}</span> {} <a href="/monitors/{monitor}">All results</a></p>"#,
        escape(&why)
    );
    body.push_str(&details(&result.details));
    if audience.sees_captures {
        captures(&mut body, result);
    }
    // Only numbers and texts are in it: nothing that JSON cannot hold.
    let text = serde_json::to_string_pretty(result).unwrap_or_default();
    let _ = write!(body, r#"<pre class="record">{}</pre>"#, escape(&text));
    document(&format!("{} · Vigie", result.monitor_name), &body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::details::sample;

    #[test]
    fn the_page_of_a_browser_script_shows_its_steps_and_all_that_the_browser_saw() {
        let html = details(&sample::sample_result().details);
        insta::assert_snapshot!(html.replace("><", ">\n<"));
    }
}
