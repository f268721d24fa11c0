//! The content of the page of a result.

use std::sync::Arc;

use askama::Template;

use super::attempts::render_attempts;
use super::captures::render_captures;
use super::context::{Reader, ResultContext};
use super::details::render_details;
use super::evidence::render_evidence;
use super::exchanges::render_exchanges;
use super::verdict::{location_name, verdict_notes, verdict_sentence};
use crate::domain::{CheckResult, Location, StoreError};
use crate::schema::table::shares::{DEFAULT_SHARE_DAYS, MAX_SHARE_DAYS};
use crate::service::LocationAudience;
use crate::service::result_view::{attempt_views, format_duration};
use crate::texts::{Locale, key};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::page_state::PageState;

/// The content of the page; what is drawn comes as HTML.
#[derive(Template)]
#[template(path = "result.html", config = "src/web/askama.toml")]
struct ResultView<'a> {
    result: &'a CheckResult,
    /// Whether it is part of the history, and read by somebody who may see the other pages.
    has_links: bool,
    is_shared: bool,
    share_token: Option<&'a str>,
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
    t: Locale,
}

/// Renders the content of the page of a result that is not part of the history.
pub(in crate::web) fn render_lone_result(
    result: &CheckResult,
    locations: Arc<[Location]>,
    t: Locale,
) -> String {
    render_content(result, &ResultContext::on_demand(locations), t)
}

/// Renders the content of the page that a link opens; `path` is its path, and `result` has no secrets any more.
pub(in crate::web) async fn render_shared_result(
    state: &PageState,
    result: &CheckResult,
    path: &str,
    t: Locale,
) -> Result<String, StoreError> {
    let captures_path = format!("{path}/captures");
    let audience = LocationAudience::Public;
    let context = ResultContext::load(state, result, Reader::Link, Some(captures_path), audience).await?;
    Ok(render_content(result, &context, t))
}

/// Renders the content of the page of `result`.
pub(super) fn render_content(result: &CheckResult, context: &ResultContext, t: Locale) -> String {
    let is_shared = context.is_shared();
    let mut captures = String::new();
    if let Some(path) = &context.captures_path {
        render_captures(&mut captures, result, path, t);
    }
    let view = ResultView {
        result,
        has_links: matches!(context.reader, Reader::Console { .. }),
        is_shared,
        share_token: context.share_token(),
        planned_at: t.zoned_time(result.planned_at),
        location: location_name(&context.locations, result.location_id, t),
        sentence: verdict_sentence(result, t),
        notes: verdict_notes(result, &context.locations, t),
        summary: summary(result, is_shared, t),
        attempts: render_attempts(&attempt_views(result), t),
        details: render_details(result, t),
        exchanges: if is_shared { String::new() } else { render_exchanges(&result.details, t) },
        evidence: render_evidence(result, context, t),
        captures,
        json: if is_shared { String::new() } else { record_json(result) },
        t,
    };
    // Writing into a string cannot fail.
    view.render().unwrap_or_default()
}

/// Returns the record as JSON, for people.
pub(super) fn record_json(result: &CheckResult) -> String {
    // A result has only values that JSON can represent.
    serde_json::to_string_pretty(result).unwrap_or_default()
}

/// Returns the main values of `result` with their labels.
fn summary(result: &CheckResult, is_shared: bool, t: Locale) -> Vec<(&'static str, String)> {
    let lateness = result.lateness().map(|lateness| u64::try_from(lateness.as_micros()).unwrap_or(u64::MAX));
    let attempts = Some(result.attempts.len()).filter(|count| *count > 0);
    let pairs = [
        (key("Type"), Some(result.monitor_type.to_string())),
        (
            key("Status"),
            Some(format!("{} {}", result.status, result.status_text)).filter(|_| result.status.0 != 0),
        ),
        (
            key("Duration"),
            Some(t.decimal(format_duration(result.duration_us))).filter(|_| result.duration_us > 0),
        ),
        (key("Started"), attempts.map(|_| t.zoned_time(result.started_at))),
        (key("Late by"), lateness.map(|lateness| t.decimal(format_duration(lateness)))),
        (key("Attempts"), attempts.map(|count| count.to_string())),
        (key("Version of the monitor"), Some(result.revision.to_string()).filter(|_| !is_shared)),
    ];
    pairs.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::result_view::{sample_result, without_secrets};

    fn context(reader: Reader) -> ResultContext {
        ResultContext {
            reader,
            captures_path: None,
            traceroute: Some(" 1  192.0.2.1 <b>".to_owned()),
            last_passed: None,
            locations: Arc::new([]),
        }
    }

    #[test]
    fn the_page_of_a_browser_script_shows_its_steps_and_all_that_the_browser_saw() {
        let html = render_details(&sample_result::sample_result(), Locale::default());
        insta::assert_snapshot!(html.replace("><", ">\n<"));
    }

    #[test]
    fn the_page_says_what_happened_and_draws_when() {
        let mut result = sample_result::sample_result();
        let last_passed = Some(CheckResult { duration_us: 5, ..result.clone() });
        result.reasons.push("<script>".to_owned());
        let reader = Reader::Console { share_token: Some("form-token".to_owned()) };
        let html =
            render_content(&result, &ResultContext { last_passed, ..context(reader) }, Locale::default());
        for part in [
            "The check failed after 1.25 s: the answer was `404`",
            "from location 1",
            "failed in phase first byte after 40.1 ms",
            "Hop 2 <code>https://a.test/two</code> answered 302",
            "Compared with the last result that passed",
            "192.0.2.1 &lt;b&gt;",
            "Step 2: GET <code>https://a.test/3</code> → no response",
            r#"action="/results/00000000000000a1/share""#,
            r#"href="/results/00000000000000a1/json""#,
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<script>") && !html.contains("<b>another"), "{html}");
    }

    #[test]
    fn a_shared_page_has_no_link_to_another_page_and_nothing_that_may_be_secret() {
        let result = without_secrets(sample_result::sample_result());
        let html = render_content(&result, &context(Reader::Link), Locale::default());
        for part in
            ["The check failed after 1.25 s", "Path to the target", "Phases", "Steps", "https://b.test/b.png"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        let secrets =
            ["beware", "text/html", "127.0.0.2", "0af7651916cd43dd8448eb211c80319c", "us&lt;er&gt;"];
        for secret in
            secrets.into_iter().chain(["/results/", "/monitors/", "<form", "Version of the monitor", "JSON"])
        {
            assert!(!html.contains(secret), "{secret}: {html}");
        }
    }
}
