//! Prints what a browser reported about a script: its actions, measures, objects and console.

use std::fmt::Write;

use super::objects;
use super::text::{escape_controls, shorten_url};
use crate::cli::style::Style;
use crate::domain::Outcome;
use crate::service::result_view::{
    ActionView, BrowserStepView, BrowserView, ConsoleLine, format_duration, waterfall_span_us,
};

/// Objects of a step that are printed; the JSON has all of them.
const MAX_PRINTED_OBJECTS: usize = 15;
/// Console lines of a step that are printed.
const MAX_PRINTED_CONSOLE_LINES: usize = 5;
/// Most characters of a printed console line.
const MAX_LINE_CHARS: usize = 160;

/// Prints the browser in one line.
pub(super) fn render_browser(out: &mut String, browser: &BrowserView<'_>, style: Style) {
    let BrowserView { name, version, driver, width, height, .. } = browser;
    let device = browser.device.map_or(String::new(), |device| format!(" as `{device}`"));
    let memory = browser.memory_mib.map_or(String::new(), |mib| format!(", {mib} MiB at most"));
    let trace = browser.trace_id.map_or(String::new(), |id| format!(", trace {id}"));
    let line = format!("{name} {version} by {driver}, page {width}×{height}{device}{memory}{trace}");
    let _ = writeln!(out, "  {}", style.dim(&escape_controls(&line)));
}

/// Prints the details below the line of a step.
pub(super) fn render_browser_step(out: &mut String, step: &BrowserStepView<'_>, style: Style) {
    if !step.url.is_empty() {
        let status = step.http_status.map_or(String::new(), |status| format!(" {status}"));
        let (at_label, url, title) = (style.dim("at "), shorten_url(step.url), escape_controls(step.title));
        let _ = writeln!(out, "      {at_label}  `{url}`{status}  {title}");
    }
    let metrics = step.metrics.iter().flatten().map(|metric| metric.format_with(format_duration));
    let metrics: Vec<_> = metrics.collect();
    if !metrics.is_empty() {
        let _ = writeln!(out, "      {}  {}", style.dim("measured"), metrics.join(", "));
    }
    let actions: Vec<String> = step.actions.iter().map(|action| format_action(action, style)).collect();
    if !actions.is_empty() {
        let _ = writeln!(out, "      {}  {}", style.dim("actions"), actions.join(" → "));
    }
    let span_us = waterfall_span_us(&step.objects);
    for object in step.objects.iter().take(MAX_PRINTED_OBJECTS) {
        objects::render_object(out, object, span_us, style);
    }
    let hidden_count = step.hidden_object_count(MAX_PRINTED_OBJECTS);
    if hidden_count > 0 {
        let _ = writeln!(out, "  … {hidden_count} more objects, see --json");
    }
    for line in step.console.iter().take(MAX_PRINTED_CONSOLE_LINES) {
        render_console_line(out, line, style);
    }
    if step.console.len() > MAX_PRINTED_CONSOLE_LINES {
        let _ = writeln!(
            out,
            "  … {} more lines of the console, see --json",
            step.console.len() - MAX_PRINTED_CONSOLE_LINES
        );
    }
}

fn format_action(action: &ActionView<'_>, style: Style) -> String {
    if action.was_skipped {
        return format!("{} (skipped)", action.name);
    }
    let text = format!("{} {}", action.name, format_duration(action.total_us));
    if action.passed { text } else { style.in_outcome_color(Outcome::Error, &text) }
}

fn render_console_line(out: &mut String, line: &ConsoleLine<'_>, style: Style) {
    let outcome = if line.is_error { Outcome::Error } else { Outcome::Warning };
    let text: String = escape_controls(line.text).chars().take(MAX_LINE_CHARS).collect();
    let _ = writeln!(
        out,
        "      {}  {}: {text}",
        style.in_outcome_color(outcome, "log"),
        escape_controls(line.source)
    );
}
