//! The details of a check on the page of its result: steps, browser, and the page with its objects.

use super::{assertions, browser, content_views, steps, waterfall};
use crate::domain::CheckResult;
use crate::service::result_view::{DetailsView, document_views, failed_assertions};
use crate::texts::Locale;

/// Renders all details; empty without any.
pub(super) fn render_details(result: &CheckResult, t: Locale) -> String {
    let details = DetailsView::new(&result.details);
    let mut out = String::new();
    steps::render_steps(&mut out, &details.steps, t);
    assertions::render_failed_assertions(&mut out, &failed_assertions(result), t);
    content_views::render_content_views(&mut out, &details.content_views, t);
    for step in &details.steps {
        browser::render_browser_step(&mut out, step, t);
    }
    if let Some(browser) = &details.browser {
        browser::render_browser(&mut out, browser, t);
    }
    if let Some(page) = &details.page {
        waterfall::render_page_objects(&mut out, page, document_views(result), t);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::{
        CheckDetails, Facts, Failure, FailureKind, PageLoad, PageObject, PageObjectChange, PageObjectKind,
        Phase, Phases, Status,
    };
    use crate::service::result_view::sample_result;

    fn result_with_page(page: PageLoad) -> CheckResult {
        let details = CheckDetails { page_load: Some(Box::new(page)), ..CheckDetails::default() };
        CheckResult { details, facts: Facts::default(), ..sample_result::sample_result() }
    }

    #[test]
    fn objects_of_a_page_are_placed_by_time_and_escaped() {
        let mut phases = Phases::default();
        phases.set(Phase::FirstByte, Duration::from_millis(50));
        let object = PageObject {
            url: "http://a.test/<i>".to_owned(),
            kind: PageObjectKind::Image,
            third_party: true,
            blocked: false,
            start_offset_us: 50_000,
            duration_us: 50_000,
            phases,
            http_status: 404,
            http_version: String::new(),
            media_type: String::new(),
            body_wire_bytes: 0,
            body_bytes: 7,
            failure: Some(
                Failure::new(Phase::Validate, FailureKind::HttpErrorStatus, "`404`")
                    .into_page_object_failure("<b>"),
            ),
        };
        let page =
            PageLoad { duration_us: 100_000, decoded_bytes: 7, objects: vec![object], ..PageLoad::default() };
        let html = render_details(&result_with_page(page), Locale::default());
        assert!(html.contains(r#"x="150.0" width="150.0""#), "{html}");
        assert!(html.contains("1 failed, 1 third-party"), "{html}");
        assert!(html.contains("http://a.test/&lt;i&gt;") && !html.contains("<b>"), "{html}");
    }

    #[test]
    fn a_page_without_objects_says_so_and_has_no_empty_table() {
        let missing = PageObjectChange {
            status: Status::OBJECT_MISSING,
            url: "http://a.test/x".to_owned(),
            previous_bytes: Some(9),
            current_bytes: None,
        };
        let page = PageLoad {
            duration_us: 100_000,
            decoded_bytes: 7,
            changes: vec![missing],
            ..PageLoad::default()
        };
        let html = render_details(&result_with_page(page), Locale::default());
        assert!(html.contains("The page has no objects to load."), "{html}");
        assert!(html.contains("missing: http://a.test/x, 9 bytes before"), "{html}");
        assert!(!html.contains("<table"), "{html}");
    }
}
