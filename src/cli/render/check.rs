//! Prints one check.

use std::fmt::Write;

use super::text::escape_controls;
use super::{attempts, browser, console, content_view_lines, facts, page, steps};
use crate::cli::style::Style;
use crate::domain::CheckResult;
use crate::service::result_view::{
    DetailsView, attempt_views, fact_lines, format_duration, status_description,
};

/// Renders the whole of `result`, ending with a line break.
#[must_use]
pub fn render_check(result: &CheckResult, style: Style) -> String {
    let mut out = String::new();
    render_verdict(&mut out, result, style);
    render_reasons(&mut out, result);
    for attempt in attempt_views(result) {
        attempts::render_attempt(&mut out, &attempt, style);
    }
    let details = DetailsView::new(&result.details);
    steps::render_steps(&mut out, &details.steps, style);
    console::render_console(&mut out, result, style);
    content_view_lines::render_content_views(&mut out, &details.content_views, style);
    if let Some(browser_view) = &details.browser {
        browser::render_browser(&mut out, browser_view, style);
    }
    if let Some(page_view) = &details.page {
        page::render_page(&mut out, page_view, style);
    }
    facts::render_facts(&mut out, &fact_lines(result), style);
    out
}

/// Prints the first line: outcome, monitor, duration.
fn render_verdict(out: &mut String, result: &CheckResult, style: Style) {
    let outcome = style.in_outcome_color(result.outcome, result.outcome.name());
    let name = style.bold(&format!("`{}`", escape_controls(&result.monitor_name)));
    let duration = format_duration(result.duration_us);
    let status = Some(status_description(result)).filter(|text| !text.is_empty());
    let status = status.map_or(String::new(), |text| format!(", {text}"));
    let _ = writeln!(out, "{outcome}: {name} ({}) in {duration}{status}", result.monitor_type);
}

fn render_reasons(out: &mut String, result: &CheckResult) {
    for (index, reason) in result.reasons.iter().enumerate() {
        let label = if index == 0 { "why" } else { "" };
        let _ = writeln!(out, "{label:>4}  {}", escape_controls(reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::result_view::sample_result;

    #[test]
    fn a_browser_script_shows_its_steps_and_all_that_the_browser_saw() {
        insta::assert_snapshot!(render_check(&sample_result::sample_result(), Style::PLAIN));
    }
}
