//! Prints the steps of a check, one line each.

use std::fmt::Write;

use super::browser;
use super::text::{escape_controls, shorten_url};
use crate::cli::style::Style;
use crate::domain::{Outcome, StepTestOutcome};
use crate::service::result_view::{RequestView, StepView, format_duration};

/// Most characters of a printed step name.
const MAX_NAME_CHARS: usize = 40;

/// Prints all steps, after an empty line; prints nothing without steps.
pub(super) fn render_steps(out: &mut String, steps: &[StepView<'_>], style: Style) {
    if steps.is_empty() {
        return;
    }
    out.push('\n');
    let name_width =
        steps.iter().map(|step| step.name.chars().count()).max().unwrap_or(0).min(MAX_NAME_CHARS);
    for step in steps {
        render_step(out, step, name_width, style);
        if let Some(browser_step) = &step.browser {
            browser::render_browser_step(out, browser_step, style);
        }
    }
}

fn render_step(out: &mut String, step: &StepView<'_>, name_width: usize, style: Style) {
    let (outcome, status_text) = if step.passed { (Outcome::Ok, "ok") } else { (Outcome::Error, "failed") };
    let name: String = escape_controls(step.name).chars().take(name_width).collect();
    let status_text = style.in_outcome_color(outcome, &format!("{status_text:<6}"));
    let duration = format_duration(step.total_us);
    let request = step.last_request.as_ref().map(format_last_request).unwrap_or_default();
    let number = style.bold(&format!("{:>4}", step.number));
    let _ = writeln!(out, "{number}  {name:<name_width$}  {status_text} {duration:>9}{request}");
    for (index, reason) in step.reasons.iter().enumerate() {
        let label = if index == 0 { "why" } else { "" };
        let _ = writeln!(out, "      {label:>3}  {}", escape_controls(reason));
    }
    for test in step.tests {
        let (outcome, mark) = match test.outcome {
            StepTestOutcome::Passed => (Outcome::Ok, "ok"),
            StepTestOutcome::Failed => (Outcome::Error, "failed"),
            StepTestOutcome::Skipped => (Outcome::Unknown, "skipped"),
        };
        let mark = style.in_outcome_color(outcome, &format!("{mark:<7}"));
        let _ = writeln!(out, "      {} {mark} {}", style.dim("test"), escape_controls(&test.name));
    }
    if !step.set_variables.is_empty() {
        let names: Vec<_> = step.set_variables.iter().map(|name| escape_controls(name)).collect();
        let _ = writeln!(out, "      {}  {}", style.dim("set"), names.join(", "));
    }
}

fn format_last_request(request: &RequestView<'_>) -> String {
    let status = request.http_status.map_or_else(|| "no response".to_owned(), |status| status.to_string());
    let earlier_text = match request.earlier_requests {
        0 => String::new(),
        1 => ", the second exchange".to_owned(),
        earlier => format!(", after {earlier} others"),
    };
    format!("  {} `{}` {status}{earlier_text}", request.method, shorten_url(request.url))
}
