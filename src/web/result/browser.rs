//! What a browser reported of a script: metrics, actions, waterfall and console of each step.

use std::fmt::Write;

use super::waterfall::render_waterfall;
use crate::service::result_view::{BrowserStepView, BrowserView, PageMetric, StepView};
use crate::web::html::{escape, format_micros};

/// Most console lines shown per step.
const MAX_CONSOLE_LINES: usize = 20;

/// Renders a step; nothing for a step without a browser.
pub(super) fn render_browser_step(out: &mut String, step: &StepView<'_>) {
    let Some(browser) = &step.browser else { return };
    let _ = write!(out, "<h2>Step {} <small>{}", step.number, escape(step.name));
    if !browser.title.is_empty() {
        let _ = write!(out, " — {}", escape(browser.title));
    }
    out.push_str("</small></h2>");
    if let Some(metrics) = &browser.metrics {
        let metric_texts: Vec<_> = metrics.iter().map(capitalized_metric).collect();
        let _ = write!(out, "<p>{}</p>", metric_texts.join(" · "));
    }
    out.push_str("<p>");
    for action in &browser.actions {
        let css_class = if action.passed { "ok" } else { "error" };
        let duration_text =
            if action.was_skipped { "skipped".to_owned() } else { format_micros(action.total_us) };
        let _ = write!(
            out,
            r#"<span class="pill s-{css_class}">{} {duration_text}</span> "#,
            escape(action.name)
        );
    }
    out.push_str("</p>");
    let name = format!("step-{}", step.number);
    render_waterfall(out, &browser.objects, browser.unlisted_objects, &name);
    render_console(out, browser);
}

/// Formats a metric with a capital first letter.
fn capitalized_metric(metric: &PageMetric) -> String {
    let text = metric.format_with(format_micros);
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| format!("{}{}", first.to_uppercase(), chars.as_str()))
}

fn render_console(out: &mut String, step: &BrowserStepView<'_>) {
    if step.console.is_empty() {
        return;
    }
    out.push_str(r#"<div class="scroll"><table class="rows"><thead><tr><th>Console</th><th>From</th><th>Text</th></tr></thead><tbody>"#);
    for line in step.console.iter().take(MAX_CONSOLE_LINES) {
        let css_class = if line.is_error { "error" } else { "warning" };
        let _ = write!(
            out,
            r#"<tr><td><span class="pill s-{css_class}">{}</span></td><td class="reason">{}</td><td class="reason">{}</td></tr>"#,
            escape(line.level),
            escape(&line.source_location),
            escape(line.text)
        );
    }
    out.push_str("</tbody></table></div>");
    let left_out = step.console.len().saturating_sub(MAX_CONSOLE_LINES);
    if left_out > 0 {
        let _ = write!(out, "<p>{left_out} more messages are in the record.</p>");
    }
}

/// Renders a sentence about the browser.
pub(super) fn render_browser(out: &mut String, browser: &BrowserView<'_>) {
    let _ = write!(
        out,
        "<p>Run in {} {} by {}, page {}×{}",
        escape(browser.name),
        escape(browser.version),
        escape(browser.driver),
        browser.width,
        browser.height
    );
    if let Some(device) = browser.device {
        let _ = write!(out, " as `{}`", escape(device));
    }
    if let Some(mib) = browser.memory_mib {
        let _ = write!(out, ", at most {mib} MiB of memory");
    }
    if let Some(id) = browser.trace_id {
        let _ = write!(out, "; trace {}", escape(id));
    }
    out.push_str(".</p>");
}
