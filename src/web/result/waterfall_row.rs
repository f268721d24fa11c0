//! A row of a waterfall.

use std::fmt::Write;

use crate::service::result_view::{ObjectView, format_grouped};
use crate::texts::Locale;
use crate::web::html::escape;

/// Width of the waterfall in its own units.
const VIEW_BOX_WIDTH: f64 = 300.0;
/// Smallest width of a bar above zero, so that it stays visible.
const MIN_BAR_WIDTH: f64 = 1.5;

/// Renders `object` in a waterfall of `span_us`. Writing into a string cannot fail, here and below.
pub(super) fn render_object(out: &mut String, object: &ObjectView<'_>, span_us: u64, kind: &str, t: Locale) {
    let (css_class, status_text) = match object.http_status {
        None if object.has_failed() => ("error", t.text("failed").to_owned()),
        Some(status) if object.has_failed() => ("error", format!("{status} {}", t.text("failed"))),
        _ if object.was_blocked => ("unknown", t.text("blocked").to_owned()),
        Some(status) => ("ok", status.to_string()),
        None => ("ok", t.text("no status").to_owned()),
    };
    let third_party_note = if object.is_third_party {
        format!(" <small>{}</small>", t.text("other site"))
    } else {
        String::new()
    };
    let reason_html = object.failure_reason.as_ref().map(|reason| format!("<br>{}", t.english_html(reason)));
    let kind_text = t.text(kind);
    let failed = if object.is_troubled() { " data-failed" } else { "" };
    let _ = write!(
        out,
        r#"<tr data-kind="{kind}"{failed}><td>{}</td><td class="n" data-h="{}">{}</td><td class="n" data-h="{}">{}</td><td><span class="pill s-{css_class}">{status_text}</span></td><td>{kind_text}</td><td class="reason">{}{third_party_note}{}</td></tr>"#,
        render_object_bar(object, span_us, t),
        t.text("took"),
        t.micros(object.total_us),
        t.text("bytes"),
        t.grouped(format_grouped(object.decoded_bytes)),
        escape(object.url),
        reason_html.unwrap_or_default()
    );
}

/// Renders the phases of an object as a bar that starts where the object started within the page load.
fn render_object_bar(object: &ObjectView<'_>, span_us: u64, t: Locale) -> String {
    let scale = VIEW_BOX_WIDTH / span_us as f64;
    let (start, end) = (t.micros(object.start_offset_us), t.micros(object.start_offset_us + object.total_us));
    let mut out = format!(
        r#"<svg class="fall" viewBox="0 0 {VIEW_BOX_WIDTH} 12" preserveAspectRatio="none" role="img"><title>{}</title>"#,
        t.fill("from {least} to {most}", &[("least", &start), ("most", &end)])
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
