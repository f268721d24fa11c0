//! A row of a waterfall.

use std::fmt::Write;

use crate::service::result_view::{ObjectView, format_grouped};
use crate::web::html::{escape, format_micros};

/// Width of the waterfall in its own units.
const VIEW_BOX_WIDTH: f64 = 300.0;
/// Smallest width of a bar above zero, so that it stays visible.
const MIN_BAR_WIDTH: f64 = 1.5;

/// Renders `object` in a waterfall of `span_us`. Writing into a string cannot fail, here and below.
pub(super) fn render_object(out: &mut String, object: &ObjectView<'_>, span_us: u64, kind: &str) {
    let (css_class, status_text) = match object.http_status {
        None if object.has_failed() => ("error", "failed".to_owned()),
        Some(status) if object.has_failed() => ("error", format!("{status} failed")),
        _ if object.was_blocked => ("unknown", "blocked".to_owned()),
        Some(status) => ("ok", status.to_string()),
        None => ("ok", "no status".to_owned()),
    };
    let third_party_note = if object.is_third_party { " <small>other site</small>" } else { "" };
    let reason_html = object.failure_reason.as_ref().map(|reason| format!("<br>{}", escape(reason)));
    let failed = if object.is_troubled() { " data-failed" } else { "" };
    let _ = write!(
        out,
        r#"<tr data-kind="{kind}"{failed}><td>{}</td><td class="n" data-h="took">{}</td><td class="n" data-h="bytes">{}</td><td><span class="pill s-{css_class}">{status_text}</span></td><td>{kind}</td><td class="reason">{}{third_party_note}{}</td></tr>"#,
        render_object_bar(object, span_us),
        format_micros(object.total_us),
        format_grouped(object.decoded_bytes),
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
