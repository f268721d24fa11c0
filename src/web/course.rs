//! How a check went, on the page of its result: a line for each step, a waterfall of the objects of a page.

use std::fmt::Write;

use super::bar::{legend, phase_bar};
use super::html::{duration, escape};
use super::played;
use crate::domain::{Course, FullPage, ObjectChange, PageObject, Phases, Status, StepResult};

/// Objects that are shown; the rest is in the record below.
const OBJECTS: usize = 200;
/// Width of the waterfall in its own units.
const WIDTH: f64 = 300.0;
/// Bars above zero stay visible.
const LEAST: f64 = 1.5;

/// Steps and page; empty when there are none.
pub(super) fn course(course: &Course) -> String {
    let mut out = String::new();
    if !course.steps.is_empty() {
        steps(&mut out, &course.steps);
    }
    played::played(&mut out, course);
    if let Some(of_page) = &course.page {
        page(&mut out, of_page);
    }
    out
}

// Writing into a string cannot fail, here and below.

fn steps(out: &mut String, steps: &[StepResult]) {
    out.push_str(
        r#"<h2>Steps</h2><div class="scroll"><table class="rows"><thead><tr><th class="n">#</th><th>Step</th><th>Status</th><th class="n">Took</th><th>Phases</th><th>Asked</th><th>Why</th></tr></thead><tbody>"#,
    );
    for step in steps {
        let (word, text) =
            if step.failures.is_empty() { ("ok", "ok") } else { ("error", step.status.text()) };
        let asked = step.exchanges.last().map_or(String::new(), |exchange| {
            let status =
                if exchange.http_status == 0 { String::new() } else { exchange.http_status.to_string() };
            format!("{} {} {status}", exchange.method, exchange.url)
        });
        let asked =
            step.played.as_ref().map_or(asked, |played| format!("{} {}", played.url, played.http_status));
        let why: Vec<String> =
            step.failures.iter().map(|failure| escape(&failure.to_string()).into()).collect();
        let _ = write!(
            out,
            r#"<tr><td class="n">{}</td><td>{}</td><td><span class="pill s-{word}">{text}</span></td><td class="n" data-h="took">{}</td><td>{}</td><td class="reason">{}</td><td class="reason">{}</td></tr>"#,
            step.number,
            escape(&step.name),
            duration(step.total_us),
            phase_bar(&step.phases),
            escape(&asked),
            why.join("<br>")
        );
    }
    out.push_str("</tbody></table></div>");
    out.push_str(&legend(steps.iter().map(|step| step.phases)));
}

fn page(out: &mut String, page: &FullPage) {
    let count = |what: fn(&PageObject) -> bool| page.objects.iter().filter(|object| what(object)).count();
    let (failed, foreign) = (count(|object| object.failure.is_some()), count(|object| object.third_party));
    let _ = write!(
        out,
        "<h2>Page <small>{} objects, {} bytes in {}; {failed} failed, {foreign} of other sites{}</small></h2>",
        page.objects.len(),
        page.bytes,
        duration(page.total_us),
        match page.unlisted {
            0 => String::new(),
            more => format!("; {more} more were found and not loaded"),
        }
    );
    changes(out, &page.changes);
    if page.objects.is_empty() {
        out.push_str("<p>Nothing was found in it to load.</p>");
        return;
    }
    objects(out, page.objects.iter().take(OBJECTS));
    if page.objects.len() > OBJECTS {
        let _ = write!(out, "<p>{} more stand in the record below.</p>", page.objects.len() - OBJECTS);
    }
    out.push_str(&legend(page.objects.iter().map(|object| object.phases)));
}

/// The waterfall of `shown`.
pub(super) fn objects<'a>(out: &mut String, shown: impl Iterator<Item = &'a PageObject> + Clone) {
    out.push_str(
        r#"<div class="scroll"><table class="rows"><thead><tr><th>Loaded</th><th class="n">Took</th><th class="n">Bytes</th><th>Status</th><th>Object</th></tr></thead><tbody>"#,
    );
    let longest = shown.clone().map(|object| object.started_us + object.total_us).max().unwrap_or(1);
    for one in shown {
        object(out, one, longest.max(1));
    }
    out.push_str("</tbody></table></div>");
}

