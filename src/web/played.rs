//! What a browser told of a script, on the page of its result: measures, acts, waterfall and console of each step.

use std::fmt::Write;

use super::course::objects;
use super::html::{duration, escape};
use crate::domain::{BrowserFacts, Course, Phase, PlayedStep, Status, StepResult, ViewResult};

/// Objects of a step that are shown; the rest is in the record below.
const OBJECTS: usize = 100;
/// Lines of the console that are shown of a step.
const LINES: usize = 20;

/// All of it; nothing of a check without a browser. Writing into a string cannot fail, here and below.
pub(super) fn played(out: &mut String, course: &Course) {
    views(out, &course.views);
    for step in &course.steps {
        if let Some(of_browser) = &step.played {
            one(out, step, of_browser);
        }
    }
    if let Some(facts) = &course.browser {
        browser(out, facts);
    }
}

fn one(out: &mut String, step: &StepResult, played: &PlayedStep) {
    let _ = write!(out, "<h2>Step {} <small>{}", step.number, escape(&step.name));
    if !played.title.is_empty() {
        let _ = write!(out, " — {}", escape(&played.title));
    }
    out.push_str("</small></h2>");
    if let Some(timing) = &played.timing {
        let phase = |phase: Phase| timing.phases.micros(phase).map(u64::from);
        let times = [
            ("First byte", phase(Phase::FirstByte)),
            ("First paint", phase(Phase::FirstPaint)),
            ("First content", timing.first_contentful_paint_us),
            ("Largest content", timing.largest_contentful_paint_us),
            ("Document", phase(Phase::DomLoad)),
            ("Load", phase(Phase::PageLoad)),
        ];
        let mut words: Vec<String> =
            times.iter().filter_map(|(name, time)| Some(format!("{name} {}", duration((*time)?)))).collect();
        words.extend(timing.layout_shift.map(|shift| format!("Layout shift {shift:.3}")));
        let _ = write!(out, "<p>{}</p>", words.join(" · "));
    }
    out.push_str("<p>");
    for act in &played.acts {
        let word = if act.status == Status::OK { "ok" } else { "error" };
        let after = if act.skipped { "skipped".to_owned() } else { duration(act.total_us) };
        let _ = write!(out, r#"<span class="pill s-{word}">{} {after}</span> "#, escape(&act.action));
    }
    out.push_str("</p>");
    requests(out, played);
    console(out, played);
}

fn requests(out: &mut String, played: &PlayedStep) {
    if played.objects.is_empty() {
        return;
    }
    objects(out, played.objects.iter().take(OBJECTS));
    let more = played.objects.len().saturating_sub(OBJECTS) + played.unlisted as usize;
    if more > 0 {
        let _ = write!(out, "<p>{more} more requests stand in the record below, or were only counted.</p>");
    }
}

fn console(out: &mut String, played: &PlayedStep) {
    if played.console.is_empty() {
        return;
    }
    out.push_str(r#"<div class="scroll"><table class="rows"><thead><tr><th>Console</th><th>From</th><th>Text</th></tr></thead><tbody>"#);
    for entry in played.console.iter().take(LINES) {
        let word = if entry.level == "error" { "error" } else { "warning" };
        let place = match entry.line {
            Some(line) => format!("{}:{line}", entry.url),
            None => entry.url.clone(),
        };
        let _ = write!(
            out,
            r#"<tr><td><span class="pill s-{word}">{}</span></td><td class="reason">{}</td><td class="reason">{}</td></tr>"#,
            escape(&entry.level),
            escape(&place),
            escape(&entry.text)
        );
    }
    out.push_str("</tbody></table></div>");
}

fn views(out: &mut String, views: &[ViewResult]) {
    if views.is_empty() {
        return;
    }
    out.push_str(r#"<h2>Content views</h2><div class="scroll"><table class="rows"><thead><tr><th>View</th><th>Status</th><th class="n">Took</th><th class="n">Objects</th><th class="n">Bytes</th><th>Why</th></tr></thead><tbody>"#);
    for view in views {
        let word = if view.status == Status::OK { "ok" } else { "error" };
        let why = view.failures.first().map(ToString::to_string).unwrap_or_default();
        let _ = write!(
            out,
            r#"<tr><td>{}</td><td><span class="pill s-{word}">{}</span></td><td class="n">{}</td><td class="n">{}</td><td class="n">{}</td><td class="reason">{}</td></tr>"#,
            escape(&view.name),
            view.status.text(),
            duration(view.total_us),
            view.objects,
            view.bytes,
            escape(&why)
        );
    }
    out.push_str("</tbody></table></div>");
}

fn browser(out: &mut String, facts: &BrowserFacts) {
    let (width, height) = facts.viewport;
    let _ = write!(
        out,
        "<p>Played in {} {} by {}, page {width}×{height}",
        escape(&facts.name),
        escape(&facts.version),
        escape(&facts.driver)
    );
    if !facts.device.is_empty() {
        let _ = write!(out, " as `{}`", escape(&facts.device));
    }
    if let Some(bytes) = facts.memory_bytes {
        let _ = write!(out, ", at most {} MiB of memory", bytes >> 20);
    }
    if let Some(id) = &facts.trace_id {
        let _ = write!(out, "; trace {}", escape(id));
    }
    out.push_str(".</p>");
}
