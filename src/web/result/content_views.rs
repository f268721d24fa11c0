//! The table of the content views of a script.

use std::fmt::Write;

use crate::service::result_view::ContentViewRow;
use crate::texts::{Locale, key};
use crate::web::html::{escape, render_table_head};

/// Renders all content views; nothing without any. Writing into a string cannot fail.
pub(super) fn render_content_views(out: &mut String, views: &[ContentViewRow<'_>], t: Locale) {
    if views.is_empty() {
        return;
    }
    let heads = [
        ("", key("View")),
        ("", key("Status")),
        ("n", key("Took")),
        ("n", key("Objects")),
        ("n", key("Bytes")),
        ("", key("Why")),
    ];
    let _ = write!(out, "<h2>{}</h2>{}", t.text("Content views"), render_table_head(&heads, t));
    for view in views {
        let css_class = if view.passed { "ok" } else { "error" };
        let _ = write!(
            out,
            r#"<tr><td>{}</td><td><span class="pill s-{css_class}">{}</span></td><td class="n">{}</td><td class="n">{}</td><td class="n">{}</td><td class="reason">{}</td></tr>"#,
            escape(view.name),
            view.status.text(),
            t.micros(view.total_us),
            view.object_count,
            view.decoded_bytes,
            t.english_html(view.reason.as_deref().unwrap_or_default())
        );
    }
    out.push_str("</tbody></table></div>");
}
