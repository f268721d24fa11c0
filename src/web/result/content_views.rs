//! The table of the content views of a script.

use std::fmt::Write;

use crate::service::result_view::ContentViewRow;
use crate::web::html::{escape, format_micros};

/// Renders all content views; nothing without any. Writing into a string cannot fail.
pub(super) fn render_content_views(out: &mut String, views: &[ContentViewRow<'_>]) {
    if views.is_empty() {
        return;
    }
    out.push_str(r#"<h2>Content views</h2><div class="scroll"><table class="rows"><thead><tr><th>View</th><th>Status</th><th class="n">Took</th><th class="n">Objects</th><th class="n">Bytes</th><th>Why</th></tr></thead><tbody>"#);
    for view in views {
        let css_class = if view.passed { "ok" } else { "error" };
        let _ = write!(
            out,
            r#"<tr><td>{}</td><td><span class="pill s-{css_class}">{}</span></td><td class="n">{}</td><td class="n">{}</td><td class="n">{}</td><td class="reason">{}</td></tr>"#,
            escape(view.name),
            view.status.text(),
            format_micros(view.total_us),
            view.object_count,
            view.decoded_bytes,
            escape(view.reason.as_deref().unwrap_or_default())
        );
    }
    out.push_str("</tbody></table></div>");
}
