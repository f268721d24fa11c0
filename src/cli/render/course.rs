//! How a check went, piece by piece: a line for each step, a waterfall of the objects of a page.

use std::fmt::Write;

use super::units::{duration, grouped, plain};
use super::{bars, played};
use crate::cli::style::Style;
use crate::domain::{Course, FullPage, ObjectChange, Outcome, PageObject, Status, StepResult, cut};

/// Objects that are shown; the rest is in the JSON.
const OBJECTS: usize = 60;
/// Characters of a URL that are shown.
const URL: usize = 90;

/// Steps and page of `course`, each after an empty line; nothing when there are none.
pub(super) fn lines(out: &mut String, course: &Course, style: Style) {
    if !course.steps.is_empty() {
        out.push('\n');
        let most = course.steps.iter().map(|step| step.name.chars().count()).max().unwrap_or(0).min(40);
        for of_step in &course.steps {
            step(out, of_step, most, style);
            if let Some(of_browser) = &of_step.played {
                played::step(out, of_browser, style);
            }
        }
    }
    played::views(out, &course.views, style);
    if let Some(facts) = &course.browser {
        played::browser(out, facts, style);
    }
    if let Some(of_page) = &course.page {
        page(out, of_page, style);
    }
}

fn step(out: &mut String, step: &StepResult, width: usize, style: Style) {
    let (outcome, word) =
        if step.failures.is_empty() { (Outcome::Ok, "ok") } else { (Outcome::Error, "failed") };
    let name: String = plain(&step.name).chars().take(width).collect();
    let word = style.outcome(outcome, &format!("{word:<6}"));
    let took = duration(step.total_us);
    // What a browser asked for is shown below.
    let exchanges = if step.played.is_some() { &[][..] } else { &step.exchanges };
    let asked = exchanges.last().map_or(String::new(), |exchange| {
        let status = match exchange.http_status {
            0 => "no answer".to_owned(),
            status => status.to_string(),
        };
        format!("  {} `{}` {status}", exchange.method, shown(&exchange.url))
    });
    let more = match exchanges.len().saturating_sub(1) {
        0 => String::new(),
        1 => ", the second exchange".to_owned(),
        hops => format!(", after {hops} others"),
    };
    let number = style.bold(&format!("{:>4}", step.number));
    let _ = writeln!(out, "{number}  {name:<width$}  {word} {took:>9}{asked}{more}");
    for (index, failure) in step.failures.iter().enumerate() {
        let label = if index == 0 { "why" } else { "" };
        let _ = writeln!(out, "      {label:>3}  {}", plain(&failure.to_string()));
    }
    if !step.variables.is_empty() {
        let names: Vec<_> = step.variables.iter().map(|name| plain(name)).collect();
        let _ = writeln!(out, "      {}  {}", style.dim("set"), names.join(", "));
    }
}

fn page(out: &mut String, page: &FullPage, style: Style) {
    let count = page.objects.len();
    let failed = page.objects.iter().filter(|object| object.failure.is_some()).count();
    let foreign = page.objects.iter().filter(|object| object.third_party).count();
    let mut line = format!(
        "page with {count} {}, {} bytes in {}",
        if count == 1 { "object" } else { "objects" },
        grouped(page.bytes),
        duration(page.total_us)
    );
    for (number, words) in
        [(failed, "failed"), (foreign, "of other sites"), (page.unlisted as usize, "more not loaded")]
    {
        if number > 0 {
            let _ = write!(line, ", {number} {words}");
        }
    }
    let _ = writeln!(out, "\n  {}", style.bold(&line));
    let longest = page.objects.iter().map(|object| object.started_us + object.total_us).max().unwrap_or(1);
    for of_page in page.objects.iter().take(OBJECTS) {
        object(out, of_page, longest, style);
    }
    if count > OBJECTS {
        let _ = writeln!(out, "  … {} more objects, see --json", count - OBJECTS);
    }
    for of_page in &page.changes {
        change(out, of_page);
    }
}

pub(super) fn object(out: &mut String, object: &PageObject, longest: u64, style: Style) {
    let (lead, bar) = bars::bar(object.started_us, object.total_us, longest.max(1));
    let filled = lead.chars().count() + bar.chars().count();
    let rest = " ".repeat(bars::WIDTH.saturating_sub(filled));
    let status = match object.http_status {
        _ if object.blocked => "blocked".to_owned(),
        0 => "–".to_owned(),
        status => status.to_string(),
    };
    let _ = writeln!(
        out,
        "  {}{}{rest} {:>9} {:>11} {status:>3}  {}",
        style.dim(&lead),
        style.bar(&bar),
        duration(object.total_us),
        grouped(object.body_bytes),
        shown(&object.url)
    );
    if let Some(failure) = &object.failure {
        let _ =
            writeln!(out, "      {}  {}", style.outcome(Outcome::Error, "why"), plain(&failure.to_string()));
    }
}

fn change(out: &mut String, change: &ObjectChange) {
    let url = shown(&change.url);
    let bytes = |bytes: Option<u64>| grouped(bytes.unwrap_or_default());
    let words = match change.status {
        Status::OBJECT_NEW => format!("new: `{url}`, {} bytes", bytes(change.now)),
        Status::OBJECT_MISSING => format!("missing: `{url}`, {} bytes before", bytes(change.before)),
        _ => format!("changed from {} to {} bytes: `{url}`", bytes(change.before), bytes(change.now)),
    };
    let _ = writeln!(out, "  note  {words}");
}

/// A URL in the length of a line.
pub(super) fn shown(url: &str) -> String {
    cut(&plain(url), URL)
}
