//! The table of the steps of a check.

use std::fmt::Write;

use crate::domain::{StepTest, StepTestOutcome};
use crate::service::result_view::StepView;
use crate::texts::{Locale, key};
use crate::web::html::{escape, render_table_head};
use crate::web::phase_bar::{render_phase_bar, render_phase_legend};

/// Renders all steps; nothing without any. Writing into a string cannot fail.
pub(super) fn render_steps(out: &mut String, steps: &[StepView<'_>], t: Locale) {
    if steps.is_empty() {
        return;
    }
    let heads = [
        ("n", "#"),
        ("", key("Step")),
        ("", key("Status")),
        ("n", key("Took")),
        ("", key("Phases")),
        ("", key("Request")),
        ("", key("Why")),
    ];
    let _ = write!(out, "<h2>{}</h2>{}", t.text("Steps"), render_table_head(&heads, t));
    for step in steps {
        let (css_class, status_text) =
            if step.passed { ("ok", t.text("ok")) } else { ("error", step.status.text()) };
        let mut reasons: Vec<_> = step.reasons.iter().map(|reason| t.english_html(reason)).collect();
        reasons.extend(render_tests(step.tests, t));
        let _ = write!(
            out,
            r#"<tr><td class="n">{}</td><td>{}</td><td><span class="pill s-{css_class}">{status_text}</span></td><td class="n" data-h="{}">{}</td><td>{}</td><td class="reason">{}</td><td class="reason">{}</td></tr>"#,
            step.number,
            escape(step.name),
            t.text("took"),
            t.micros(step.total_us),
            render_phase_bar(&step.phases, t),
            escape(&last_request_text(step)),
            reasons.join("<br>")
        );
    }
    out.push_str("</tbody></table></div>");
    out.push_str(&render_phase_legend(steps.iter().map(|step| step.phases), t));
}

/// Renders the tests of a step as a list that opens.
fn render_tests(tests: &[StepTest], t: Locale) -> Option<String> {
    if tests.is_empty() {
        return None;
    }
    let passed = tests.iter().filter(|test| test.outcome == StepTestOutcome::Passed).count();
    let counts = [("passed", passed.to_string()), ("all", tests.len().to_string())];
    let counts: Vec<(&str, &str)> = counts.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut out =
        format!("<details><summary>{}</summary><ul>", t.fill("{passed} of {all} tests passed", &counts));
    for test in tests {
        let (css_class, text) = match test.outcome {
            StepTestOutcome::Passed => ("ok", t.text("passed")),
            StepTestOutcome::Failed => ("error", t.text("failed")),
            StepTestOutcome::Skipped => ("unknown", t.text("skipped")),
        };
        let name = escape(&test.name);
        let _ = write!(out, r#"<li><span class="pill s-{css_class}">{text}</span> {name}</li>"#);
    }
    out.push_str("</ul></details>");
    Some(out)
}

/// Returns the last request of the step: its own, or the page that its browser was at.
fn last_request_text(step: &StepView<'_>) -> String {
    match (&step.browser, &step.last_request) {
        (Some(browser), _) => format!("{} {}", browser.url, browser.http_status.unwrap_or_default()),
        (None, Some(request)) => {
            let status = request.http_status.map(|status| status.to_string()).unwrap_or_default();
            format!("{} {} {status}", request.method, request.url)
        }
        (None, None) => String::new(),
    }
}
