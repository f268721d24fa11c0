//! The page of one result.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Response};

use super::attempts::render_attempts;
use super::captures::render_captures;
use super::details::render_details;
use super::evidence::render_evidence;
use super::exchanges::render_exchanges;
use super::lookup::{find_result, find_result_if_captures_visible};
use super::verdict::{location_name, verdict_notes, verdict_sentence};
use crate::domain::{CheckResult, Location, Outcome, StoreError, TRACEROUTE_FILE_NAME};
use crate::service::result_view::{attempt_views, format_duration};
use crate::web::html::format_time;
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

/// What the page shows beside the result itself.
struct ResultContext {
    shows_captures: bool,
    traceroute: Option<String>,
    last_passed: Option<CheckResult>,
    locations: Arc<[Location]>,
}

async fn load_context(
    state: &PageState,
    viewer: &Viewer,
    result: &CheckResult,
    id: &str,
) -> Result<ResultContext, StoreError> {
    let shows_captures = find_result_if_captures_visible(state, viewer, id).await?.is_some();
    let has_traceroute = result.captures.iter().any(|file| file.name == TRACEROUTE_FILE_NAME);
    let traceroute = if shows_captures && has_traceroute {
        state.monitor_reader.capture(result.check_id, TRACEROUTE_FILE_NAME.to_owned()).await?
    } else {
        None
    };
    let traceroute =
        traceroute.and_then(|file| Some(String::from_utf8_lossy(file.content.as_deref()?).into_owned()));
    let has_failed = matches!(result.outcome, Outcome::Error | Outcome::Warning | Outcome::Unknown);
    let last_passed = if has_failed { state.monitor_reader.last_passed_before(result).await? } else { None };
    Ok(ResultContext { shows_captures, traceroute, last_passed, locations: state.monitor_reader.locations() })
}

/// The content of the page; what is drawn comes as HTML.
#[derive(Template)]
#[template(path = "result.html", config = "src/web/askama.toml")]
struct ResultView<'a> {
    result: &'a CheckResult,
    planned_at: String,
    location: String,
    sentence: String,
    notes: Vec<String>,
    summary: Vec<(&'static str, String)>,
    attempts: String,
    details: String,
    exchanges: String,
    evidence: String,
    captures: String,
    json: String,
}

/// Renders the content of the page of a result that is not part of the history: it has no captures, and is compared with
/// nothing.
pub(in crate::web) fn render_lone_result(result: &CheckResult, locations: Arc<[Location]>) -> String {
    let context = ResultContext { shows_captures: false, traceroute: None, last_passed: None, locations };
    render_content(result, &context)
}

fn render_content(result: &CheckResult, context: &ResultContext) -> String {
    let ResultContext { shows_captures, traceroute, last_passed, locations } = context;
    let mut captures = String::new();
    if *shows_captures {
        render_captures(&mut captures, result);
    }
    let view = ResultView {
        result,
        planned_at: format_time(result.planned_at),
        location: location_name(locations, result.location_id),
        sentence: verdict_sentence(result),
        notes: verdict_notes(result, locations),
        summary: summary(result),
        attempts: render_attempts(&attempt_views(result)),
        details: render_details(&result.details),
        exchanges: render_exchanges(&result.details),
        evidence: render_evidence(result, last_passed.as_ref(), traceroute.as_deref()),
        captures,
        // A result has only values that JSON can represent.
        json: serde_json::to_string_pretty(result).unwrap_or_default(),
    };
    // Writing into a string cannot fail.
    view.render().unwrap_or_default()
}

fn render_result_page(result: &CheckResult, context: &ResultContext, viewer: &Viewer) -> Html<String> {
    let title = format!("{} · Vigie", result.monitor_name);
    let monitor_path = format!("/monitors/{}", result.monitor_id);
    let monitor = Breadcrumb { name: result.monitor_name.to_string(), path: monitor_path };
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(), monitor],
        ..PageFrame::new(&title, viewer)
    };
    render_page(frame, &render_content(result, context))
}

/// Returns the main values of `result` with their labels.
fn summary(result: &CheckResult) -> Vec<(&'static str, String)> {
    let lateness = result.lateness().map(|lateness| u64::try_from(lateness.as_micros()).unwrap_or(u64::MAX));
    let attempts = Some(result.attempts.len()).filter(|count| *count > 0);
    let pairs = [
        ("Type", Some(result.monitor_type.to_string())),
        (
            "Status",
            Some(format!("{} {}", result.status, result.status_text)).filter(|_| result.status.0 != 0),
        ),
        ("Duration", Some(format_duration(result.duration_us)).filter(|_| result.duration_us > 0)),
        ("Started", attempts.map(|_| format!("{} UTC", format_time(result.started_at)))),
        ("Late by", lateness.map(format_duration)),
        ("Attempts", attempts.map(|count| count.to_string())),
        ("Version of the monitor", Some(result.revision.to_string())),
    ];
    pairs.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
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

    #[test]
    fn the_page_says_what_happened_and_draws_when() {
        let mut result = sample_result::sample_result();
        let context = ResultContext {
            shows_captures: false,
            traceroute: Some(" 1  192.0.2.1 <b>".to_owned()),
            last_passed: Some(CheckResult { duration_us: 5, ..result.clone() }),
            locations: Arc::new([]),
        };
        result.reasons.push("<script>".to_owned());
        let viewer = crate::web::viewer::test_viewer();
        let html = render_result_page(&result, &context, &viewer).0;
        for part in [
            "The check failed after 1.25 s: the answer was `404`",
            "from location 1",
            "failed in phase first byte after 40.1 ms",
            "Hop 2 <code>https://a.test/two</code> answered 302",
            "Compared with the last result that passed",
            "192.0.2.1 &lt;b&gt;",
            "Step 2: GET <code>https://a.test/3</code> → no response",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script>") && !html.contains("<b>another"), "{html}");
    }
}
