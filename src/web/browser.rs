//! What a browser reported of a script: measures, actions, waterfall and console of each step.

use std::fmt::Write;

use super::html::{duration, escape};
use super::objects::waterfall;
use crate::service::details::{BrowserStepView, BrowserView, Metric, StepView};

/// Objects of a step that are shown; the rest is in the record below.
const OBJECTS: usize = 100;
/// Lines of the console that are shown of a step.
const LINES: usize = 20;

/// A step; nothing of one without a browser. Writing into a string cannot fail, here and below.
pub(super) fn step(out: &mut String, step: &StepView<'_>) {
    let Some(browser) = &step.browser else { return };
    let _ = write!(out, "<h2>Step {} <small>{}", step.number, escape(step.name));
    if !browser.title.is_empty() {
        let _ = write!(out, " — {}", escape(browser.title));
    }
    out.push_str("</small></h2>");
    if let Some(measures) = &browser.measures {
        let words: Vec<_> = measures.iter().map(capitalised).collect();
        let _ = write!(out, "<p>{}</p>", words.join(" · "));
    }
    out.push_str("<p>");
    for action in &browser.actions {
        let word = if action.passed { "ok" } else { "error" };
        let after = if action.skipped { "skipped".to_owned() } else { duration(action.total_us) };
        let _ = write!(out, r#"<span class="pill s-{word}">{} {after}</span> "#, escape(action.name));
    }
    out.push_str("</p>");
    requests(out, browser);
    console(out, browser);
}

/// A measure as it stands at the beginning of a sentence.
fn capitalised(measure: &Metric) -> String {
    let words = measure.format(duration);
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

fn requests(out: &mut String, step: &BrowserStepView<'_>) {
    if step.objects.is_empty() {
        return;
    }
    waterfall(out, step.objects.get(..OBJECTS).unwrap_or(&step.objects));
    let more = step.hidden_objects(OBJECTS);
    if more > 0 {
        let _ = write!(out, "<p>{more} more requests stand in the record below, or were only counted.</p>");
    }
}

fn console(out: &mut String, step: &BrowserStepView<'_>) {
    if step.console.is_empty() {
        return;
    }
    out.push_str(r#"<div class="scroll"><table class="rows"><thead><tr><th>Console</th><th>From</th><th>Text</th></tr></thead><tbody>"#);
    for line in step.console.iter().take(LINES) {
        let word = if line.is_error { "error" } else { "warning" };
        let _ = write!(
            out,
            r#"<tr><td><span class="pill s-{word}">{}</span></td><td class="reason">{}</td><td class="reason">{}</td></tr>"#,
            escape(line.level),
            escape(&line.source_location),
            escape(line.text)
        );
    }
    out.push_str("</tbody></table></div>");
}

/// The browser, in a sentence.
pub(super) fn browser(out: &mut String, browser: &BrowserView<'_>) {
    let _ = write!(
        out,
        "<p>Played in {} {} by {}, page {}×{}",
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
