//! What a browser told of a script: its acts, measures, objects and console.

use std::fmt::Write;

use super::course::{object, shown};
use super::units::{duration, grouped, plain};
use crate::cli::style::Style;
use crate::domain::{BrowserFacts, ConsoleEntry, Outcome, Phase, PlayedStep, Status, ViewResult};

/// Objects of a step that are shown; the rest is in the JSON.
const OBJECTS: usize = 15;
/// Lines of the console that are shown of a step.
const LINES: usize = 5;
/// Characters of such a line.
const LINE: usize = 160;

/// The browser, in a line.
pub(super) fn browser(out: &mut String, facts: &BrowserFacts, style: Style) {
    let memory = facts.memory_bytes.map_or(String::new(), |bytes| format!(", {} MiB at most", bytes >> 20));
    let trace = facts.trace_id.as_ref().map_or(String::new(), |id| format!(", trace {id}"));
    let (width, height) = facts.viewport;
    let device = if facts.device.is_empty() { String::new() } else { format!(" as `{}`", facts.device) };
    let line = format!(
        "{} {} by {}, page {width}×{height}{device}{memory}{trace}",
        facts.name, facts.version, facts.driver
    );
    let _ = writeln!(out, "  {}", style.dim(&plain(&line)));
}

/// What is shown below the line of a step.
pub(super) fn step(out: &mut String, played: &PlayedStep, style: Style) {
    if !played.url.is_empty() {
        let status = if played.http_status == 0 { String::new() } else { format!(" {}", played.http_status) };
        let _ = writeln!(
            out,
            "      {}  `{}`{status}  {}",
            style.dim("at "),
            shown(&played.url),
            plain(&played.title)
        );
    }
    if let Some(line) = measures(played) {
        let _ = writeln!(out, "      {}  {line}", style.dim("was"));
    }
    let acts: Vec<String> = played
        .acts
        .iter()
        .map(|act| match (act.skipped, act.status) {
            (true, _) => format!("{} (skipped)", act.action),
            (false, Status::OK) => format!("{} {}", act.action, duration(act.total_us)),
            _ => style.outcome(Outcome::Error, &format!("{} {}", act.action, duration(act.total_us))),
        })
        .collect();
    if !acts.is_empty() {
        let _ = writeln!(out, "      {}  {}", style.dim("did"), acts.join(" → "));
    }
    let longest = played.objects.iter().map(|object| object.started_us + object.total_us).max().unwrap_or(1);
    for of_step in played.objects.iter().take(OBJECTS) {
        object(out, of_step, longest, style);
    }
    let more = played.objects.len().saturating_sub(OBJECTS) + played.unlisted as usize;
    if more > 0 {
        let _ = writeln!(out, "  … {more} more objects, see --json");
    }
    for entry in played.console.iter().take(LINES) {
        console(out, entry, style);
    }
    if played.console.len() > LINES {
        let _ = writeln!(out, "  … {} more lines of the console, see --json", played.console.len() - LINES);
    }
}

fn measures(played: &PlayedStep) -> Option<String> {
    let timing = played.timing.as_ref()?;
    let phase = |phase: Phase| timing.phases.micros(phase).map(u64::from);
    let times = [
        ("first byte", phase(Phase::FirstByte)),
        ("first paint", phase(Phase::FirstPaint)),
        ("first content", timing.first_contentful_paint_us),
        ("largest content", timing.largest_contentful_paint_us),
        ("document", phase(Phase::DomLoad)),
        ("load", phase(Phase::PageLoad)),
    ];
    let mut words: Vec<String> =
        times.iter().filter_map(|(name, time)| Some(format!("{name} {}", duration((*time)?)))).collect();
    words.extend(timing.layout_shift.map(|shift| format!("layout shift {shift:.3}")));
    (!words.is_empty()).then(|| words.join(", "))
}

fn console(out: &mut String, entry: &ConsoleEntry, style: Style) {
    let outcome = if entry.level == "error" { Outcome::Error } else { Outcome::Warning };
    let text: String = plain(&entry.text).chars().take(LINE).collect();
    let _ = writeln!(out, "      {}  {}: {text}", style.outcome(outcome, "log"), plain(&entry.source));
}

/// A line for each content view.
pub(super) fn views(out: &mut String, views: &[ViewResult], style: Style) {
    for view in views {
        let (outcome, word) = match view.status {
            Status::OK => (Outcome::Ok, "ok"),
            _ => (Outcome::Error, "failed"),
        };
        let _ = writeln!(
            out,
            "view  {}  {}  {} objects, {} bytes in {}",
            plain(&view.name),
            style.outcome(outcome, word),
            view.objects,
            grouped(view.bytes),
            duration(view.total_us)
        );
        if let Some(failure) = view.failures.first() {
            let _ = writeln!(out, "      why  {}", plain(&failure.to_string()));
        }
    }
}
