//! The objects of a page as a waterfall.

use std::fmt::Write;

use crate::service::result_view::{ObjectChangeView, ObjectView, PageView, waterfall_span_us};
use crate::web::html::{escape, format_micros};
use crate::web::phase_bar::render_phase_legend;

/// Most objects shown; the record below has the rest.
const MAX_SHOWN_OBJECTS: usize = 200;
/// Width of the waterfall in its own units.
const VIEW_BOX_WIDTH: f64 = 300.0;
/// Smallest width of a bar above zero, so that it stays visible.
const MIN_BAR_WIDTH: f64 = 1.5;

/// Renders a page: totals, changes, objects. Writing into a string cannot fail, here and below.
pub(super) fn render_page_objects(out: &mut String, page: &PageView<'_>) {
    let _ = write!(
        out,
        "<h2>Page <small>{} objects, {} bytes in {}; {} failed, {} third-party{}</small></h2>",
        page.objects.len(),
        page.decoded_bytes,
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
        return;
    }
    render_waterfall(out, page.objects.get(..MAX_SHOWN_OBJECTS).unwrap_or(&page.objects));
    if page.objects.len() > MAX_SHOWN_OBJECTS {
        let _ =
            write!(out, "<p>{} more are in the record below.</p>", page.objects.len() - MAX_SHOWN_OBJECTS);
    }
    out.push_str(&render_phase_legend(page.objects.iter().map(|object| object.phases)));
}

/// Renders the waterfall of `objects`.
pub(super) fn render_waterfall(out: &mut String, objects: &[ObjectView<'_>]) {
    out.push_str(
        r#"<div class="scroll"><table class="rows"><thead><tr><th>Loaded</th><th class="n">Took</th><th class="n">Bytes</th><th>Status</th><th>Object</th></tr></thead><tbody>"#,
    );
    let span_us = waterfall_span_us(objects);
    for object in objects {
        render_object(out, object, span_us);
    }
    out.push_str("</tbody></table></div>");
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

fn render_object(out: &mut String, object: &ObjectView<'_>, span_us: u64) {
    let (css_class, status_text) = match (&object.failure_reason, object.http_status) {
        (Some(_), None) => ("error", "no response".to_owned()),
        (Some(_), Some(status)) => ("error", status.to_string()),
        (None, _) if object.was_blocked => ("unknown", "blocked".to_owned()),
        (None, status) => ("ok", status.unwrap_or_default().to_string()),
    };
    let third_party_note = if object.is_third_party { " <small>other site</small>" } else { "" };
    let reason_html = object.failure_reason.as_ref().map(|reason| format!("<br>{}", escape(reason)));
    let _ = write!(
        out,
        r#"<tr><td>{}</td><td class="n" data-h="took">{}</td><td class="n" data-h="bytes">{}</td><td><span class="pill s-{css_class}">{status_text}</span></td><td class="reason">{}{third_party_note}{}</td></tr>"#,
        render_object_bar(object, span_us),
        format_micros(object.total_us),
        object.decoded_bytes,
        escape(object.url),
        reason_html.unwrap_or_default()
    );
}

/// Renders the phases of an object as a bar that starts where the object started within the page load.
fn render_object_bar(object: &ObjectView<'_>, span_us: u64) -> String {
    let scale = VIEW_BOX_WIDTH / span_us as f64;
    let mut out = format!(
        r#"<svg class="fall" viewBox="0 0 {VIEW_BOX_WIDTH} 12" preserveAspectRatio="none" role="img"><title>from {} to {}</title>"#,
        format_micros(object.start_offset_us),
        format_micros(object.start_offset_us + object.total_us)
    );
    let mut bar_x = object.start_offset_us as f64 * scale;
    for (phase, micros) in object.phases.iter().filter(|&(_, micros)| micros > 0) {
        let width = (f64::from(micros) * scale).max(MIN_BAR_WIDTH);
        let _ = write!(
            out,
            r#"<rect class="p-{}" x="{bar_x:.1}" width="{width:.1}" height="12"/>"#,
            phase.name()
        );
        bar_x += width;
    }
    out.push_str("</svg>");
    out
}
