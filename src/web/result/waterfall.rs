//! The objects of a page as a waterfall, which can be narrowed to a kind or to what failed.

use std::fmt::Write;

use super::waterfall_filter::{kind_name, render_filter};
use super::waterfall_row::render_object;
use crate::service::result_view::{
    ObjectChangeView, ObjectView, PageView, format_grouped, waterfall_span_us,
};
use crate::web::html::{escape, format_micros};
use crate::web::phase_bar::render_phase_legend;

/// Most objects shown, and most of those that failed or were blocked after them.
const MAX_SHOWN_OBJECTS: usize = 200;

/// Renders a page: totals, changes, and its `documents` with its objects. Writing into a string cannot fail, here and
/// below.
pub(super) fn render_page_objects(out: &mut String, page: &PageView<'_>, documents: Vec<ObjectView<'_>>) {
    let _ = write!(
        out,
        "<h2>Page <small>{} objects, {} bytes in {}; {} failed, {} third-party{}</small></h2>",
        page.objects.len(),
        format_grouped(page.decoded_bytes),
        format_micros(page.total_us),
        page.failed_count,
        page.third_party_count,
        match page.unlisted_objects {
            0 => String::new(),
            count => format!("; {count} more were found but not loaded"),
        }
    );
    render_changes(out, &page.changes);
    if page.objects.is_empty() {
        out.push_str("<p>The page has no objects to load.</p>");
    }
    let mut rows = documents;
    rows.extend(page.objects.iter().cloned());
    render_waterfall(out, &rows, 0, "page");
}

/// Renders the waterfall of `objects`; `uncounted` more are only known by their number. `name` tells it from other
/// waterfalls of the page.
pub(super) fn render_waterfall(out: &mut String, objects: &[ObjectView<'_>], uncounted: usize, name: &str) {
    let shown = shown_objects(objects);
    if shown.is_empty() {
        return;
    }
    out.push_str(r#"<div class="waterfall">"#);
    render_filter(out, &shown, name);
    out.push_str(
        r#"<div class="scroll"><table class="rows"><thead><tr><th>Loaded</th><th class="n">Took</th><th class="n">Bytes</th><th>Status</th><th>Kind</th><th>Object</th></tr></thead><tbody>"#,
    );
    let span_us = waterfall_span_us(objects);
    for object in &shown {
        render_object(out, object, span_us, kind_name(object.kind));
    }
    out.push_str("</tbody></table></div></div>");
    let left_out = objects.len() - shown.len() + uncounted;
    if left_out > 0 {
        let _ = write!(out, "<p>{left_out} more requests are left out.</p>");
    }
    out.push_str(&render_phase_legend(shown.iter().map(|object| object.phases)));
}

/// Returns the first objects, and of the others those that failed or were blocked: they are what somebody looks for.
fn shown_objects<'a, 'b>(objects: &'b [ObjectView<'a>]) -> Vec<&'b ObjectView<'a>> {
    let (first, others) = objects.split_at(objects.len().min(MAX_SHOWN_OBJECTS));
    let troubled = others.iter().filter(|object| object.is_troubled()).take(MAX_SHOWN_OBJECTS);
    first.iter().chain(troubled).collect()
}

fn render_changes(out: &mut String, changes: &[ObjectChangeView<'_>]) {
    if changes.is_empty() {
        return;
    }
    out.push_str("<ul>");
    for change in changes {
        let _ = write!(out, "<li>{}</li>", change.format(&escape(change.url), |bytes| bytes.to_string()));
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
        render_waterfall(&mut html, objects, uncounted, "page");
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
