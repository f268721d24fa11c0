//! What a browser reported of a script: metrics, actions, waterfall and console of each step.

use std::fmt::Write;

use super::waterfall::render_waterfall;
use crate::service::result_view::{BrowserStepView, BrowserView, PageMetric, PageMetricValue, StepView};
use crate::texts::{Locale, key};
use crate::web::html::{escape, render_table_head};

/// Most console lines shown per step.
const MAX_CONSOLE_LINES: usize = 20;

/// Renders a step; nothing for a step without a browser.
pub(super) fn render_browser_step(out: &mut String, step: &StepView<'_>, t: Locale) {
    let Some(browser) = &step.browser else { return };
    let _ = write!(out, "<h2>{} <small>{}", step_text(step.number, t), escape(step.name));
    if !browser.title.is_empty() {
        let _ = write!(out, " — {}", escape(browser.title));
    }
    out.push_str("</small></h2>");
    if let Some(metrics) = &browser.metrics {
        let metric_texts: Vec<_> = metrics.iter().map(|metric| capitalized_metric(metric, t)).collect();
        let _ = write!(out, "<p>{}</p>", metric_texts.join(" · "));
    }
    out.push_str("<p>");
    for action in &browser.actions {
        let css_class = if action.passed { "ok" } else { "error" };
        let duration_text =
            if action.was_skipped { t.text("skipped").to_owned() } else { t.micros(action.total_us) };
        let _ = write!(
            out,
            r#"<span class="pill s-{css_class}">{} {duration_text}</span> "#,
            escape(action.name)
        );
    }
    out.push_str("</p>");
    let name = format!("step-{}", step.number);
    render_waterfall(out, &browser.objects, browser.unlisted_objects, &name, t);
    render_console(out, browser, t);
}

/// Returns what a step is called.
pub(super) fn step_text(number: u32, t: Locale) -> String {
    t.fill("Step {number}", &[("number", &number.to_string())])
}

/// Formats a metric with a capital first letter.
fn capitalized_metric(metric: &PageMetric, t: Locale) -> String {
    let label = t.text(metric.label);
    let text = match metric.value {
        PageMetricValue::Micros(micros) => format!("{label} {}", t.micros(micros)),
        PageMetricValue::Ratio(ratio) => format!("{label} {}", t.decimal(format!("{ratio:.3}"))),
    };
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| format!("{}{}", first.to_uppercase(), chars.as_str()))
}

fn render_console(out: &mut String, step: &BrowserStepView<'_>, t: Locale) {
    if step.console.is_empty() {
        return;
    }
    let heads = [("", key("Console")), ("", key("From")), ("", key("Text"))];
    out.push_str(&render_table_head(&heads, t));
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
        let _ = write!(
            out,
            "<p>{}</p>",
            t.count(
                "{count} more message is in the record.",
                "{count} more messages are in the record.",
                left_out as u64
            )
        );
    }
}

/// Renders a sentence about the browser.
pub(super) fn render_browser(out: &mut String, browser: &BrowserView<'_>, t: Locale) {
    let size = format!("{}×{}", browser.width, browser.height);
    let mut values = vec![
        ("browser", browser.name),
        ("version", browser.version),
        ("driver", browser.driver),
        ("size", size.as_str()),
    ];
    let text = match browser.device {
        Some(device) => {
            values.push(("device", device));
            key("Run in {browser} {version} by {driver}, page {size} as `{device}`")
        }
        None => key("Run in {browser} {version} by {driver}, page {size}"),
    };
    let _ = write!(out, "<p>{}", t.html(text, &values));
    if let Some(mib) = browser.memory_mib {
        let memory = t.fill("at most {mib} MiB of memory", &[("mib", &mib.to_string())]);
        let _ = write!(out, ", {memory}");
    }
    if let Some(id) = browser.trace_id {
        let _ = write!(out, "; {}", t.html("trace {id}", &[("id", id)]));
    }
    out.push_str(".</p>");
}
