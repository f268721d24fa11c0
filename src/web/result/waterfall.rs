//! The objects of a page as a waterfall, which can be narrowed to a kind or to what failed.

use std::fmt::Write;

use super::waterfall_filter::{kind_name, render_filter};
use super::waterfall_row::render_object;
use crate::service::result_view::{
    ObjectChangeKind, ObjectChangeView, ObjectView, PageView, format_grouped, waterfall_span_us,
};
use crate::texts::{Locale, key};
use crate::web::html::render_table_head;
use crate::web::phase_bar::render_phase_legend;

/// Most objects shown, and most of those that failed or were blocked after them.
const MAX_SHOWN_OBJECTS: usize = 200;

/// Renders a page: totals, changes, and its `documents` with its objects. Writing into a string cannot fail, here and
/// below.
pub(super) fn render_page_objects(
    out: &mut String,
    page: &PageView<'_>,
    documents: Vec<ObjectView<'_>>,
    t: Locale,
) {
    let values = [
        ("objects", page.objects.len().to_string()),
        ("bytes", t.grouped(format_grouped(page.decoded_bytes))),
        ("duration", t.micros(page.total_us)),
        ("failed", page.failed_count.to_string()),
        ("others", page.third_party_count.to_string()),
        ("rest", page.unlisted_objects.to_string()),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let totals = t.fill(
        "{objects} objects, {bytes} bytes in {duration}; {failed} failed, {others} third-party",
        &values,
    );
    let rest = match page.unlisted_objects {
        0 => String::new(),
        _ => format!("; {}", t.fill("{rest} more were found but not loaded", &values)),
    };
    let _ = write!(out, "<h2>{} <small>{totals}{rest}</small></h2>", t.text("Page"));
    render_changes(out, &page.changes, t);
    if page.objects.is_empty() {
        let _ = write!(out, "<p>{}</p>", t.text("The page has no objects to load."));
    }
    let mut rows = documents;
    rows.extend(page.objects.iter().cloned());
    render_waterfall(out, &rows, 0, "page", t);
}

/// Renders the waterfall of `objects`; `uncounted` more are only known by their number. `name` tells it from other
/// waterfalls of the page.
pub(super) fn render_waterfall(
    out: &mut String,
    objects: &[ObjectView<'_>],
    uncounted: usize,
    name: &str,
    t: Locale,
) {
    let shown = shown_objects(objects);
    if shown.is_empty() {
        return;
    }
    out.push_str(r#"<div class="waterfall">"#);
    render_filter(out, &shown, name, t);
    let heads = [
        ("", key("Loaded")),
        ("n", key("Took")),
        ("n", key("Bytes")),
        ("", key("Status")),
        ("", key("Kind")),
        ("", key("Object")),
    ];
    out.push_str(&render_table_head(&heads, t));
    let span_us = waterfall_span_us(objects);
    for object in &shown {
        render_object(out, object, span_us, kind_name(object.kind), t);
    }
    out.push_str("</tbody></table></div></div>");
    let left_out = objects.len() - shown.len() + uncounted;
    if left_out > 0 {
        let text = t.count(
            "{count} more request is left out.",
            "{count} more requests are left out.",
            left_out as u64,
        );
        let _ = write!(out, "<p>{text}</p>");
    }
    out.push_str(&render_phase_legend(shown.iter().map(|object| object.phases), t));
}

/// Returns the first objects, and of the others those that failed or were blocked: they are what somebody looks for.
fn shown_objects<'a, 'b>(objects: &'b [ObjectView<'a>]) -> Vec<&'b ObjectView<'a>> {
    let (first, others) = objects.split_at(objects.len().min(MAX_SHOWN_OBJECTS));
    let troubled = others.iter().filter(|object| object.is_troubled()).take(MAX_SHOWN_OBJECTS);
    first.iter().chain(troubled).collect()
}

fn render_changes(out: &mut String, changes: &[ObjectChangeView<'_>], t: Locale) {
    if changes.is_empty() {
        return;
    }
    out.push_str("<ul>");
    for change in changes {
        let (before, now) = (change.bytes_before.to_string(), change.bytes_now.to_string());
        let text = match change.kind {
            ObjectChangeKind::New => key("new: {url}, {now} bytes"),
            ObjectChangeKind::Missing => key("missing: {url}, {before} bytes before"),
            ObjectChangeKind::Resized => key("changed from {before} to {now} bytes: {url}"),
        };
        let values = [("url", change.url), ("before", before.as_str()), ("now", now.as_str())];
        let _ = write!(out, "<li>{}</li>", t.html(text, &values));
    }
    out.push_str("</ul>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{PageObjectKind, Phases};

    fn object(url: &str) -> ObjectView<'_> {
        ObjectView {
            url,
            kind: PageObjectKind::Image,
            is_third_party: false,
            was_blocked: false,
            http_status: Some(200),
            start_offset_us: 0,
            total_us: 10,
            phases: Phases::default(),
            decoded_bytes: 1_234_567,
            failure_reason: None,
        }
    }

    fn rendered(objects: &[ObjectView<'_>], uncounted: usize) -> String {
        let mut html = String::new();
        render_waterfall(&mut html, objects, uncounted, "page", Locale::default());
        html
    }

    #[test]
    fn many_objects_are_bounded_but_what_failed_is_shown() {
        let mut objects = vec![object("https://a.test/x"); 1_000];
        objects[900].failure_reason = Some("no answer".to_owned());
        objects[901].was_blocked = true;
        let html = rendered(&objects, 5);
        assert_eq!(html.matches("<tr data-kind").count(), 202);
        assert!(html.contains("<p>803 more requests are left out.</p>"), "{html}");
        assert_eq!(rendered(&[], 5), "");
    }

    #[test]
    fn failed_and_blocked_requests_are_marked_in_words_and_can_be_filtered() {
        let mut objects = ["a", "b", "c", "d"].map(object);
        objects[0].kind = PageObjectKind::Document;
        objects[1].failure_reason = Some("<b>".to_owned());
        objects[2].failure_reason = Some("no answer".to_owned());
        objects[2].http_status = None;
        objects[3].was_blocked = true;
        let mut icon = object("e");
        icon.http_status = Some(404);
        let html = rendered(&[&objects[..], &[icon]].concat(), 0);
        for part in [
            ">404 failed</span>",
            ">200 failed</span>",
            ">failed</span>",
            ">blocked</span>",
            "1,234,567",
            r#"value="all" checked> all <small>5</small>"#,
            r#"value="document"> document <small>1</small>"#,
            r#"value="failed"> failed or blocked <small>4</small>"#,
            r#"<tr data-kind="document">"#,
            r#"<tr data-kind="image" data-failed>"#,
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("<b>") && !html.contains(r#"value="script""#), "{html}");
    }
}