fn changes(out: &mut String, changes: &[ObjectChange]) {
    if changes.is_empty() {
        return;
    }
    out.push_str("<ul>");
    for change in changes {
        let (url, before) = (escape(&change.url), change.before.unwrap_or_default());
        let now = change.now.unwrap_or_default();
        let _ = match change.status {
            Status::OBJECT_NEW => write!(out, "<li>new: {url}, {now} bytes</li>"),
            Status::OBJECT_MISSING => write!(out, "<li>missing: {url}, {before} bytes before</li>"),
            _ => write!(out, "<li>changed from {before} to {now} bytes: {url}</li>"),
        };
    }
    out.push_str("</ul>");
}

fn object(out: &mut String, object: &PageObject, longest: u64) {
    let (word, text) = match (&object.failure, object.http_status) {
        (Some(_), 0) => ("error", "no answer".to_owned()),
        (Some(_), status) => ("error", status.to_string()),
        (None, _) if object.blocked => ("unknown", "blocked".to_owned()),
        (None, status) => ("ok", status.to_string()),
    };
    let site = if object.third_party { " <small>other site</small>" } else { "" };
    let why = object.failure.as_ref().map(|failure| format!("<br>{}", escape(&failure.to_string())));
    let _ = write!(
        out,
        r#"<tr><td>{}</td><td class="n" data-h="took">{}</td><td class="n" data-h="bytes">{}</td><td><span class="pill s-{word}">{text}</span></td><td class="reason">{}{site}{}</td></tr>"#,
        waterfall(object.started_us, &object.phases, object.total_us, longest),
        duration(object.total_us),
        object.body_bytes,
        escape(&object.url),
        why.unwrap_or_default()
    );
}

/// The phases of an object where they lie in the time of the page.
fn waterfall(started: u64, phases: &Phases, total: u64, longest: u64) -> String {
    let scale = WIDTH / longest as f64;
    let mut out = format!(
        r#"<svg class="fall" viewBox="0 0 {WIDTH} 12" preserveAspectRatio="none" role="img"><title>from {} to {}</title>"#,
        duration(started),
        duration(started + total)
    );
    let mut x = started as f64 * scale;
    for (phase, micros) in phases.iter().filter(|&(_, micros)| micros > 0) {
        let width = (f64::from(micros) * scale).max(LEAST);
        let _ =
            write!(out, r#"<rect class="p-{}" x="{x:.1}" width="{width:.1}" height="12"/>"#, phase.name());
        x += width;
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::{Failure, FailureKind, ObjectKind, Phase};

    #[test]
    fn a_page_shows_each_object_where_it_lies_in_time_and_nothing_of_it_is_markup() {
        let mut phases = Phases::default();
        phases.set(Phase::FirstByte, Duration::from_millis(50));
        let object = PageObject {
            url: "http://a.test/<i>".to_owned(),
            kind: ObjectKind::Image,
            third_party: true,
            blocked: false,
            started_us: 50_000,
            total_us: 50_000,
            phases,
            http_status: 404,
            http_version: String::new(),
            mimetype: String::new(),
            body_wire_bytes: 0,
            body_bytes: 7,
            failure: Some(Failure::new(Phase::Validate, FailureKind::HttpStatus, "`404`").of_object("<b>")),
        };
        let page = FullPage { total_us: 100_000, bytes: 7, objects: vec![object], ..FullPage::default() };
        let html = course(&Course { page: Some(Box::new(page)), ..Course::default() });
        assert!(html.contains(r#"x="150.0" width="150.0""#), "{html}");
        assert!(html.contains("1 failed, 1 of other sites"), "{html}");
        assert!(html.contains("http://a.test/&lt;i&gt;") && !html.contains("<b>"), "{html}");
    }

    #[test]
    fn a_page_without_objects_says_so_and_has_no_empty_table() {
        let gone = ObjectChange {
            status: Status::OBJECT_MISSING,
            url: "http://a.test/x".to_owned(),
            before: Some(9),
            now: None,
        };
        let page = FullPage { total_us: 100_000, bytes: 7, changes: vec![gone], ..FullPage::default() };
        let html = course(&Course { page: Some(Box::new(page)), ..Course::default() });
        assert!(html.contains("Nothing was found in it to load."), "{html}");
        assert!(html.contains("missing: http://a.test/x, 9 bytes before"), "{html}");
        assert!(!html.contains("<table"), "{html}");
    }
}
